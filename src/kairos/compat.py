"""Makes ``artiq`` imports resolve to Kairos modules, so that existing experiments run unmodified.

:func:`install` adds one finder to the import system, unless ARTIQ itself is installed. An ``artiq`` module without a
counterpart fails to import, with a list of what there is.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import pkgutil
import sys
import types

from . import coredevice

__all__ = ["install", "MODULES"]

MODULES = {
    "artiq.experiment": "kairos.experiment",
    "artiq.coredevice": "kairos.coredevice",
    "artiq.language": "kairos.language",
    "artiq.language.core": "kairos.language.core",
    "artiq.language.types": "kairos.language.types",
    "artiq.language.units": "kairos.language.units",
    "artiq.language.environment": "kairos.experiment.environment",
    "artiq.language.scan": "kairos.experiment.scan",
}
"""Modules whose counterpart is elsewhere; those of ``artiq.coredevice`` have the same name in ``kairos.coredevice``."""


def _counterpart(name: str) -> str | None:
    if name in MODULES:
        return MODULES[name]
    if name.startswith("artiq.coredevice."):
        candidate = "kairos." + name.removeprefix("artiq.")
        if importlib.util.find_spec(candidate) is not None:
            return candidate
    return None


def _available() -> list[str]:
    drivers = [
        f"artiq.coredevice.{module.name}" for module in pkgutil.iter_modules(coredevice.__path__) if not module.ispkg
    ]
    return sorted([*MODULES, *drivers])


class _Loader(importlib.abc.Loader):
    def create_module(self, spec):
        if spec.name == "artiq":
            module = types.ModuleType("artiq", "ARTIQ names of Kairos modules; see kairos.compat.")
            module.__path__ = []
            return module
        module = importlib.import_module(_counterpart(spec.name))
        # The import system is about to overwrite this; exec_module puts it back.
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        if hasattr(self, "_spec"):
            module.__spec__ = self._spec


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname != "artiq" and not fullname.startswith("artiq."):
            return None
        if fullname != "artiq" and _counterpart(fullname) is None:
            raise ModuleNotFoundError(
                f"Kairos has no counterpart of {fullname}; it has {', '.join(_available())}", name=fullname
            )
        is_package = fullname in ("artiq", "artiq.coredevice", "artiq.language")
        return importlib.machinery.ModuleSpec(fullname, _Loader(), is_package=is_package)


def install():
    """Add the finder to the import system, once, and not if ARTIQ is installed."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if importlib.util.find_spec("artiq") is None:
        # First, because the stock finder would load second copies through the __path__ of the Kairos packages.
        sys.meta_path.insert(0, _Finder())
