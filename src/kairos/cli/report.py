"""Reports of errors in experiments, showing only the user's own source lines."""

import errno
import os
import sys
import traceback
from contextlib import contextmanager

from ..errors import KairosError

__all__ = ["UserCodeError", "format_user_exception", "is_user_file", "user_code"]

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk or the quota is full; or the file has its maximum size."""
ADVICE = {
    "RTIOUnderflow": "the output came too late by the slack that is negative: begin later, with core.break_realtime() "
    "or a delay before it, or do less between outputs",
    "RTIOOverflow": "more events arrived than the kernel has read: read them earlier, or open the gate for less time",
    "RTIODestinationUnreachable": "the board with this channel does not answer: 'kairos links' shows the links",
}
"""What to do about an exception of the device."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class UserCodeError(KairosError):
    """An exception of user code, as text: traceback of that code, then the exception."""


def is_user_file(name: str) -> bool:
    """Return whether a file in a traceback belongs to the user."""
    return not (name.startswith((_PACKAGE, "<frozen ")) or f"{os.sep}importlib{os.sep}" in name)


def _user_frames(error: BaseException) -> list:
    return [frame for frame in traceback.extract_tb(error.__traceback__) if is_user_file(frame.filename)]


def format_user_exception(error: BaseException) -> str:
    """Format the device's traceback if there is one, the frames of user code, and the exception."""
    parts = []
    core_exception = getattr(error, "artiq_core_exception", None)
    if core_exception is not None:
        # Its message is at the end, with the exception.
        message = f": {_indented(core_exception.message)}\n"
        said = str(core_exception).replace(f": {core_exception.message}\n", message)
        before, found, after = said.rpartition(message)
        once = found and type(error).__name__ in ADVICE
        parts.append(f"{before}\n{after}\n\n" if once else f"{said}\n\n")
    if isinstance(error, SyntaxError) and error.filename:
        return "".join([*parts, *traceback.format_exception_only(error)]).rstrip()
    frames = _user_frames(error)
    if frames:
        parts.append("Traceback (most recent call last):\n")
        parts += traceback.StackSummary.from_list(frames).format()
    parts.append(_indented("".join(traceback.format_exception_only(error)).rstrip()))
    advice = ADVICE.get(type(error).__name__) if core_exception is not None else None
    return "".join(parts).rstrip() + (f"\n  = help: {advice}" if advice else "")


def _indented(message: str) -> str:
    """Return a message whose further lines are indented: none can pretend to be a line of another report."""
    return message.replace("\n", "\n    ")


@contextmanager
def user_code(plain=()):
    """Run user code: its exceptions become `UserCodeError`, those of the types in `plain` without a
    traceback.

    `KairosError`, CompileError, SystemExit and KeyboardInterrupt keep their meaning.
    """
    try:
        yield
    except (KairosError, KeyboardInterrupt, SystemExit):
        raise
    except Exception as error:
        if isinstance(error, plain):
            raise UserCodeError(str(error)) from error
        if _is_compiler_error(error, "CompileError"):
            raise UserCodeError(f"the kernel does not compile\n\n{error}") from error
        if _is_compiler_error(error, "LinkError"):
            raise UserCodeError(str(error)) from error
        if getattr(error, "errno", None) in _DISK_FULL:
            raise UserCodeError(_without_room(error)) from error
        raise UserCodeError(_headline(error) + "\n\n" + format_user_exception(error)) from error


def _without_room(error: OSError) -> str:
    """Format one line: the code is correct, so a traceback would not help."""
    # Libraries such as matplotlib are not user code.
    own = [frame for frame in _user_frames(error) if f"{os.sep}site-packages{os.sep}" not in frame.filename]
    place = f"{own[-1].filename}:{own[-1].lineno}: " if own else ""
    file = f": {error.filename}" if error.filename else ""
    return f"{place}{os.strerror(error.errno)}{file}"


def _is_compiler_error(error, name) -> bool:
    # Looked up, not imported: without the compiler there cannot be such an error.
    module = sys.modules.get("kairos.compiler")
    return module is not None and isinstance(error, getattr(module, name))


def _headline(error) -> str:
    if getattr(error, "artiq_core_exception", None) is not None:
        return "the kernel ended with an exception"
    if isinstance(error, SyntaxError):
        return "the experiment is not valid Python"
    return "the experiment raised an exception"
