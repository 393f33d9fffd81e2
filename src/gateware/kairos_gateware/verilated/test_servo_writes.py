"""Variant `servo`, verilated: whatever is written to a running servo, at whichever moment of its cycle, has
its effect.

Each write is swept over a period of the servo: a round is some cycles longer than a number of periods.
"""

import pytest

from kairos_gateware.servo.format import T_CYCLE
from kairos_gateware.servo.model import Profile
from kairos_gateware.verilated.test_servo import CHANNEL, CHANNELS, MAP, REGISTER, Lab

ROUND = 7 * T_CYCLE
"""More than the time to submit the writes of a round, and until they have changed the chips."""
CHANGED = 331 + 1
"""Cycles from an event until it has changed the chips."""


@pytest.fixture
def ps(built):
    lab = built("servo").boot(Lab)
    yield lab
    lab.close()


def started(ps, updated):
    """Starts the servo with all channels on profile 1, whose filter keeps Y; returns the time of the first round."""
    for channel in range(CHANNELS):
        ps.load(channel, 1, Profile(a1=2048))
        ps.set(channel, 1, updated(channel), 1)
    ps.put(MAP.config, 1)
    return ps.now(ROUND)


def write(ps, time, address, value):
    rtio, data = MAP.event(address | MAP.write, value)
    assert ps.output(CHANNEL["suservo0"], 8 * time, data, address=rtio) == 0


def sent(ps):
    """The profile registers of all chips, as their last update applied them."""
    return [registers[REGISTER] for card in ps.cards for registers in card.updates[-1][1]]


@pytest.mark.parametrize("odd", [0, pytest.param(1, marks=pytest.mark.long)])
def test_y_written_at_any_moment_is_kept_and_sent(ps, odd):
    """Of all channels, every other one of which is updated."""
    first = started(ps, lambda channel: channel & 1 == odd)
    lost = []
    for n in range(T_CYCLE):
        time = first + n * (ROUND + 1)
        values = [1 << 12 | n << 4 | channel for channel in range(CHANNELS)]
        for channel, value in enumerate(values):
            write(ps, time + channel, MAP.y(channel, 1), value << 3)
        ps.advance(time + CHANNELS + CHANGED)
        found = [word >> 48 for word in sent(ps)]
        lost += [(n, channel) for channel in range(CHANNELS) if found[channel] != values[channel]]
    assert lost == []
    assert [ps.get(MAP.y(channel, 1)) for channel in range(CHANNELS)] == [value << 3 for value in values]


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.long), 11])
def test_words_written_at_any_moment_are_kept_and_sent(ps, step):
    """All words of a profile in use, its reference time, and the delays of the update pulses."""
    started(ps, lambda channel: False)
    for n in range(0, T_CYCLE, step):
        channel = n % CHANNELS
        profile = Profile(0x12345678 * (n + 1) % 2**32, 0x1357 + n, -n, 2048, n, -n, n % 8, n % 256)
        words = [(MAP.word(channel, 1, name), value) for name, value in profile.words().items()]
        words += [(MAP.reference_time(channel, 1) + half, 0x1000 * half + n) for half in (0, 1)]
        first = ps.now(ROUND)
        first += (n - first) % T_CYCLE
        for place, (address, value) in enumerate(words):
            write(ps, first + place, address, value & 2**18 - 1)
        write(ps, first + len(words), MAP.config, 1 | 2 | n % 8 << 2 | (n + 3) % 8 << 5)
        ps.advance(first + len(words) + CHANGED)
        assert sent(ps)[channel] == profile.register()
        assert [card.updates[-1][0] % 8 for card in ps.cards] == [n % 8, (n + 3) % 8]
        assert [ps.get(address) for address, _ in words] == [value & 2**18 - 1 for _, value in words]


def test_written_samples_precede_the_first_one_of_a_start(ps):
    """Each sample has its own place, and is a previous one for the filter."""
    values = {MAP.x(adc, before): (-1) ** adc * (1000 * adc + 100 + before) for adc in range(8) for before in (0, 1)}
    for address, value in values.items():
        ps.put(address, value << 1)
    assert {address: ps.get(address) for address in values} == {a: v << 1 & 2**18 - 1 for a, v in values.items()}
    ps.load(0, 1, Profile(b1=2048, adc=6))
    ps.set(0, 1, 1, 1)
    ps.put(MAP.config, 1)
    ps.put(MAP.config, 0)
    ps.advance(ps.now(3 * T_CYCLE))
    assert ps.get(MAP.y(0, 1)) == values[MAP.x(6)] << 8 >> 7
    assert [ps.get(MAP.x(6, before)) for before in (0, 1)] == [0, values[MAP.x(6)] << 1]
