"""Finding the laboratory of a folder, and calling it: for commands, and for programs on the same computer."""

import json
import os
import socket
import time
from pathlib import Path

from .controllers import Client, ControllerError, RemoteError
from .controllers.sockets import dialled
from .errors import UsageError
from .labfolder import ADDRESS, SOCKET, STATE, foreign, state_of

__all__ = ["ADDRESS", "SOCKET", "STATE", "LaboratoryOffline", "addresses", "connect"]

TARGET = "lab"
TIMEOUT = 15.0
"""Seconds in which a laboratory greets."""


class LaboratoryOffline(UsageError):
    """No laboratory is running, or it has ended before it has answered."""


def addresses(folder=None) -> dict:
    """Return where a laboratory listens: `host`, and the ports by name."""
    return json.loads((state_of(folder) / ADDRESS).read_text())


class _LocalClient(Client):
    """A client over the laboratory's socket. What cannot be done raises UsageError."""

    _limit = -1
    """All datasets may be one answer."""

    def __init__(self, path: Path):
        self._path = path
        super().__init__(str(path), 0, TARGET)

    def _call(self, request):
        try:
            return super()._call(request)
        except RemoteError as error:
            name, _, text = str(error).partition(": ")
            if name.startswith(f"{__package__}."):  # also one that a part of the laboratory has derived
                raise UsageError(text) from None
            raise
        except ControllerError:
            raise LaboratoryOffline(
                f"the laboratory in {self._path.parent.parent} has ended before it has answered: what was asked for is "
                "done or not; 'kairos lab' starts it"
            ) from None
        except ValueError as error:
            raise UsageError(str(error)) from None
        except KeyError as error:
            raise UsageError(str(error).strip("'\"")) from None  # its text is in quotes
        except LookupError as error:
            raise UsageError(f"there is no {str(error).partition(chr(10))[0]}") from None

    def _connect(self):
        began = time.monotonic()
        try:
            super()._connect()
        except ControllerError:
            if time.monotonic() - began < TIMEOUT:
                raise
            raise LaboratoryOffline(
                f"the laboratory in {self._path.parent.parent} has not answered for {TIMEOUT:g} s: it is stopped, or "
                "has too much to do"
            ) from None
        self.set_timeout(self._timeout)  # none by default: a call may wait for the end of a run

    def _dial(self) -> socket.socket:
        connection = dialled(self._path)
        connection.settimeout(TIMEOUT)
        return connection


def connect(folder=None) -> Client:
    """Connect to the laboratory in `folder`, see `state_of`; its methods are those of
    `kairos.lab.service.Service`. LaboratoryOffline if none is running."""
    try:
        state = state_of(folder)
    except UsageError as error:
        raise LaboratoryOffline(str(error)) from None
    try:
        return _LocalClient(state / SOCKET)
    except ControllerError:
        if (state / SOCKET).exists() and not os.access(state / SOCKET, os.W_OK):
            raise LaboratoryOffline(foreign(state.parent)) from None
        raise LaboratoryOffline(
            f"the laboratory in {state.parent} does not answer: it was killed, or is starting; 'kairos lab' starts it"
        ) from None
