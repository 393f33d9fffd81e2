"""The reader against a model of the ADC behind cables of any permitted length."""

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.servo.adc import READ_CYCLES, RETURN_CYCLES, AdcReader
from kairos_gateware.servo.format import T_CYCLE
from kairos_gateware.testbenches.servo import SamplerModel
from kairos_gateware.testbenches.simulator import run_simulation

SAMPLE = st.integers(-(2**15), 2**15 - 1)


def run(card, inputs, gap=T_CYCLE, before=None):
    """Reads one set of inputs after the other; returns [(cycles from start to done, failed, x0,
    x1)]."""
    outputs = [Pad(name, "out", 0) for name in ["cnv", "sck", "sdr"]]
    returned = [Pad(name, "in", 0, True) for name in ["clkout", "sdo0", "sdo1", "sdo2", "sdo3"]]
    dut = AdcReader(*outputs, returned[0], returned[1:])
    results = []

    def bench():
        for values in inputs:
            card.inputs = values
            if before:
                before(card)
            done = None
            for cycle in range(gap):
                yield dut.start.eq(cycle == 0)
                clkout, lanes = card.step((yield outputs[0].o) & 1, (yield outputs[1].o) & 1)
                yield returned[0].i.eq(clkout)
                for pad, samples in zip(returned[1:], lanes, strict=True):
                    yield pad.i.eq(samples)
                yield
                if (yield dut.done):
                    done = cycle, (yield dut.failed)
            x0, x1 = [], []
            for found, signals in [(x0, dut.x0), (x1, dut.x1)]:
                for signal in signals:
                    found.append((yield signal))
            results.append((*done, x0, x1))

    run_simulation(dut, bench())
    return results


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(SAMPLE, min_size=8, max_size=8), min_size=1, max_size=3), st.integers(0, 8 * RETURN_CYCLES - 8)
)
def test_samples_arrive_over_any_permitted_cable(inputs, delay):
    card = SamplerModel(delay)
    results = run(card, inputs)
    before = [0] * 8
    for values, (cycles, failed, x0, x1) in zip(inputs, results, strict=True):
        assert (cycles, failed) == (READ_CYCLES, 0)
        assert (x0, x1) == (values, before)
        before = values
    starts = [cycle for cycle, _ in card.samples]
    assert [b - a for a, b in zip(starts, starts[1:], strict=False)] == [T_CYCLE] * (len(inputs) - 1)
    assert [held for _, held in card.samples] == inputs


def test_adc_read_fits_into_the_servo_cycle():
    """Required for the pipeline to fit into a cycle."""
    assert READ_CYCLES == 139 < T_CYCLE == 146


def test_too_long_cable_is_reported_as_failure():
    (result,) = run(SamplerModel(8 * RETURN_CYCLES + 8), [[1, 2, 3, 4, 5, 6, 7, 8]])
    assert result == (READ_CYCLES, 1, [0] * 8, [0] * 8)


def test_missing_card_keeps_samples_until_it_is_back():
    """Without a return clock the samples are unchanged, and the next one is right again."""
    present = iter([True, False, True])

    def plug(card):
        card.connected = next(present)

    first, missing, last = run(SamplerModel(20), [[5] * 8, [6] * 8, [-7] * 8], before=plug)
    assert first[1:] == (0, [5] * 8, [0] * 8)
    assert missing[1:] == (1, [5] * 8, [0] * 8)
    assert last[1:] == (0, [-7] * 8, [5] * 8)
