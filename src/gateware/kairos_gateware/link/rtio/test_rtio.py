"""RTIO over the link, in Migen's simulator: cases for which the verilated bench
(`verilated/test_link.py`) has no ports."""

import pytest
from migen import *

from kairos_gateware.link.rtio.requester import RtioRequester
from kairos_gateware.link.rtio.server import RtioServer
from kairos_gateware.rtio.core import RtioCore
from kairos_gateware.rtio.cri import OUTPUT_UNREACHABLE
from kairos_gateware.rtio.link import Channel, OutputLink
from kairos_gateware.rtio.timing import TimeBase
from kairos_gateware.testbenches.fibre import Cable
from kairos_gateware.testbenches.simulator import run_simulation

WIDTH = 200
UP = 260
LATE = 2**21
"""Cycles after the upstream board at which a satellite's logic restarts, and also starts for the first
time here."""


class Wide(Module):
    """A satellite with one channel whose events have WIDTH bits. phases: as of `RtioServer`."""

    def __init__(self, phases=False):
        self.submodules.timebase = self.timebase = TimeBase()
        self.submodules.near = self.near = RtioRequester(self.timebase, WIDTH, 0)
        self.link = OutputLink(WIDTH, 8)
        self.submodules.core = self.core = RtioCore([Channel(0, self.link)], lanes=2, depth=32, loadable=True)
        self.submodules.far = self.far = RtioServer(self.core, phases=phases)
        self.comb += self.far.alone()
        self.submodules.cable = cable = Cable([self.near, self.far], 3)
        far_time = self.core.timebase
        self.comb += [
            cable.delay.eq(3),
            far_time.load.eq(self.far.time_load),
            far_time.load_value.eq(self.far.time_value),
        ]


@pytest.mark.long
def test_events_wider_than_32_bits_arrive_complete():
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
def test_time_is_transferred_while_clock_is_upstream():
    """Before, the link is established but has no time; when that clock is gone, everything
    restarts."""
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
        # The unanswered echo is given up after 2^16 cycles
        yield from until(near.up, 1, 1 << 17)
        yield from until(far.live, 1, UP)
        assert (yield dut.timebase.coarse) == (yield dut.core.timebase.coarse)
        yield far.steady.eq(0)
        yield from until(near.up, 0, UP)
        yield from until(near.joined, 1, 2 * UP)
        yield far.steady.eq(1)
        yield from until(near.up, 1, 1 << 17)

    run_simulation(dut, [play()])


class Restarting(Module):
    """A satellite whose logic can be reset by `restart`. Outputs of its channel are counted."""

    def __init__(self):
        self.submodules.timebase = self.timebase = TimeBase(loadable=True)
        self.submodules.near = self.near = RtioRequester(self.timebase, 1, 0)
        self.restart, self.executed = Signal(), Signal(8)
        link = OutputLink(1, 0)
        core = RtioCore([Channel(0, link)], lanes=2, depth=32, loadable=True)
        far = RtioServer(core)
        satellite = Module()
        satellite.submodules += core, far
        self.submodules += ResetInserter()(satellite)
        self.submodules.cable = cable = Cable([self.near, far], 3)
        self.comb += [
            satellite.reset.eq(self.restart),
            far.alone(),
            cable.delay.eq(3),
            core.timebase.load.eq(far.time_load),
            core.timebase.load_value.eq(far.time_value),
        ]
        self.sync += If(link.stb, self.executed.eq(self.executed + 1))


@passive
def record_busy(near, channels):
    """Appends the channels of the satellite's busy errors."""
    while True:
        yield
        if (yield near.errors["busy"][0]):
            channels.append((yield near.errors["busy"][1]))


class Waits(Module):
    """A satellite that drops, on `far.discards`, what waits in its core. Executed outputs are
    counted."""

    def __init__(self):
        self.submodules.timebase = self.timebase = TimeBase()
        self.submodules.near = self.near = RtioRequester(self.timebase, 1, 0)
        links = [OutputLink(1, 0), OutputLink(1, 0)]
        channels = [Channel(number, link) for number, link in enumerate(links)]
        self.submodules.core = self.core = RtioCore(channels, lanes=2, depth=32, loadable=True)
        self.submodules.far = self.far = RtioServer(self.core)
        self.submodules.cable = cable = Cable([self.near, self.far], 3)
        self.executed, far_time = Signal(8), self.core.timebase
        self.comb += [
            self.far.alone(),
            cable.delay.eq(3),
            far_time.load.eq(self.far.time_load),
            far_time.load_value.eq(self.far.time_value),
        ]
        self.sync += self.executed.eq(self.executed + links[0].stb + links[1].stb)


