"""A posted output that failed: the error reaches the host, also if the kernel ends without another
RTIO call.

The failure is caused by a port ten times slower than the margin of posting allows for, so that the
event is late.
"""

import pytest

from tests.support.paths import EXAMPLES

SLOW_PORT = ["acp_read_latency=2000"]
"""PL cycles: 16 µs, where a posted output has at least 4.1 µs of slack."""

LATE = """
    @kernel
    def late(self):
        self.core.reset()
        delay(1*ms)
        self.ttl4.on()
        at_mu(self.core.get_rtio_counter_mu() + 8000)
        self.ttl4.off()

    @rpc
    def reported(self):
        print("going on")
"""


@pytest.fixture
def slow(start_device, kairos, tmp_path):
    """Run a body on a device with such a port."""
    device = start_device(tmp_path, settings=SLOW_PORT)
    database = tmp_path / "slow_db.py"
    text = (EXAMPLES / "device_db.py").read_text()
    database.write_text(text.replace('"emulator://demo"', f'"{device.host}:{device.port}"'))
    yield lambda body: kairos.run(LATE + body, device_db=database)
    device.close()


def test_posted_error_is_raised_at_kernel_end(slow):
    done = slow("\n    @kernel\n    def run(self):\n        self.late()\n")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "RTIOUnderflow: RTIO underflow at" in done.stderr and "channel 0x0004:ttl4" in done.stderr, done.stderr


def test_posted_error_is_reported_beside_exception(slow):
    done = slow('\n    @kernel\n    def run(self):\n        self.late()\n        raise ValueError("mine")\n')
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stderr.rstrip().endswith("ValueError: mine"), done.stderr
    assert "another exception occurred" in done.stderr and "RTIO underflow at" in done.stderr, done.stderr


def test_posted_error_is_raised_at_next_call(slow):
    """The RPC takes enough time; the next output raises the error, where it can be caught, and only
    once."""
    done = slow("""
    @kernel
    def run(self):
        self.late()
        self.reported()
        self.core.break_realtime()
        delay(1*ms)
        try:
            self.ttl5.on()
        except RTIOUnderflow:
            print("caught")
        self.ttl5.off()
""")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split("\n")[:2] == ["going on", "caught"], done.stdout
