"""The RTIO core with simple TTL PHYs only, verilated, and fed with streams of commands cycle by
cycle.

For random streams against `model.Model`, and for measuring the speed of the model: one call into
the library plays a whole stream (`core_shim.cpp`). The whole logic, behind the processing system's
ports, is in `library.py`.
"""

import ctypes
from dataclasses import dataclass
from functools import reduce
from operator import and_
from pathlib import Path

from migen import *

from ..link.rtio.requester import RtioRequester
from ..link.rtio.server import RtioServer
from ..pad import Pad
from ..phy.ttl import InOut, Output
from ..rtio.core import DEPTH, RtioCore
from ..rtio.link import Channel
from ..rtio.router import CriRouter
from ..rtio.timing import COARSE_BITS, TimeBase
from ..verilated import verilate
from ..verilated.ports import TopLevel
from ..verilog import convert
from .fibre import Cable

__all__ = ["CoreBench", "LinkBench", "Command", "Answer", "Played", "Core", "build_core", "build_link"]

_TOP = "rtio_core"


class CoreBench(TopLevel):
    """Channels: `inouts` bidirectional TTLs, `outputs` TTL outputs, one log. Pads are numbered like
    channels."""

    def __init__(self, outputs, inouts, reorder=0):
        super().__init__()
        kinds = [InOut] * inouts + [Output] * outputs
        self.pads, phys, channels = _ttls(kinds)
        self.submodules += phys
        self.submodules.core = core = RtioCore(channels, simulation=True, reorder=reorder)
        self.core_ports(core, core.cri, self.pads, core.settled, core.next_due)

    def core_ports(self, core, cri, pads, settled, next_due):
        """Adds the ports that core_shim.cpp expects. cri: to be driven; core: whose counter and
        errors are output."""
        timebase = core.timebase
        for name in ["valid", "channel", "address", "timestamp", "data"]:
            self.inward(getattr(cri.output, name), f"output_{name}")
        for name in ["valid", "channel", "timeout"]:
            self.inward(getattr(cri.input, name), f"input_{name}")
        self.inward(core.reset, "reset")
        self.inward(timebase.load, "tsc_load")
        self.inward(timebase.load_value, "tsc_value")
        self.outward(cri.output.ready, "output_ready")
        self.outward(cri.input.ready, "input_ready")
        self.outward(cri.output_done, "output_done")
        self.outward(cri.output_status, "output_status", 4)
        self.outward(cri.input_done, "input_done")
        self.outward(cri.input_status, "input_status", 4)
        self.outward(cri.response.timestamp, "input_timestamp", 64)
        self.outward(cri.response.data, "input_data", 32)
        self.outward(timebase.coarse, "tsc", COARSE_BITS)
        self.outward(next_due, "next_due", COARSE_BITS)
        moving = (cri.output.valid & cri.output.ready) | (cri.input.valid & cri.input.ready)
        self.outward(settled & ~moving & ~timebase.load, "quiet")
        errors = [core.collision, core.busy, core.sequence_error]
        self.outward(Cat(*[error.flag for error in errors]), "errors", 3)
        self.outward(Cat(*[error.channel[:16] for error in errors]), "error_channels", 48)
        self.pad_ports(pads)


