"""The filters against the model: everything that is written to the synthesisers and to the memory,
bit for bit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.servo.format import WORDS
from kairos_gateware.servo.iir import Control, IirFilter, iir_cycles
from kairos_gateware.servo.model import Y_MAX, PhaseModel, Profile, filter_step
from kairos_gateware.testbenches.simulator import run_simulation


class Words:
    """Replaces the `DdsWriter`: accepts the words."""

    def __init__(self, channels):
        self.we = Signal()
        self.channel = Signal(max=channels)
        self.word = Signal(2)
        self.data = Signal(16)


class Bench:
    """A filter with `channels` channels, and its memories written through the access port."""

    def __init__(self, channels):
        self.controls = [Control() for _ in range(channels)]
        self.x0 = [Signal((16, True), name=f"x0_{i}") for i in range(8)]
        self.x1 = [Signal((16, True), name=f"x1_{i}") for i in range(8)]
        self.dds = Words(channels)
        self.dut = IirFilter(self.controls, self.x0, self.x1, self.dds)
        self.clip = [False] * channels

    def write(self, strobe, address, value):
        yield self.dut.address.eq(address)
        yield self.dut.value.eq(value)
        yield strobe.eq(1)
        yield
        yield strobe.eq(0)

    def load(self, channel, number, profile):
        """y only in units of the driver: its low seven bits are 0."""
        for name, value in profile.words().items():
            yield from self.write(self.dut.write_coeff, (channel << 5 | number) << 3 | WORDS[name], value)
        yield from self.write(self.dut.write_state, channel << 5 | number, profile.y >> 7)

    def load_reference(self, channel, number, time):
        """A profile's reference time, by its halves."""
        tracker = self.dut.tracker
        for half in (0, 1):
            yield tracker.address.eq((channel << 5 | number) << 1 | half)
            yield tracker.value.eq(time >> 16 * half)
            yield from self._strobe(tracker.write)

    def _strobe(self, strobe):
        yield strobe.eq(1)
        yield
        yield strobe.eq(0)

    def read_y(self, channel, number):
        yield self.dut.address.eq(channel << 5 | number)
        yield
        yield
        return (yield self.dut.state)

    def cycle(self, x0, x1, hold=False):
        """One run; returns the register values for the synthesisers. Checks its length, and when
        each control is sampled."""
        for signals, values in [(self.x0, x0), (self.x1, x1)]:
            for signal, value in zip(signals, values, strict=True):
                yield signal.eq(value)
        yield self.dut.start.eq(1)
        yield self.dut.hold.eq(hold)
        registers = [{} for _ in self.controls]
        taken = []
        for cycle in range(iir_cycles(len(self.controls)) + 3):
            yield
            for i, control in enumerate(self.controls):
                if (yield control.taken):
                    taken.append((cycle, i))
                self.clip[i] |= bool((yield self.dut.clip) >> i & 1)
            if (yield self.dds.we):
                assert (yield self.dds.word) not in registers[(yield self.dds.channel)]
                registers[(yield self.dds.channel)][(yield self.dds.word)] = yield self.dds.data
            assert (yield self.dut.done) == (cycle == iir_cycles(len(self.controls)))
            yield self.dut.start.eq(0)
        assert taken == [(4 * i, i) for i in range(len(self.controls))]
        assert not (yield self.dut.busy)
        return [sum(value << 48 - 16 * word for word, value in words.items()) for words in registers]


def coefficient(limit=2**17):
    return st.one_of(st.integers(-limit, limit - 1), st.sampled_from([-limit, -2048, -1, 0, 1, 2048, limit - 1]))


X = st.lists(
    st.one_of(st.integers(-(2**15), 2**15 - 1), st.sampled_from([-(2**15), 2**15 - 1])), min_size=8, max_size=8
)
PROFILE = st.builds(
    Profile,
    ftw=st.integers(0, 2**32 - 1),
    pow=st.integers(0, 2**16 - 1),
    offset=coefficient(),
    a1=st.one_of(st.just(2048), coefficient()),
    b0=coefficient(),
    b1=coefficient(),
    adc=st.integers(0, 7),
    dly=st.integers(0, 3),
    y=st.integers(0, 2**17 - 1).map(lambda y: y << 7),
)
CHOICE = st.tuples(st.booleans(), st.integers(0, 1))
CHANNEL = st.tuples(st.integers(0, 31), PROFILE, st.booleans(), st.integers(0, 4))


@settings(max_examples=12, deadline=None)
@given(st.data(), st.sampled_from([4, 8]))
def test_filter_outputs_agree_with_the_model(data, channels):
    settings_ = data.draw(st.lists(CHANNEL, min_size=channels, max_size=channels))
    samples = data.draw(st.lists(st.tuples(X, X, st.booleans()), min_size=1, max_size=4))
    bench = Bench(channels)

    def play():
        clip = [False] * channels
        for i, (number, profile, active, waited) in enumerate(settings_):
            yield from bench.load(i, number, profile)
            yield bench.controls[i].profile.eq(number)
            yield bench.controls[i].active.eq(active)
            yield bench.controls[i].waited.eq(waited)
        for x0, x1, hold in samples:
            for i, (_, p, active, waited) in enumerate(settings_):
                if active and waited >= p.dly and not hold:
                    p.y, limited = filter_step(p.y, x0[p.adc], x1[p.adc], p.a1, p.b0, p.b1, p.offset)
                    clip[i] |= limited
            registers = yield from bench.cycle(x0, x1, hold)
            assert registers == [p.register() for _, p, _, _ in settings_]
            assert bench.clip == clip
        for i, (number, p, _, _) in enumerate(settings_):
            assert (yield from bench.read_y(i, number)) == p.y

    run_simulation(bench.dut, play())


