"""Units as plain floats, powers of ten: `5*us` is `5e-06` seconds."""

__all__ = []
_BASES: dict[str, str] = {}


def _define(base: str, prefixes: dict[str, float]) -> None:
    for prefix, factor in prefixes.items():
        name = prefix + base
        globals()[name] = factor
        _BASES[name] = base
        __all__.append(name)


def base_of(name: str) -> str | None:
    """Return the unit of which `name` is a multiple, such as s for us; None if it is no unit."""
    return _BASES.get(name)


_define("s", {"p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0})
_define("Hz", {"m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9})
_define("dB", {"": 1.0})
_define("V", {"u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3})
_define("A", {"u": 1e-6, "m": 1e-3, "": 1.0})
_define("W", {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0})
