"""Clock generator: first edge at the event's time, frequency, stop, and advancing by many cycles at
once."""

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.phy.clockgen import ClockGenerator
from kairos_gateware.testbenches.phy import play
from kairos_gateware.testbenches.simulator import run_simulation


def make(width=24):
    return ClockGenerator(0, Pad("clk", "out", 0), width)


def model(word, width, cycles):
    """Levels from the event's time on."""
    return [255 * ((2 ** (width - 1) + n * word >> (width - 1)) & 1) if word else 0 for n in range(cycles)]


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 24), st.data())
def test_clock_output_equals_the_accumulator_model(width, data):
    words = [data.draw(st.integers(0, 2 ** (width - 1))) for _ in range(2)]
    record = play(make(width), {5: (0, words[0], 3), 45: (0, words[1], 0)}, 80)
    expected = [0] * 5 + model(words[0], width, 40) + model(words[1], width, 35)
    assert [o for o, _ in record.outputs[0]] == expected


def test_stopped_clock_output_is_low():
    record = play(make(), {5: (0, 1 << 22, 0), 18: (0, 0, 0)}, 30)
    assert [o for o, _ in record.outputs[0]] == [0] * 5 + ([255] * 2 + [0] * 2) * 3 + [255] + [0] * 12


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**12 - 1), st.lists(st.tuples(st.integers(1, 30), st.integers(0, 100)), max_size=8))
def test_skipping_changes_no_output(word, plan):
    """plan: (cycles to step, requested jump). The wave is right after a jump; none is allowed if
    the wave is not known."""
    width = 12
    dut = make(width)
    link, skip = dut.channel.output, dut.channel.free_running
    wave = model(word, width, 2000)

    def bench():
        yield link.data.eq(word)
        yield link.stb.eq(1)
        yield
        yield link.stb.eq(0)
        now = 0
        for steps, wanted in plan:
            for _ in range(steps):
                yield
                assert (yield dut.pads[0].o) == wave[now]
                now += 1
            # In the cycle `now`, decide on a jump
            yield
            assert (yield dut.pads[0].o) == wave[now]
            limit = yield skip.limit
            assert limit == (2**61 - 1 if word <= 2 ** (width - 1) else 0)
            assert (yield skip.wave.accumulator) >> (width - 1) == wave[now] >> 7 and (yield skip.wave.word) == word
            jump = min(limit, wanted)
            if jump > 1:
                # The cycle in which the counter is loaded
                yield skip.stb.eq(1)
                yield skip.cycles.eq(jump - 1)
                yield
                yield skip.stb.eq(0)
                now += jump
            else:
                now += 1

    run_simulation(dut, bench())
