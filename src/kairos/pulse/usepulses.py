"""Finds the pulse definitions that a Jaqal circuit names: ``from NAME usepulses *``.

NAME is a module, or a class in one, searched from the circuit's folder first; a leading dot makes it
relative to that folder, as in Python's imports. Gates are those of a class with methods
``gate_NAME``. In a package they are in ``NAME.jaqal_pulses``, which may be a module or a class that
contains the class ``GatePulses``. A module may have several such classes, since one often extends
another: the one that is named is taken, or the one derived last.
"""

import importlib
import importlib.machinery
import inspect
import sys
from contextlib import contextmanager
from pathlib import Path

from ..errors import UsageError
from .definitions import install

__all__ = ["definition_of"]

PULSES = "jaqal_pulses"
"""Module or class of a package that contains the pulse definitions."""
PREFERRED = "GatePulses"
"""Class of a module that contains the gates, by convention."""
PREFIXES = ("gate_", "macro_")


def definition_of(name: str, folder: Path):
    """Return an instance of the class with the gates that the circuit's line names. UsageError if there
    is none, or its module cannot be imported."""
    install()
    place, start = name.removeprefix("."), folder.resolve()
    if name != place and start.name.isidentifier():
        # As part of a package, so that the module may import its neighbours by relative names.
        found = _found(f"{start.name}.{place}", start.parent, start)
        if found is not None:
            return _create(found, name)
    found = _found(place, start, start)
    if found is None:
        raise UsageError(f"from {name} usepulses: no such module or class with gates next to the circuit")
    return _create(found, name)


def _create(kind, name: str):
    """Return an object of a class with gates. UsageError if it needs arguments, or is abstract."""
    try:
        inspect.signature(kind).bind()
        if not inspect.isabstract(kind):
            return kind()
        problem = "it is abstract"
    except TypeError as error:
        problem = str(error)
    raise UsageError(f"from {name} usepulses: class {kind.__name__} cannot be made without arguments: {problem}")


def _found(place: str, path: Path, owner: Path):
    """Return the class with the gates of this name, with `path` as the first place to search, or None.
    Modules of `owner`, a folder, are not mistaken for others of the same name."""
    with _searching(place.partition(".")[0], path, owner) as possible:
        parts = place.split(".") if possible else []
        # The longest name of a module; what follows are names in it.
        for count in range(len(parts), 0, -1):
            module = _module(".".join(parts[:count]))
            if module is not None:
                return _of(module, parts[count:])
    return None


def _module(name: str):
    """Import a module; None if there is none of this name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # The name itself, or a package of it
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            return None
        raise UsageError(f"pulse definitions {name}: {error}") from None
    except ImportError as error:
        raise UsageError(f"pulse definitions {name}: {error}") from None
    except SystemExit as error:
        raise UsageError(f"pulse definitions {name} end the program (exit code {error.code})") from None


def _of(found, names: list[str]):
    """Return the class with the gates called `names` in a module or class."""
    for name in names:
        found = getattr(found, name, None)
        if found is None:
            return None
    if inspect.isclass(found) and _has_gates(found):
        return found
    inner = getattr(found, PULSES, None)
    if inner is None and inspect.ismodule(found) and hasattr(found, "__path__"):
        inner = _module(f"{found.__name__}.{PULSES}")
    if inner is not None and (chosen := _of(inner, [])) is not None:
        return chosen
    return _latest(found)


def _latest(found):
    """Return the class with gates that no other one of a module or class extends, the last of several;
    None if there is none."""
    classes = [kind for kind in vars(found).values() if inspect.isclass(kind) and _has_gates(kind)]
    extended = {base for kind in classes for base in kind.__mro__[1:]}
    final = [kind for kind in classes if kind not in extended]
    preferred = [kind for kind in final if kind.__name__ == PREFERRED]
    return (preferred or final or [None])[-1]


def _has_gates(kind) -> bool:
    return any(name.startswith(PREFIXES) for name in dir(kind))


_LOADED: set[str] = set()
"""Top-level modules that have been imported here, from circuits' folders."""


@contextmanager
def _searching(top: str, path: Path, owner: Path):
    """Search modules in `path` first, then in `owner`, for the duration of the context. A module `top` of another
    circuit's folder is forgotten if `owner` has one of this name. Yields whether the name may be searched: if `path`
    is not `owner`, only if it leads there."""
    spec = importlib.machinery.PathFinder.find_spec(top, [str(path), *sys.path])
    places = [spec.origin, *(spec.submodule_search_locations or ())] if spec is not None else []
    known = sys.modules.get(top)
    old = [getattr(known, "__file__", None), *getattr(known, "__path__", [])]
    ours = _any_in(owner, places)
    if ours and top in _LOADED and not _any_in(owner, old):
        for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
            del sys.modules[name]
        known = None
    if ours and known is None:
        _LOADED.add(top)
    # A module found as part of a package also imports what is in the circuit's folder by absolute names.
    searched = list(dict.fromkeys([str(path), str(owner)]))
    sys.path[:0] = searched
    importlib.invalidate_caches()
    try:
        yield path == owner or ours and (known is None or _any_in(owner, old))
    finally:
        for place in searched:
            sys.path.remove(place)


def _any_in(folder: Path, places) -> bool:
    """Return whether any of the files and folders is in a folder, or is it."""
    found = [Path(place).resolve() for place in places if place]
    return any(place == folder or folder in place.parents for place in found)
