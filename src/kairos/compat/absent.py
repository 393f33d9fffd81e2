"""Names that experiments import but Kairos does not provide: importing one is allowed, using it raises an error
with advice.

Files of laboratories import more than they use, so an import alone must not end a run.
"""

from ..errors import NotInKairos

__all__ = ["NotInKairos", "absent"]


class _Absent(type):
    """Metaclass that permits subclassing, which modules do on import, and rejects all other uses."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)  # looked up by Python itself
        raise NotInKairos(cls.refusal)

    def __call__(cls, *args, **kwargs):
        raise NotInKairos(cls.refusal)


def absent(name: str, advice: str) -> type:
    """Return a placeholder for the ``artiq`` name `name`; `advice` names a replacement."""
    refusal = f"{name} is not part of Kairos: {advice}"
    return _Absent(name.rpartition(".")[2], (), {"refusal": refusal, "__doc__": refusal, "__module__": __name__})
