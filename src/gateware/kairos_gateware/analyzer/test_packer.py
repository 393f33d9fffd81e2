"""Messages packed to units: single ones byte for byte, pairs only if both fit, none lost except
those reported."""

import random

from migen import *

from kairos_gateware.analyzer.packer import Packer
from kairos_gateware.testbenches.simulator import run_simulation


def offer(dut, message):
    for name, value in message.items():
        yield getattr(dut.message, name).eq(value)
    yield dut.valid.eq(1)
    yield
    lost = yield dut.lost
    yield dut.valid.eq(0)
    return lost


def pack(messages, depth=16, pause=lambda: 0, ready=lambda: True, pairs=True):
    """The units (number, double) made from these messages, and the number of lost messages."""
    dut, units, lost = Packer(depth), [], []

    def source():
        yield dut.pack.eq(pairs)
        for message in messages:
            lost.append((yield from offer(dut, message)))
            for _ in range(pause()):
                yield
        for _ in range(200):
            yield
        assert (yield dut.idle)

    @passive
    def sink():
        while True:
            yield dut.units.ready.eq(ready())
            yield
            if (yield dut.units.valid) and (yield dut.units.ready):
                units.append(((yield dut.units.unit), (yield dut.units.double)))

    run_simulation(dut, [source(), sink()])
    return units, sum(lost)


def message(n, short=1, coarse=None):
    return {"type": n % 2, "channel": n, "coarse": 100 + n if coarse is None else coarse, "data": n, "short": short}


def test_single_message_equals_its_dump_format():
    ((unit, double),), lost = pack([{"type": 1, "channel": 5, "coarse": 0x123, "data": 0xDEAD_BEEF, "short": 0}])
    number = int.from_bytes(unit.to_bytes(32, "little"), "big")
    assert (double, lost) == (0, 0)
    assert (number & 3, number >> 2 & 0x3FFF_FFFF, number >> 96 & 2**64 - 1, number >> 192) == (
        1,
        5,
        0x123 << 3,
        0xDEAD_BEEF,
    )


def test_two_messages_share_a_unit_only_if_short_near_and_permitted():
    together = [message(1), message(2)]
    assert [double for _, double in pack(together * 3)[0]].count(1) >= 1
    assert not any(double for _, double in pack(together, pairs=False)[0])
    assert not any(double for _, double in pack([message(1), message(2, short=0)])[0])
    assert not any(double for _, double in pack([message(1), message(2, coarse=1 << 20)])[0])


def test_every_kept_message_is_in_a_unit():
    chance = random.Random(4)
    messages = [message(n, short=chance.random() < 0.7) for n in range(200)]
    units, lost = pack(messages, pause=lambda: chance.randrange(3), ready=lambda: chance.random() < 0.3)
    assert sum(1 + double for _, double in units) == 200 - lost
