"""Makes ``artiq`` and ``sipyco`` imports resolve to Kairos modules, so that existing experiments
run unmodified.

:func:`install` adds a finder for each of the two packages to the import system, unless the package
is installed. The names are mapped by the table :mod:`kairos.compat.names`. Importing a module
without a counterpart fails with a list of the available ones.
"""

import importlib
import importlib.machinery
import importlib.util
import sys
import types

from .. import coredevice
from .absent import absent
from .names import ABSENT, GATHERED, SAME, VERSION

__all__ = ["install"]


def _counterpart(name: str) -> str | None:
    """Return the Kairos module equivalent to the ``artiq`` module `name`, if any."""
    if name in SAME:
        return SAME[name]
    if name.startswith("artiq.coredevice."):
        candidate = "kairos." + name.removeprefix("artiq.")
        try:
            return candidate if importlib.util.find_spec(candidate) is not None else None
        except ModuleNotFoundError:  # not even its package exists
            return None
    return None


def _built_modules() -> set[str]:
    """Return the modules built from the table's lines, and the packages that contain any module."""
    listed = {*GATHERED, *ABSENT}
    around = {name.rsplit(".", depth)[0] for name in {*listed, *SAME} for depth in range(1, name.count(".") + 1)}
    return (listed | around) - SAME.keys()


def _available(package: str) -> list[str]:
    import pkgutil  # imported late, as above

    drivers = [
        f"artiq.coredevice.{module.name}" for module in pkgutil.iter_modules(coredevice.__path__) if not module.ispkg
    ]
    return sorted(name for name in (*SAME, *GATHERED, *drivers) if name.startswith(f"{package}."))


class _Gathered(types.ModuleType):
    """A module that gathers names from several Kairos modules; each is looked up on first use."""

    def __init__(self, name: str):
        super().__init__(name, f"Names of {name} that Kairos has, and where; see kairos.compat.names.")
        self.__path__: list[str] = []
        self._places = {
            theirs or ours: (module, ours)
            for module, names in GATHERED.get(name, {}).items()
            for ours, _, theirs in (entry.partition("=") for entry in _entries(module, names))
        }
        self._advice = {entry: advice for names, advice in ABSENT.get(name, {}).items() for entry in names.split()}
        self.__all__ = [entry for entry in (*self._places, *self._advice) if not entry.startswith("_")]

    def __getattr__(self, name: str):
        if name in self._places:
            module, ours = self._places[name]
            value = getattr(importlib.import_module(module), ours)
        elif name in self._advice:
            value = absent(f"{self.__name__}.{name}", self._advice[name])
        elif (submodule := f"{self.__name__}.{name}") in _built_modules() or _counterpart(submodule) is not None:
            # ARTIQ's packages import most of their modules.
            return importlib.import_module(submodule)
        else:
            known = ", ".join(sorted(self.__all__)) or "no names of its own"
            raise AttributeError(f"Kairos has no counterpart of {self.__name__}.{name}; the module has {known}")
        setattr(self, name, value)
        return value

    def __dir__(self):
        return [*super().__dir__(), *self._places, *self._advice]


def _entries(module: str, names: str) -> list[str]:
    """Return the names in a line of the table; a star stands for all that the module exports."""
    return list(importlib.import_module(module).__all__) if names == "*" else names.split()


class _Loader:  # `importlib.abc` would take longer to import than all else here
    def create_module(self, spec):
        ours = _counterpart(spec.name)
        if ours is None:
            module = _Gathered(spec.name)
            if spec.name == "artiq":
                module.__version__ = VERSION
            return module
        module = importlib.import_module(ours)
        # The import system is about to overwrite this; exec_module restores it.
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        if hasattr(self, "_spec"):
            module.__spec__ = self._spec


class _Finder:
    """Finds the modules of one package."""

    @staticmethod
    def _advice(name: str) -> str:
        """Return a suggestion, or the modules of the same package."""
        around = name.rpartition(".")[0]
        known = _available(around)
        if not known:
            around = name.partition(".")[0]
            known = _available(around)
        last = {each.rpartition(".")[2]: each for each in known}
        import difflib  # imported late: only what is missing needs it

        near = difflib.get_close_matches(name.rpartition(".")[2], last, 1, 0.65)
        if near:
            return f"did you mean {last[near[0]]}?"
        return f"{around} has {', '.join(each.removeprefix(f'{around}.') for each in known)}"

    def __init__(self, package: str):
        self.package = package
        self._made = {name for name in _built_modules() if name.partition(".")[0] == package}

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] != self.package:
            return None
        if fullname not in self._made and _counterpart(fullname) is None:
            raise ModuleNotFoundError(
                f"Kairos has no counterpart of {fullname}; {self._advice(fullname)}", name=fullname
            )
        return importlib.machinery.ModuleSpec(fullname, _Loader(), is_package=fullname in self._made)


def install():
    """Add the finders to the import system, once, except for installed packages."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    for package in ("artiq", "sipyco"):
        if importlib.util.find_spec(package) is None:
            # First, because the standard finder would load second copies through the __path__ of
            # the Kairos packages.
            sys.meta_path.insert(0, _Finder(package))