@pytest.mark.parametrize(
    ("who", "waiting", "reported"),
    [("itself", 3, [1]), ("itself", 0, []), ("the upstream board", 3, []), ("its player", 3, [0x10007])],
)
def test_outputs_dropped_by_satellite_are_reported(who, waiting, reported):
    """With the channel of the newest, once; not if nothing was waiting, or the upstream board
    requested it."""
    dut = Waits()
    near, far, output, busy = dut.near, dut.far, dut.near.cri.output, []

    def out(channel, time):
        yield output.valid.eq(1)
        yield output.timestamp.eq(time << 3)
        yield output.channel.eq(channel)
        yield
        while not (yield output.ready):
            yield
        yield output.valid.eq(0)

    def pulse(signal):
        yield signal.eq(1)
        yield
        yield signal.eq(0)

    def rest(cycles):
        for _ in range(cycles):
            yield

    def play():
        while not (yield near.up):
            yield
        now = yield dut.timebase.coarse
        for n in range(2 + waiting):
            yield from out((n + waiting) % 2, now + (100 + 10 * n if n < 2 else 2000 + n))
        yield from rest(200)
        assert (yield dut.executed) == 2
        if who == "its player":
            yield far.played.coarse.eq(now + 3000)
            yield far.played.channel.eq(0x10007)
            yield from pulse(far.played.valid)
        yield from pulse(near.reset if who == "the upstream board" else far.discards)
        yield from rest(2000)
        assert (yield dut.executed) == 2
        # Later events are executed, and nothing is reported again
        yield from out(0, (yield dut.timebase.coarse) + 100)
        yield from rest(200)
        yield from pulse(far.discards)
        yield from rest(200)
        assert (yield dut.executed) == 3

    run_simulation(dut, [play(), record_busy(near, busy)])
    assert busy == reported


@pytest.mark.parametrize("restart", [False, True], ids=["cut", "begins restart"])
def test_events_waiting_in_restarted_logic_are_reported(restart):
    """Two of six events are executed before. The number of lost ones is an upper bound known to the
    upstream board: all events since all had been executed. A cut alone reports none, and executes
    all."""
    dut = Restarting()
    near, output, statuses, busy = dut.near, dut.near.cri.output, [], []

    def out(time):
        yield output.valid.eq(1)
        yield output.timestamp.eq(time << 3)
        yield
        while not (yield output.ready):
            yield
        yield output.valid.eq(0)
        yield
        while not (yield near.cri.output_done):
            yield
        statuses.append((yield near.cri.output_status))

    def until_up(up):
        while (yield near.up) != up:
            yield

    def play():
        yield dut.timebase.load_value.eq(LATE)
        yield dut.timebase.load.eq(1)
        yield
        yield dut.timebase.load.eq(0)
        yield from until_up(1)
        now = yield dut.timebase.coarse
        for time in [100, 110, 2000, 2010, 2020, 2030]:
            yield from out(now + time)
        for _ in range(200):
            yield
        assert (yield dut.executed) == 2
        if restart:
            yield dut.restart.eq(1)
            yield
            yield dut.restart.eq(0)
        else:
            yield dut.cable.plugged.eq(0)
            for _ in range(50):
                yield
            yield dut.cable.plugged.eq(1)
        yield from until_up(0)
        yield from until_up(1)
        assert (yield dut.timebase.coarse) < now + 1900
        for _ in range(2000):
            yield
        assert (yield near.lost_outputs.total) == (6 if restart else 0)
        for _ in range(2):
            yield from out((yield dut.timebase.coarse) + 100)
        for _ in range(200):
            yield
        assert (yield dut.executed) == (3 if restart else 8)

    run_simulation(dut, [play(), record_busy(near, busy)])
    assert statuses == [0] * 6 + [OUTPUT_UNREACHABLE * restart, 0] and busy == [0] * restart