class LinkBench(CoreBench):
    """The same channels on several boards in a chain, each the satellite of the one before, with
    destinations 0, 1, …; their pads are consecutive. They are followed by inputs without channels
    (`FIBRE_PADS` in all): the bits of each fibre's delay in cycles, lowest first, one that unplugs
    the first fibre, two that lose the words of one of its directions, downstream and upstream, and one that
    makes its return path a cycle longer."""

    DELAY_BITS = 14
    FIBRE_PADS = DELAY_BITS + 4

    def __init__(self, outputs, inouts, boards=2):
        TopLevel.__init__(self)
        kinds = [InOut] * inouts + [Output] * outputs
        control = [Pad(f"link{n}", "in", None) for n in range(self.FIBRE_PADS)]
        self.pads, self._settled, self._dues = [], [], []
        timebase = TimeBase(loadable=True)
        core, cri, near = self._board(kinds, timebase, boards - 1, None)
        self.comb += [near.reset.eq(core.reset), near.phy_reset.eq(0)]
        for downstream in reversed(range(boards - 1)):
            far_time = TimeBase(loadable=True)
            far_near, far = self._board(kinds, far_time, downstream, timebase)
            self._join(near, far, control, first=downstream == boards - 2)
            near = far_near
        self.pads += control
        settled, due = reduce(and_, self._settled), core.next_due
        for flag, time in self._dues:
            earlier = Signal(COARSE_BITS)
            self.comb += earlier.eq(Mux(flag & (time < due), time, due))
            due = earlier
        self.core_ports(core, cri, self.pads, settled, due)

    def _board(self, kinds, timebase, downstream, first_time):
        """A board with `downstream` boards behind it. first_time: of the first board; None: this is the
        first. Returns (core, Cri for commands, near end) of the first one, (near end or None, far
        end) of another."""
        pads, phys, channels = _ttls(kinds)
        self.pads += pads
        self.submodules += phys
        own = Signal(8)
        near = RtioRequester(timebase, 32, own + 1, downstream) if downstream else None
        foreign = [near.errors] if near is not None else []
        master = first_time is None
        depth = DEPTH if master else 512
        core = RtioCore(channels, simulation=True, foreign=foreign if master else [], timebase=timebase, depth=depth)
        self.submodules += core
        self._settled.append(core.settled)
        remotes = [(near.cri, 1, downstream)] if downstream else []
        self.submodules += (router := CriRouter(core.cri, remotes, None if master else own))
        if near is not None:
            self.submodules += near
            self._settled.append(near.settled)
            self._dues += near.dues
        if master:
            return core, router.cri, near
        self._dues.append((1, core.next_due))
        self.submodules += (far := RtioServer(core, [near] if near is not None else []))
        self._settled.append(far.settled)
        self.comb += [
            own.eq(far.destination),
            [phy.reset.eq(far.phy_reset) for phy in phys],
            timebase.load.eq(first_time.load | far.time_load),
            timebase.load_value.eq(Mux(first_time.load, first_time.load_value, far.time_value)),
            far.alone(router.cri),
        ]
        if near is not None:
            self.comb += [
                near.enable.eq(far.live),
                near.abort.eq(far.abort),
                near.reset.eq(core.reset),
                near.phy_reset.eq(far.phy_reset),
            ]
        return near, far

    def _join(self, near, far, control, first):
        self.submodules += (cable := Cable([near, far], 2**self.DELAY_BITS - 1))
        self._settled.append(cable.empty)
        self.comb += cable.delay.eq(Cat(*[pad.i[0] for pad in control[: self.DELAY_BITS]]))
        if first:
            out, *deaf, longer = [pad.i[0] for pad in control[self.DELAY_BITS :]]
            self.comb += [cable.plugged.eq(~out), Cat(*cable.deaf).eq(Cat(*deaf)), cable.longer.eq(longer)]


def _ttls(kinds):
    """(pads, PHYs, channels, followed by a log)."""
    pads = [Pad(f"ttl{n}", "inout" if kind is InOut else "out", n) for n, kind in enumerate(kinds)]
    phys = [ResetInserter()(kind(n, pad)) for n, (kind, pad) in enumerate(zip(kinds, pads, strict=True))]
    return pads, phys, [*[phy.channel for phy in phys], Channel(len(phys), discard=True)]


