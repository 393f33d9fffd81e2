"""Calls as another user of the computer, without rights."""

import gc
import json
import os
import select
import signal
from pathlib import Path

import pytest

from . import TIMEOUT

__all__ = ["as_stranger", "open_to_strangers"]

STRANGER = 65534


def open_to_strangers(folder: Path):
    """Let other users reach a folder of the tests, through all that are its parents."""
    for place in [folder, *folder.parents]:
        if place.stat().st_mode & 0o055 != 0o055 and place.owner() == folder.owner():
            place.chmod(0o755)


def as_stranger(call) -> str:
    """Return what a call returns or raises in a process of a user without rights; skips the test without the right to
    become one."""
    if os.geteuid():
        pytest.skip("needs to become another user")
    ours, its = os.pipe()
    pid = os.fork()
    if not pid:
        gc.disable()  # it might wait for a thread, of which a forked process has none
        try:
            os.setgroups([])
            os.setgid(STRANGER)
            os.setuid(STRANGER)
            said = str(call())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(its, json.dumps(said).encode())
        os._exit(0)
    os.close(its)
    with os.fdopen(ours, "rb") as answer:
        if not select.select([answer], [], [], TIMEOUT)[0]:
            os.kill(pid, signal.SIGKILL)
        text = answer.read()
    os.waitpid(pid, 0)
    assert text, "the call of another user does not end"
    return json.loads(text)
