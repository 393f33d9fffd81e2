"""Measurements of the paths between processors, memory and logic on a bare socket: the replies and
every rejection. After a rejection the device serves kernels as before."""

import struct
from statistics import median

import pytest

from tests.support.kernels import kernel, run_empty
from tests.support.raw_management import Management
from tests.support.raw_session import Session
from tests.support.waiting import printed, until

MEASURE, MEASURED, REFUSED = 131, 131, 132
ABSENT, BUSY, INVALID = 1, 2, 3
GP0_READ, REQUEST, HP_READ, TO_KERNEL, TO_COMMS, COPY = 2, 4, 5, 9, 10, 11
PROCESSOR, LOGIC = 800_000_016, 125_000_000
"""Clock frequencies, Hz; the crystal's 33.3333 MHz are rounded up (`kairos_chip::setup`)."""


@pytest.fixture(scope="module")
def device(device_with_card):
    return device_with_card


def measure(device, path, size=0, trials=1):
    """Returns (type of the reply, its content)."""
    with Management(device) as management:
        kind = management.reply(bytes([MEASURE]) + struct.pack("<III", path, size, trials))
        return kind, management.bytes()


def samples(device, *request):
    kind, content = measure(device, *request)
    assert kind == MEASURED, content
    assert struct.unpack_from("<II", content) == (PROCESSOR, LOGIC)
    return list(struct.iter_unpack("<III", content[8:]))


def refusal(device, *request):
    kind, content = measure(device, *request)
    assert kind == REFUSED and len(content) > 20, content
    return content[0]


def test_reply_has_the_requested_number_of_samples(device):
    for path, size, trials in [(GP0_READ, 0, 1000), (REQUEST, 0, 7), (COPY, 4096, 3), (TO_KERNEL, 8, 5)]:
        found = samples(device, path, size, trials)
        assert len(found) == trials
        assert all(cycles < 100_000 and (first, last) == (0, 0) for cycles, first, last in found)
    # A register access costs the emulator's configured latency plus the surrounding instructions.
    assert all(72 <= cycles < 90 for cycles, _, _ in samples(device, GP0_READ, 0, 20))


def test_longer_messages_take_longer(device):
    """Single samples say little: one emulated core may be ahead of the other, and the comms core has other tasks."""
    for path in (TO_KERNEL, TO_COMMS):
        short, long = ([cycles for cycles, _, _ in samples(device, path, size, 51)] for size in (8, 4096))
        assert 0 < median(short) < median(long) < 4096


@pytest.mark.parametrize(
    "request_",
    [(0,), (16,), (0x101,), (GP0_READ, 4), (GP0_READ, 0, 0), (GP0_READ, 0, 1001), (HP_READ, 12), (TO_KERNEL, 4097)]
    + [(COPY, 1 << 20, 33), (2**32 - 1, 2**32 - 1, 2**32 - 1)],
)
def test_invalid_measurement_request_is_refused(device, request_):
    assert refusal(device, *request_) == INVALID


def test_path_missing_in_gateware_is_refused(device):
    assert refusal(device, HP_READ, 32) == ABSENT
    assert len(samples(device, GP0_READ)) == 1


def test_messages_are_measured_without_gateware(tmp_path, start_device):
    device = start_device(tmp_path, gateware=False)
    try:
        assert refusal(device, GP0_READ) == ABSENT and refusal(device, REQUEST) == ABSENT
        kind, content = measure(device, TO_KERNEL, 8)
        assert (kind, struct.unpack_from("<II", content)) == (MEASURED, (PROCESSOR, 0))
    finally:
        device.close()


def test_measurement_is_refused_while_a_session_is_open(device):
    """The session's kernel keeps running, and the next session is served."""
    with Session(device) as session:
        assert session.load(kernel("empty")) is None
        assert refusal(device, GP0_READ) == BUSY
        session.run()
        assert session.until_end() == ([], None)
    until(lambda: measure(device, GP0_READ)[0] == MEASURED)
    with Session(device) as session:
        run_empty(session)


def test_measurement_is_refused_while_an_idle_kernel_exists(device):
    with Management(device) as management:
        assert management.config_write(b"idle_kernel", kernel("endless"))
    printed(device, "idle kernel: running")
    assert refusal(device, GP0_READ) == BUSY
    with Management(device) as management:
        assert management.config_remove(b"idle_kernel")
    until(lambda: measure(device, GP0_READ)[0] == MEASURED)
