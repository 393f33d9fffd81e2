"""`rtio_log`: text of a kernel in the analyzer's record, at the time of the kernel's events.

The channel has no pins, so text is never too late.
"""

import pytest

from tests.support.raw_analyzer import OUTPUT, dump
from tests.support.raw_session import Session

EXPERIMENT = """from artiq.experiment import *


class Logs(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        delay(1 * ms)
        self.ttl4.on()
        rtio_log("state", "on", 1, 0.5, int64(1) << 40, True, None)
        delay(10 * us)
        self.ttl4.off()
        rtio_log("state", [i * 2 for i in range(3)], ("x", 1), "100%")
        delay(10 * us)
        rtio_log("other")
        rtio_log("long", "0123456789" "0123456789" "0123456789" "0123456789" "0123456789")
        delay(-2 * ms)
        rtio_log("late", "all the same")
"""


@pytest.fixture
def run(kairos, device, tmp_path):
    """Run an experiment that makes no calls of the host."""

    def run(source):
        library = tmp_path / "logs.elf"
        done = kairos("compile", kairos.write(source, head="", name="logs.py"), "--output", library)
        assert done.returncode == 0, done.stderr
        with Session(device) as session:
            assert session.load(library.read_bytes()) is None
            session.run()
            assert session.until_end() == ([], None)

    return run


def entries(record):
    """Return (time, channel, text) of each entry of the log: four characters per word, zeros
    skipped."""
    found, text, start = [], "", None
    for message in record.messages:
        if message.kind == OUTPUT and message.channel == record.log_channel:
            start = message.timestamp if start is None else start
            for byte in message.data.to_bytes(4, "big").lstrip(b"\0"):
                if byte == 0x1D:
                    found.append((start, *text.split("\x1e")))
                    text, start = "", None
                else:
                    text += chr(byte)
    assert text == ""
    return found


def test_text_of_rtio_log_has_the_event_time(run, device):
    dump(device)
    run(EXPERIMENT)
    record = dump(device)
    on, off = [one.timestamp for one in record.messages if one.kind == OUTPUT and one.channel == 4]
    assert entries(record) == [
        (on, "state", "on 1 0.5 1099511627776 True None"),
        (off, "state", '[0, 2, 4] ("x", 1) 100%'),
        (off + 10_000, "other", ""),
        (off + 10_000, "long", "0123456789" * 5),
        (off + 10_000 - 2_000_000, "late", "all the same"),
    ]
