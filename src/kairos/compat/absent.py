"""Names that experiments import but Kairos does not provide: importing one is allowed, using it raises an error
with advice.

Files of laboratories import more than they use, so an import alone must not end a run.
"""

from ..errors import NotInKairos

__all__ = ["NotInKairos", "absent"]


class _Absent(type):
    """Classes can be derived from such a class, which modules do when they are imported; nothing else goes."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)  # Python itself asks for these
        raise NotInKairos(cls.refusal)

    def __call__(cls, *args, **kwargs):
        raise NotInKairos(cls.refusal)


def absent(name: str, advice: str) -> type:
    """What stands for the ``artiq`` name `name`; `advice` says what to use instead."""
    refusal = f"{name} is not part of Kairos: {advice}"
    return _Absent(name.rpartition(".")[2], (), {"refusal": refusal, "__doc__": refusal, "__module__": __name__})
