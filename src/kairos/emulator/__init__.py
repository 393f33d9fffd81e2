"""The emulated core device: starts it for a run, observes it, reads its pin activity, and stops it.

The emulator is a separate program (``kairos-emulator``) that executes the real firmware and the
real gateware; this package finds its files, manages its process and uses its control socket.
"""

from .artifacts import build_directory
from .process import Emulator, Options, acquire, environment, is_emulated, is_running, shutdown_all, variant_of

__all__ = [
    "Emulator",
    "Options",
    "acquire",
    "build_directory",
    "environment",
    "is_emulated",
    "is_running",
    "shutdown_all",
    "variant_of",
]
