"""RTIO over the link, in Migen's simulator: what the verilated bench (`sim/test_link.py`) has no ports for."""

import pytest
from migen import *

from kairos_gateware.link.fibre import Cable
from kairos_gateware.link.rtio_far import FarRtio
from kairos_gateware.link.rtio_near import NearRtio
from kairos_gateware.rtio.core import RtioCore
from kairos_gateware.rtio.link import Channel, OutputLink
from kairos_gateware.rtio.timing import TimeBase
from kairos_gateware.simulation import run_simulation

WIDTH = 200
UP = 260


class Wide(Module):
    """A satellite with one channel whose events have WIDTH bits. phases: as of `FarRtio`."""

    def __init__(self, phases=False):
        self.submodules.timebase = self.timebase = TimeBase()
        self.submodules.near = self.near = NearRtio(self.timebase, WIDTH, 0)
        self.link = OutputLink(WIDTH, 8)
        self.submodules.core = self.core = RtioCore([Channel(0, self.link)], lanes=2, depth=32, loadable=True)
        self.submodules.far = self.far = FarRtio(self.core, phases=phases)
        self.comb += self.far.alone()
        self.submodules.cable = cable = Cable([self.near, self.far], 3)
        far_time = self.core.timebase
        self.comb += [
            cable.delay.eq(3),
            far_time.load.eq(self.far.time_load),
            far_time.load_value.eq(self.far.time_value),
        ]


@pytest.mark.long
def test_events_with_more_than_32_bits_of_data():
    dut = Wide()
    near, link = dut.near, dut.link
    data = [1, 0xDEADBEEF, (1 << WIDTH) - 1, 1 << WIDTH - 1, 5 << 100, 0x123456789ABCDEF << 40 | 7]
    seen, statuses = [], []

    def play():
        for _ in range(UP):
            yield
        assert (yield near.up)
        for n, value in enumerate(data):
            yield near.cri.output.valid.eq(1)
            yield near.cri.output.timestamp.eq((UP + 150 + 9 * n << 3) + n)
            yield near.cri.output.channel.eq(0)
            yield near.cri.output.address.eq(40 * n)
            yield near.cri.output.data.eq(value)
            yield
            while not (yield near.cri.output.ready):
                yield
        yield near.cri.output.valid.eq(0)
        for _ in range(200):
            yield

    def watch():
        for _ in range(UP + 240):
            yield
            if (yield near.cri.output_done):
                statuses.append((yield near.cri.output_status))
            if (yield link.stb):
                time = (yield dut.timebase.coarse) + 1
                seen.append((time, (yield link.fine), (yield link.address), (yield link.data)))

    run_simulation(dut, [play(), watch()])
    assert statuses == [0] * len(data)
    assert seen == [(UP + 150 + 9 * n, n, 40 * n & 0xFF, value) for n, value in enumerate(data)]


@pytest.mark.long
def test_the_time_is_told_while_the_clock_is_that_of_the_board_above():
    """Before, there is a link but no time; when that clock is gone, all begins anew."""
    dut = Wide(phases=True)
    near, far = dut.near, dut.far

    def until(signal, value, cycles):
        for _ in range(cycles):
            if (yield signal) == value:
                return
            yield
        raise AssertionError(f"not {value} within {cycles} cycles")

    def play():
        for _ in range(4 * UP):
            yield
        assert (yield near.joined) and not (yield near.up) and not (yield far.live)
        yield far.steady.eq(1)
        # The question that was not answered is given up after 2^16 cycles
        yield from until(near.up, 1, 1 << 17)
        yield from until(far.live, 1, UP)
        assert (yield dut.timebase.coarse) == (yield dut.core.timebase.coarse)
        yield far.steady.eq(0)
        yield from until(near.up, 0, UP)
        yield from until(near.joined, 1, 2 * UP)
        yield far.steady.eq(1)
        yield from until(near.up, 1, 1 << 17)

    run_simulation(dut, [play()])