@pytest.mark.parametrize("x, y", [(2**15 - 1, Y_MAX), (-(2**15), 0)])
def test_largest_products_are_limited_and_reported(x, y):
    """Largest products: no internal overflow, the result is clamped and reported."""
    bench = Bench(4)
    sign = 1 if x > 0 else -1
    extreme = 2**17 - 1
    p = Profile(offset=sign * extreme, a1=sign * extreme, b0=extreme, b1=extreme, y=Y_MAX >> 7 << 7)

    def play():
        yield from bench.load(2, 31, p)
        yield bench.controls[2].profile.eq(31)
        yield bench.controls[2].active.eq(1)
        registers = yield from bench.cycle([x] * 8, [x] * 8)
        assert registers[2] >> 48 == y >> 10
        assert (yield from bench.read_y(2, 31)) == y
        assert bench.clip == [False, False, True, False]

    run_simulation(bench.dut, play())


def test_every_bit_above_full_scale_limits_the_sum():
    """y = 1/2 times 2, 4 ... 32: only one bit of the sum is set, each time a different one above
    the result."""
    bench = Bench(4)

    def play():
        yield bench.controls[1].active.eq(1)
        for power in range(1, 6):
            bench.clip[1] = False
            yield from bench.load(1, 0, Profile(a1=2048 << power, y=1 << 23))
            yield from bench.cycle([0] * 8, [0] * 8)
            assert (yield from bench.read_y(1, 0)) == Y_MAX
            assert bench.clip[1]

    run_simulation(bench.dut, play())


def test_pure_integrator_keeps_or_lowers_y():
    """a1 = 1, no input: Y is constant, to the last of its 25 bits. Less than a bit is cut off, so a
    negative input lowers Y by a whole one."""
    assert filter_step(12345678, 0, 0, 2048, 5, -5, 0) == (12345678, False)
    for x, change in [(1, 0), (-1, -1)]:
        y = 12345678
        for _ in range(1000):
            y, _ = filter_step(y, x, x, 2048, 3, 0, 0)  # 3 * 2**8 / 2**11 = 0.375
        assert y == 12345678 + 1000 * change


def test_negative_y_is_limited_to_zero():
    bench = Bench(4)

    def play():
        yield from bench.write(bench.dut.write_state, 5, 2**17 | 77)
        assert (yield from bench.read_y(0, 5)) == 0

    run_simulation(bench.dut, play())


@pytest.mark.parametrize("active", [False, True])
def test_y_written_at_any_cycle_is_not_overwritten(active):
    """The filter of each channel adds 1. What is written until it reads Y is filtered, later it remains."""
    bench = Bench(4)

    def play():
        for channel, control in enumerate(bench.controls):
            yield from bench.load(channel, 3, Profile(a1=2048, b0=2048, offset=2, y=1 << 20))
            yield control.profile.eq(3)
            yield control.active.eq(active)
        for channel in range(4):
            # Until the write, the first cycle being that of `start`
            for when in range(iir_cycles(4) + 2):
                yield bench.dut.start.eq(1)
                yield bench.dut.address.eq(channel << 5 | 3)
                yield bench.dut.value.eq(1000 * channel + when)
                for cycle in range(iir_cycles(4) + 4):
                    yield bench.dut.write_state.eq(cycle == when)
                    yield
                    yield bench.dut.start.eq(0)
                filtered = active and when <= 4 * channel + 1
                found = yield from bench.read_y(channel, 3)
                assert found == (1000 * channel + when << 7) + (128 if filtered else 0), (channel, when)

    run_simulation(bench.dut, play())


@settings(max_examples=15, deadline=None)
@given(st.data(), st.sampled_from([4, 8]))
def test_tracked_phases_agree_with_the_model(data, channels):
    """Each channel changes its profile, and whether it is tracked, from one cycle to the next."""
    word = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2**31, 2**32 - 1]))
    profile = st.builds(Profile, ftw=word, pow=st.integers(0, 2**16 - 1), reference=word)
    profiles = [[data.draw(profile) for _ in range(2)] for _ in range(channels)]
    cycles = data.draw(
        st.lists(
            st.tuples(word, st.lists(CHOICE, min_size=channels, max_size=channels)),
            min_size=1, max_size=5,
        )
    )  # fmt: skip
    bench, models = Bench(channels), [PhaseModel() for _ in range(channels)]

    def play():
        for channel, each in enumerate(profiles):
            for number, profile in enumerate(each):
                yield from bench.load(channel, number, profile)
                yield from bench.load_reference(channel, number, profile.reference)
        for time, choices in cycles:
            yield bench.dut.tracker.time.eq(time)
            for control, (tracks, number) in zip(bench.controls, choices, strict=True):
                yield control.tracks.eq(tracks)
                yield control.profile.eq(number)
            registers = yield from bench.cycle([0] * 8, [0] * 8)
            expected = [
                model.step(each[number], time, tracks)
                for model, each, (tracks, number) in zip(models, profiles, choices, strict=True)
            ]
            assert [register >> 32 & 0xFFFF for register in registers] == expected
            assert [register & 0xFFFFFFFF for register in registers] == [
                each[number].ftw for each, (_, number) in zip(profiles, choices, strict=True)
            ]

    run_simulation(bench.dut, play())


def test_filter_takes_24_or_40_cycles():
    assert (iir_cycles(4), iir_cycles(8)) == (24, 40)
