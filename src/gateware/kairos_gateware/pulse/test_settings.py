"""Settings arrive as events, take effect in the next cycle, and reach the sample generation."""

import pytest
from migen import *

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.testbenches.simulator import run_simulation

from .channel import Channel
from .settings import COUNTER, COUPLE, COUPLING, ERROR, HARMONIC, Sampled, Settings

PER_CYCLE = 8


class Bench(Module):
    def __init__(self):
        self.stb, self.address, self.data = Signal(), Signal(5), Signal(facts.WORD_BITS)
        self.time = Signal(61, reset=1000)
        self.sync += self.time.eq(self.time + 1)
        channels = [Channel() for _ in range(2)]
        self.submodules += channels
        at = lambda address: self.stb & (self.address == address)  # noqa: E731
        self.submodules.settings = Settings(at, self.data, 2)
        self.submodules.sampled = Sampled(channels, self.settings, self.time, PER_CYCLE)


@pytest.fixture(scope="module")
def seen():
    """Signals two cycles after each event, by its address."""
    dut, found = Bench(), {}
    outputs = dut.sampled.outputs
    coupling = (-5 & 2**18 - 1) | 77 << 18 | 9 << 36 | 2 << 42
    events = [
        (ERROR, -3 & 2**40 - 1),
        (HARMONIC, (-7 & 0xFFFF) | 1 << 16 | 1 << 17),
        (COUPLING, coupling),
        (COUPLE, 9),
        (COUNTER, 2**39 + 123),
    ]
    # Of channel 0, whose only neighbour is at offset number 2.
    coupling_0 = next(part for _, part in outputs.crosstalk._submodules if hasattr(part, "write"))
    watched = {
        "error": outputs.forward.error,
        "phase": outputs.forward.phase,
        "harmonic": outputs.harmonics[1][1],
        "other": outputs.harmonics[0][1],
        "counter": outputs.counter,
        "time": dut.time,
    }
    coupled = {
        "write": coupling_0.write,
        "real": coupling_0.factor[0],
        "imaginary": coupling_0.factor[1],
        "delay": coupling_0.delay,
        "commit": coupling_0.commit,
        "zero": outputs.crosstalk.zero,
    }

    def run():
        for address, data in events:
            yield dut.stb.eq(1)
            yield dut.address.eq(address)
            yield dut.data.eq(data)
            yield
            found[address] = {}
            for name, signal in coupled.items():
                found[address][name] = yield signal
            yield dut.stb.eq(0)
            yield
            yield
            for name, signal in watched.items():
                found[address][name] = yield signal

    run_simulation(dut, run())
    return found


def test_changed_feed_forward_applies_once_per_sample(seen):
    assert seen[ERROR]["error"] == -3 & 2**40 - 1
    assert seen[HARMONIC]["harmonic"] == -7 and seen[HARMONIC]["other"] == 0
    # It accumulates one error per sample
    assert (seen[HARMONIC]["phase"] - seen[ERROR]["phase"]) % 2**40 == -3 * 3 * PER_CYCLE % 2**40


def test_written_coupling_applies_in_the_next_cycle(seen):
    written = seen[COUPLING]
    assert (written["write"], written["real"], written["imaginary"], written["delay"]) == (1, -5, 77, 9)
    assert (seen[COUPLE]["commit"], seen[COUPLE]["zero"]) == (1, 9)
    assert [(address, name) for address in seen for name in ["write", "commit"] if seen[address][name]] == [
        (COUPLING, "write"),
        (COUPLE, "commit"),
    ]


def test_counter_follows_time_and_continues_from_a_set_value(seen):
    for address in [ERROR, HARMONIC, COUPLING, COUPLE]:
        assert seen[address]["counter"] == seen[address]["time"] * PER_CYCLE
    # It has the value one cycle after the event; here one more has passed.
    assert seen[COUNTER]["counter"] == 2**39 + 123 + PER_CYCLE
