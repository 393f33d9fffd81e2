"""Errors addressed to the user, not defects: one clear line that says what to do."""

from kairos.diagnostics import Diagnostic

__all__ = [
    "CommandLineError",
    "CompileError",
    "ConnectionLost",
    "DeviceUnreachable",
    "EmulatorError",
    "KairosError",
    "LoadError",
    "NotInKairos",
    "PortInUse",
    "Unwritable",
    "UsageError",
]


class KairosError(Exception):
    """Base of the errors that the ``kairos`` command prints without a traceback."""

    is_reported = True
    """Whether it is printed at all: not if nobody would read it."""


class UsageError(KairosError):
    """The command line, a file or an argument is invalid."""


class CommandLineError(UsageError):
    """The command line itself is wrong, whatever the files contain: exit code 2, as for an unknown
    option."""


class Unwritable(UsageError):
    """A file cannot be written now, because the disk is full or fails; later it may be possible."""


class NotInKairos(KairosError):
    """A feature of ARTIQ that Kairos does not have was used; the text gives the reason or a
    replacement."""


class DeviceUnreachable(KairosError):
    """No core device answers at the address in the device database."""


class ConnectionLost(KairosError):
    """The connection to the core device was lost during a session."""


class CompileError(Exception):
    """A kernel was rejected. The text is the complete diagnostic, as shown to the user."""

    def __init__(self, text: str, diagnostic: Diagnostic | None = None) -> None:
        super().__init__(text)
        self.diagnostic = diagnostic or Diagnostic(text.partition("\n")[0].removeprefix("error: "), None, text)
        """the message and its place"""

    def __reduce__(self):
        return type(self), (str(self), self.diagnostic)


class LoadError(KairosError):
    """The core device rejected a kernel library."""


class EmulatorError(KairosError):
    """The emulator could not be started, or exited too early."""


class PortInUse(EmulatorError):
    """A port of this computer that the emulator was to forward is used by another program."""

    def __init__(self, port: int) -> None:
        super().__init__(f"port {port} is in use")
        self.port = port

    def __reduce__(self):
        return type(self), (self.port,)