class Command(ctypes.Structure):
    """OUTPUT or INPUT, offered `pause` cycles after the previous one was accepted (an input:
    answered). time: machine units, with `relative` from the counter's value in the first cycle in
    which the command is offered."""

    OUTPUT, INPUT = 0, 1
    _fields_ = [
        ("time", ctypes.c_int64),
        ("pause", ctypes.c_uint32),
        ("channel", ctypes.c_uint32),
        ("data", ctypes.c_uint32),
        ("address", ctypes.c_uint8),
        ("kind", ctypes.c_uint8),
        ("relative", ctypes.c_uint8),
    ]


class Answer(ctypes.Structure):
    """accepted, answered: coarse counter in those cycles. time: as submitted, absolute."""

    _fields_ = [
        ("accepted", ctypes.c_uint64),
        ("answered", ctypes.c_uint64),
        ("time", ctypes.c_int64),
        ("timestamp", ctypes.c_int64),
        ("data", ctypes.c_uint32),
        ("status", ctypes.c_uint32),
    ]


class _Edge(ctypes.Structure):
    _fields_ = [("coarse", ctypes.c_uint64), ("pad", ctypes.c_uint32), ("level", ctypes.c_uint32)]


class _Change(ctypes.Structure):
    _fields_ = [
        ("coarse", ctypes.c_uint64),
        ("pad", ctypes.c_uint32),
        ("samples", ctypes.c_uint8),
        ("driven", ctypes.c_uint8),
    ]


@dataclass
class Played:
    """answers: one for each command. changes: (coarse, pad, samples, driven). errors: flags
    (collision, busy, sequence error) and their channels. end: coarse counter in the last cycle.
    cycles: number evaluated."""

    answers: list[tuple]
    changes: list[tuple]
    errors: tuple
    end: int
    cycles: int


class Core:
    """The library at `path`, whose pads are `pads`. Each `play` is a new instance of the core."""

    def __init__(self, path: Path, pads):
        self.pads = pads
        self._play = ctypes.CDLL(str(path)).rtio_core_play
        self._play.restype = ctypes.c_uint64

    def play(self, commands, edges=(), until=0, skip=False) -> Played:
        """edges: (coarse, pad, level) applied to pads, in order of time. until: coarse time to be
        reached at least, after the last command."""
        capacity = 1000 + 2 * len(commands)
        answers = (Answer * len(commands))()
        changes, count = (_Change * capacity)(), ctypes.c_uint32(capacity)
        errors, end = (ctypes.c_uint32 * 4)(), ctypes.c_uint64()
        cycles = self._play(
            (Command * len(commands))(*commands),
            ctypes.c_uint32(len(commands)),
            (_Edge * len(edges))(*edges),
            ctypes.c_uint32(len(edges)),
            ctypes.c_uint64(until),
            ctypes.c_int(skip),
            answers,
            changes,
            ctypes.byref(count),
            errors,
            ctypes.byref(end),
        )
        if cycles == 0:
            raise TimeoutError("the core does not answer")
        if count.value == capacity:
            raise ValueError("more pad changes than there is room for")
        flags, *channels = errors
        return Played(
            [tuple(getattr(a, name) for name, _ in Answer._fields_) for a in answers],
            [(c.coarse, c.pad, c.samples, c.driven) for c in changes[: count.value]],
            (flags, *[channel for n, channel in enumerate(channels) if flags >> n & 1]),
            end.value,
            cycles,
        )


def build_core(output: Path, outputs, inouts, reorder=0) -> Core:
    """Builds the library in the folder `output`, unless it is up to date. Raises OSError."""
    return _build(output, CoreBench(outputs, inouts, reorder))


def build_link(output: Path, outputs, inouts, boards=2) -> Core:
    """As `build_core`, of a `LinkBench`."""
    return _build(output, LinkBench(outputs, inouts, boards))


def _build(output, bench) -> Core:
    with verilate.building_alone(output):
        (output / f"{_TOP}.v").write_text(convert(bench, bench.ios, name=_TOP).main_source)
        return Core(
            verilate.compile_library(output, _TOP, _TOP, bench.pads, shim=Path(__file__).with_name("core_shim.cpp")),
            bench.pads,
        )
