"""Monitor/injector with real TTL PHYs: overrides take over the pin and release it, probes report
the level of the pin."""

from migen import *

from kairos_gateware.moninj.moninj import OVERRIDE_ENABLE, OVERRIDE_OUTPUT_ENABLE, MonitorInjector, TtlInjector
from kairos_gateware.pad import Pad
from kairos_gateware.phy.ttl import InOut, Output
from kairos_gateware.testbenches.simulator import run_simulation


class Bench(Module):
    def __init__(self):
        self.phys = [Output(0, Pad("out", "out", 0)), InOut(3, Pad("inout", "inout", 3))]
        self.injectors = {phy.channel.number: TtlInjector(phy.pads[0]) for phy in self.phys}
        self.submodules += [*self.phys, *self.injectors.values()]
        self.submodules.moninj = MonitorInjector(self.injectors)

    def pin(self, channel):
        pad = self.injectors[channel].pad
        return (yield pad.o), (yield pad.oe)

    def event(self, phy, address, data):
        link = self.phys[phy].channel.output
        yield link.stb.eq(1)
        yield link.address.eq(address)
        yield link.data.eq(data)
        yield
        yield link.stb.eq(0)
        yield
        yield

    def inject(self, channel, override, value):
        m = self.moninj
        yield m.inject_channel.eq(channel)
        yield m.override.eq(override)
        yield m.inject_value.eq(value)
        yield m.write.eq(1)
        yield
        yield m.write.eq(0)
        yield
        yield
        return (yield m.inject_current)

    def monitor(self, channel, probe):
        m = self.moninj
        yield m.channel.eq(channel)
        yield m.probe.eq(probe)
        yield m.update.eq(1)
        yield
        yield m.update.eq(0)
        yield
        yield
        return (yield m.value)


def run(steps):
    dut = Bench()
    run_simulation(dut, steps(dut))


def test_override_takes_output_pin_and_release_restores_level():
    def steps(dut):
        assert (yield from dut.pin(0)) == (0, 1)
        assert (yield from dut.inject(0, 1, 1)) == 1
        assert (yield from dut.pin(0)) == (0, 1)  # a level alone does nothing
        assert (yield from dut.inject(0, 0, 1)) == 1
        assert (yield from dut.pin(0)) == (255, 1)
        assert (yield from dut.monitor(0, 0)) == 1
        yield from dut.event(0, 0, 1)
        assert (yield from dut.inject(0, 1, 0)) == 0
        assert (yield from dut.pin(0)) == (0, 1)
        assert (yield from dut.monitor(0, 0)) == 0
        assert (yield from dut.inject(0, 0, 0)) == 0
        assert (yield from dut.pin(0)) == (255, 1)  # the level that the experiment has set meanwhile

    run(steps)


def test_bidirectional_override_drives_pin_and_release_probes_input():
    def steps(dut):
        pad = dut.injectors[3].pad
        yield from dut.event(1, 0, 1)
        assert (yield from dut.pin(3)) == (255, 0)
        assert (yield from dut.monitor(3, 1)) == 0
        yield from dut.inject(3, 2, 1)
        yield from dut.inject(3, 0, 1)
        assert (yield from dut.pin(3)) == (0, 1)
        assert (yield from dut.monitor(3, 1)) == 1
        assert (yield from dut.monitor(3, 0)) == 0  # the pin, not the driven level
        yield pad.i.eq(255)
        yield
        yield
        assert (yield dut.phys[1].pads[0].i) == 255
        assert (yield from dut.monitor(3, 0)) == 1

    run(steps)


def test_probe_value_changes_only_at_update():
    def steps(dut):
        assert (yield from dut.monitor(0, 0)) == 0
        yield from dut.event(0, 0, 1)
        assert (yield dut.moninj.value) == 0
        assert (yield from dut.monitor(0, 0)) == 1

    run(steps)


def test_absent_probe_or_override_reads_zero():
    def steps(dut):
        for channel, override in [(0, 2), (1, 0), (3, 3), (65535, 0), (0, 255)]:
            assert (yield from dut.inject(channel, override, 1)) == 0
        assert (yield from dut.pin(0)) == (0, 1)
        assert (yield from dut.pin(3)) == (0, 0)
        for channel, probe in [(0, 1), (2, 0), (3, 2), (3, 255)]:
            assert (yield from dut.monitor(channel, probe)) == 0

    run(steps)


def test_override_is_at_pin_one_cycle_later():
    """A written override is at the pin in the next cycle, and a probe in `value` in the cycle after
    `update`; a pin's level is probed two cycles late."""
    dut = Bench()
    m, pad = dut.moninj, dut.injectors[3].pad
    levels, values = [], []

    def cpu():
        yield m.inject_channel.eq(3)
        yield m.override.eq(OVERRIDE_ENABLE)
        yield m.inject_value.eq(1)
        yield m.write.eq(1)
        yield
        yield m.write.eq(0)
        yield m.override.eq(OVERRIDE_OUTPUT_ENABLE)
        yield m.write.eq(1)
        yield
        yield m.write.eq(0)
        yield m.channel.eq(3)
        yield m.update.eq(1)
        yield pad.i.eq(255)

    def watch():
        for _ in range(10):
            levels.append((yield pad.oe))
            values.append((yield m.value))
            yield

    run_simulation(dut, [cpu(), watch()])
    # Signals set by `cpu` in its n-th step take effect in cycle n + 1: the output enable is written
    # in cycle 2, the pin and `update` are 1 from cycle 3 on.
    assert levels == [0, 0, 0] + [1] * 7
    assert values == [0] * 6 + [1] * 4
