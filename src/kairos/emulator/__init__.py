"""The emulated core device: starting it for a run, monitoring it, reading its pin activity, and stopping it.

The emulator is a separate program (``kairos-emulator``) that executes the real firmware and the
real gateware; this package finds its files, manages its process and uses its control socket.
"""

from importlib import import_module

from ..contracts.management import PORT as MANAGEMENT_PORT
from ..contracts.session import PORT as SESSION_PORT
from .artifacts import build_directory, fingerprints
from .hosts import is_emulated, variant_of

__all__ = [
    "MANAGEMENT_PORT",
    "SESSION_PORT",
    "Copy",
    "Emulator",
    "Options",
    "acquire",
    "adopt",
    "begin",
    "build_directory",
    "channels_of",
    "environment",
    "fingerprints",
    "is_emulated",
    "is_running",
    "shutdown_all",
    "variant_of",
]

_PROCESS = ("Emulator", "Options", "acquire", "adopt", "channels_of", "environment", "is_running", "shutdown_all")
_LATE = {**dict.fromkeys(("Copy", "begin"), ".copies"), **dict.fromkeys(_PROCESS, ".process")}
"""Names that are imported when they are used, with their modules: a compilation starts no device."""


def __getattr__(name):
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name], __name__), name)
