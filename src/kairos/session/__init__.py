"""The session with a core device, TCP port 1381: load kernels, run them, and answer their calls."""

from ..exceptions.report import CoreException
from .client import PORT, Session
from .replay import Replay

__all__ = ["CoreException", "PORT", "Replay", "Session"]
