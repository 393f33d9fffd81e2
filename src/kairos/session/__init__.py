"""The session with a core device, TCP port 1381: load kernels, run them, and answer the calls they make."""

from .client import PORT, Session
from .exceptions import CoreException

__all__ = ["CoreException", "PORT", "Session"]
