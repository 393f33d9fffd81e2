"""The emulated core device: starting it for a run, monitoring it, reading its pin activity, and stopping it.

The emulator is a separate program (``kairos-emulator``) that executes the real firmware and the
real gateware; this package finds its files, manages its process and uses its control socket.
"""

from .artifacts import build_directory, fingerprints
from .copies import Copy, begin
from .process import (
    Emulator,
    Options,
    acquire,
    adopt,
    channels_of,
    environment,
    is_emulated,
    is_running,
    shutdown_all,
    variant_of,
)

__all__ = [
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
