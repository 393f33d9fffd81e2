"""Soak test: 1,000 kernels, 200 kills, 100 disconnects and 10,000 calls on one emulated device.

Neither core has an allocator that could leak; resources that could be lost are connections,
descriptors, ring slots and messages. Each kind of event is repeated far more often than there are
of any of these, and at the end the device must do the same work as at the start, at the same cost.
"""

import random
import struct
import time
from pathlib import Path

import pytest

from tests.support.raw_session import Session

KERNELS = Path(__file__).parents[1] / "kernels"
FINISHED, KILLED, CUT, CALLS = 1000, 200, 100, 10_000
SEED = 20


def library(name):
    return (KERNELS / f"{name}.elf").read_bytes()


def finish(session):
    """Loads the shortest kernel and runs it to its end."""
    assert session.load(library("empty")) is None
    session.run()
    assert session.until_end() == ([], None)


def instructions(device, action):
    """Returns both cores' instructions for an action: the minimum of several tries, as a slow host adds some."""
    counts = []
    for _ in range(5):
        before = sum(device.control("status")["instructions"])
        action()
        counts.append(sum(device.control("status")["instructions"]) - before)
    return min(counts)


class Caller:
    """The kernel `bench`, which calls the host a requested number of times."""

    def __init__(self, device):
        self.session = Session(device)
        assert self.session.load(library("bench")) is None
        self.session.run()
        self.expect(1)

    def expect(self, service):
        self.session.message(10)
        request = self.session.request()
        assert (request.is_async, request.service) == (False, service)
        return request

    def answer(self, value):
        self.session.reply(b"i", struct.pack("<i", value))

    def call(self, count):
        """Handles `count` calls, each with a number one higher than the previous."""
        self.answer(1 | count << 8)
        for index in range(count):
            assert self.expect(4).arguments == [index]
            self.answer(index)
        self.expect(1)

    def end(self):
        self.answer(0)
        assert self.session.until_end() == ([], None)
        self.session.close()


def calls(device):
    caller = Caller(device)
    caller.call(CALLS)
    caller.end()


def kill(device, chance):
    """Runs an endless kernel and disconnects at a random instant."""
    with Session(device) as session:
        assert session.load(library("endless")) is None
        session.run()
        if chance.random() < 0.8:
            session.message(10)
        # Any instant is acceptable.
        time.sleep(chance.choice([0, 0, 0.002, 0.01]))


def cut(device, chance):
    """Disconnects in the middle of a call: before or within the reply."""
    caller = Caller(device)
    caller.answer(1 | 1000 << 8)
    for index in range(chance.randrange(5)):
        caller.expect(4)
        caller.answer(index)
    caller.expect(4)
    reply = b"\x5a" * 4 + b"\x07" + struct.pack("<I", 1) + b"i" + struct.pack("<i", 0)
    caller.session.write(reply[: chance.randrange(len(reply))])
    if chance.random() < 0.5:
        # A crashed host: the connection is reset instead of closed.
        caller.session.reset()
    caller.session.close()


@pytest.mark.long
def test_thousands_of_operations_leave_the_device_unchanged(device):
    chance = random.Random(SEED)
    with Session(device) as session:
        finish(session)
        before = instructions(device, lambda: finish(session))
    calls(device)
    todo = ["finish"] * FINISHED + ["kill"] * KILLED + ["cut"] * CUT
    chance.shuffle(todo)
    session = None
    for what in todo:
        if what == "finish":
            # Several kernels per connection, like a real host.
            session = session or Session(device)
            finish(session)
            if chance.random() < 0.2:
                session.close()
                session = None
            continue
        if session is not None:
            session.close()
            session = None
        {"kill": kill, "cut": cut}[what](device, chance)
    if session is not None:
        session.close()
    calls(device)
    with Session(device) as session:
        finish(session)
        after = instructions(device, lambda: finish(session))
    assert after == pytest.approx(before, rel=0.05)
    assert "panic" not in device.uart()
