"""Errors addressed to the user, not defects: one clear line that says what to do."""

from kairos.diagnostics import Diagnostic

__all__ = [
    "CompileError",
    "ConnectionLost",
    "DeviceUnreachable",
    "EmulatorError",
    "KairosError",
    "LoadError",
    "NotInKairos",
    "UsageError",
]


class KairosError(Exception):
    """Base of the errors that the ``kairos`` command prints without a traceback."""


class UsageError(KairosError):
    """The command, a file or an argument is not what was asked for."""


class NotInKairos(KairosError):
    """Something of ARTIQ was used that Kairos does not have; the text says why, or what to use instead."""


class DeviceUnreachable(KairosError):
    """No core device answers at the address of the device database."""


class ConnectionLost(KairosError):
    """The connection to the core device ended in the middle of a session."""


class CompileError(Exception):
    """A kernel was rejected. The text is the whole diagnostic, as the user should read it."""

    def __init__(self, text: str, diagnostic: Diagnostic | None = None) -> None:
        super().__init__(text)
        self.diagnostic = diagnostic or Diagnostic(text.partition("\n")[0].removeprefix("error: "), None, text)
        """what is wrong, and where"""

    def __reduce__(self):
        return type(self), (str(self), self.diagnostic)


class LoadError(KairosError):
    """The core device refused a kernel library."""


class EmulatorError(KairosError):
    """The emulator could not be started, or ended too early."""
