"""Where the laboratory of a folder is, and names in it for the completion of command lines: without what other calls
of a laboratory import, which takes longer than somebody who presses a key should wait."""

import json
import os
import socket
from pathlib import Path

from .errors import UsageError

__all__ = ["ADDRESS", "BROADCAST", "NOTIFY", "SOCKET", "STATE", "foreign", "names", "state_of"]

STATE = ".kairos"
"""Folder, in that of the laboratory, for what belongs to the service itself."""
SOCKET = "lab.sock"
NOTIFY, BROADCAST = "notify.sock", "broadcast.sock"
"""What is also sent at the ports of these names, for programs of the laboratory's user."""
ADDRESS = "address.json"
FOLDER = "KAIROS_LAB"
"""Environment variable: the folder of the laboratory."""
TIMEOUT = 0.5
"""Seconds for a laboratory to send names."""


def state_of(folder=None) -> Path:
    """Return the state folder of the laboratory in `folder`, by default the one that
    ``KAIROS_LAB`` names, the working directory, or one around it; UsageError if there is none."""
    given = folder or os.environ.get(FOLDER)
    start = Path(given or ".").resolve()
    hidden = None
    for place in [start] if given else [start, *start.parents]:
        try:
            if (place / STATE / ADDRESS).exists():
                return place / STATE
        except PermissionError:
            hidden = hidden or place
    if hidden is not None:
        raise UsageError(foreign(hidden))
    raise UsageError(f"no laboratory is running in {start}: start it with 'kairos lab', or name its folder with --lab")


def foreign(folder: Path) -> str:
    """Return why the laboratory in a folder, which is somebody else's, cannot be used."""
    owner = "another user"
    for place in (folder / STATE, folder):
        try:
            owner = place.owner()
            break
        except (OSError, KeyError):  # likewise hidden, or of a user without a name
            continue
    return f"the laboratory in {folder} belongs to {owner}: others reach it by its page, or with 'kairos hub'"


def names(kind: str, of: str = "", folder=None) -> list[str]:
    """Return the names of a kind that a laboratory knows, see `kairos.lab.names`; UsageError or
    OSError if there is none, or it does not answer at once."""
    place = os.open(state_of(folder), os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(TIMEOUT)
            connection.connect(f"/proc/self/fd/{place}/{SOCKET}")  # a path may be longer than a socket's name
            with connection.makefile("rwb") as stream:
                call = json.dumps({"action": "call", "name": "names", "args": [kind, of], "kwargs": {}})
                # The four lines of a call, in the protocol of controllers; texts are the same in JSON.
                stream.write(f"ARTIQ pc_rpc\nlab pyon_v2\n{call}\n".encode())
                stream.flush()
                *_, answer = (stream.readline() for _ in range(3))
    finally:
        os.close(place)
    try:
        return [str(name) for name in json.loads(answer)["ret"]]
    except (ValueError, KeyError, TypeError):
        raise UsageError("the laboratory does not know names") from None
