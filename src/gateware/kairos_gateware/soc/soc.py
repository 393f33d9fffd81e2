"""A variant's logic on the ports of the processing system: what every board, real or simulated, has in common."""

from functools import reduce
from operator import and_, or_

from migen import *

from .. import __version__
from ..analyzer.analyzer import Analyzer
from ..analyzer.registers import AnalyzerRegisters
from ..descriptor import Descriptor, RtioChannel
from ..dma.engine import DmaEngine
from ..dma.port import share, share_writes
from ..dma.registers import DmaRegisters
from ..dma.stream import StreamReader
from ..initiator.registers import InitiatorRegisters
from ..initiator.ring import RingInitiator
from ..moninj.moninj import MonitorInjector, TtlInjector
from ..moninj.registers import MoninjRegisters
from ..pad import SAMPLES
from ..phy.kinds import KINDS, make_phys
from ..phy.pulse import Pulse
from ..phy.spi_aside import SpiAside, SpiRegisters
from ..phy.ttl import InOut
from ..pulse.registers import PulseRegisters
from ..rtio.arbiter import CriArbiter
from ..rtio.core import DEPTH, RtioCore
from ..rtio.link import Channel
from ..rtio.registers import RtioRegisters
from ..rtio.router import CriRouter
from ..rtio.timing import COARSE_BITS, FINE_BITS, TimeBase
from ..traffic.engine import TrafficEngine
from ..traffic.lines import Lines
from ..traffic.loan import Loan
from ..traffic.registers import TrafficRegisters
from ..variant import RTIO_FREQUENCY
from .bus import Gp0Bus
from .clock import ClockRegisters
from .links import LANE_DEPTH, Links, UplinkRegisters
from .resting import ANALYZER, DMA, INPUTS, NETWORK, REGISTERS, Resting
from .scratch import ScratchRegisters

__all__ = ["FEED", "PLAY", "Soc"]

PLAY, FEED = "play", "feed"
"""Clock domains of pulse cores in simulation: of what moves while engines run, and of what gives them segments."""


def _connect(cri, port):
    """An initiator that brings its own CRI, to a port of the arbiter."""
    return [cri.output.connect(port.output), cri.response.eq(port.response)]


def _resettable(phy, simulation):
    """The PHY with its `reset`. In simulation a pulse core has clocks of its own, which run on where nothing else moves
    (sim/clocks.h)."""
    if not (simulation and isinstance(phy, Pulse)):
        return ResetInserter()(phy)
    for part in phy.sequencing.feeding:
        ClockDomainsRenamer(FEED)(part)
    core = ClockDomainsRenamer(PLAY)(ResetInserter(["sys", FEED])(phy.sequencing))
    phy = ResetInserter(["sys"])(phy)
    phy.reset = phy.reset_sys
    phy.comb += [core.reset_sys.eq(phy.reset), core.reset_feed.eq(phy.reset)]
    return phy


class _Blocks:
    """Holds the blocks that have registers."""


class Soc(Module):
    """variant: `variants.Variant`. build_id: text for the descriptor. simulation: with the time base's load port.
    clock: `ClockControl` where a synthesiser makes the clock, with its number in the descriptor, `synthesiser`.

    Ports: `gp0` (LiteX AXI slave), `gp1` (the same, or None without remote memory), `interrupts` (IRQF2P; 0: copies),
    `acp` (`AcpMaster`), `hp_read` (DMA, words for pulse cores), `hp_write` (analyzer), `event_o`, `event_i`, `emio_o`,
    `emio_i` (64 lines of the GPIO controller each way), `pads` (list of `Pad`).
    `descriptor`: what the descriptor memory says. `register_blocks`: the
    blocks that have registers, by the prefix of their names. `outputs`: of pulse cores, each the number of its RTIO
    channel, its own number there, its `pulse.channel.Channel`, and its PHY's reset; `settings`: by such a number,
    `Settings`. `links`: `Links`. Simulation only: `load` and `load_value` set the counter; `settled`, nothing moves but
    time; `waits`, nothing moves but time and pulse cores, whatever those do; `feeds`, in those segments or words move;
    `next_due`, latest coarse time to which the counter may be moved. Pulse cores are in domains PLAY and FEED then.
    `wakes`: which
    parts must be clocked (`Resting`).
    """

    def __init__(self, variant, build_id, simulation=False, clock=None, synthesiser=0):
        phys = make_phys(variant.channels)
        injectors = {
            number: TtlInjector(phy.pads[0])
            for number, phy in phys.items()
            if KINDS[variant.channels[number].kind].injectable
        }
        self.pads = [
            injectors[number].pad if number in injectors else pad for number, phy in phys.items() for pad in phy.pads
        ]
        cores = [phy.sequencing for phy in phys.values() if isinstance(phy, Pulse)]
        phys = {number: _resettable(phy, simulation) for number, phy in phys.items()}
        sampling = [phy for phy in phys.values() if isinstance(phy, InOut)]
        if simulation:
            for phy in sampling:
                ClockDomainsRenamer(INPUTS)(phy)
        channels = [
            phys[number].channel if number in phys else Channel(number, discard=True)
            for number in range(len(variant.channels))
        ]
        self.submodules += [*phys.values(), *injectors.values()]
        timebase = TimeBase(loadable=simulation or variant.uplink)
        self.submodules.links = links = Links(variant, timebase, phases=not simulation)
        self.submodules.core = core = RtioCore(
            channels,
            lanes=variant.lanes,
            reorder=variant.reorder,
            push_inputs=variant.push_inputs and any(c.input is not None for c in channels),
            simulation=simulation,
            timebase=timebase,
            foreign=[near.errors for near in links.near],
            **({"network": NETWORK, "inputs": INPUTS} if simulation else {}),
            depth=LANE_DEPTH if variant.uplink else DEPTH,
        )
        cri, own = core.cri, links.own
        if links.near or variant.uplink:
            self.submodules.router = router = CriRouter(core.cri, links.remotes, own if variant.uplink else None)
            cri = router.cri
        self.submodules.arbiter = arbiter = CriArbiter(cri, urgent=variant.uplink)
        if variant.uplink:
            links.attach(core, arbiter.urgent)
        links.complete()
        roomy = reduce(and_, [near.roomy for near in links.near], core.roomy)
        self.submodules.initiator = initiator = RingInitiator(arbiter.ports[0], roomy, core.pusher)
        self.submodules.dma_engine = dma = DmaEngine(len(cri.output.data))
        self.submodules.analyzer_block = analyzer = Analyzer(cri, core.timebase.coarse, core.pusher)
        monitored = {
            number: phy for number, phy in phys.items() if hasattr(phy, "probes") or hasattr(phy, "probe_port")
        } | injectors
        self.submodules.monitor = monitor = MonitorInjector(monitored)
        self.comb += [_connect(dma.cri, arbiter.ports[1]), arbiter.soon.eq(initiator.soon)]

        blocks = _Blocks()
        far = links.far
        blocks.rtio = self.submodules.rtio = RtioRegisters(
            core,
            clock.discard if clock is not None else None,
            far.reset if far is not None else None,
            held=int(far is None),
        )
        blocks.initiator = self.submodules.initiator_registers = InitiatorRegisters(initiator)
        blocks.dma = self.submodules.dma = DmaRegisters(dma)
        blocks.analyzer = self.submodules.analyzer = AnalyzerRegisters(analyzer)
        streams = []
        for n, phy in enumerate(phy for phy in phys.values() if isinstance(phy, Pulse)):
            stream = StreamReader()
            registers = PulseRegisters(
                phy.sequencing, phy.direct, SAMPLES, SAMPLES * RTIO_FREQUENCY, stream, phy.stream
            )
            self.submodules += stream
            setattr(self.submodules, f"pulse{n or ''}", registers)
            setattr(blocks, f"pulse{n or ''}", registers)
            self.comb += registers.reset.eq(phy.reset)
            streams.append(stream)
        if far is not None:
            blocks.uplink = self.submodules.uplink = UplinkRegisters(far)
            self.comb += own.eq(blocks.uplink.destination.storage)
        for name, registers in links.register_blocks.items():
            setattr(self.submodules, name, registers)
            setattr(blocks, name, registers)
        blocks.moninj = self.submodules.moninj = MoninjRegisters(monitor)
        blocks.scratch = self.submodules.scratch = ScratchRegisters()
        asides = {number: phy for number, phy in phys.items() if isinstance(phy, SpiAside)}
        if asides:
            blocks.spi = self.submodules.spi = SpiRegisters(asides)
        self.comb += dma.hold.eq(blocks.analyzer.lossless.storage & analyzer.throttle)
        traffic = None
        self.emio_o, self.emio_i = Signal(64), Signal(64)
        if variant.traffic:
            self.submodules.traffic_engine = traffic = TrafficEngine()
            self.submodules.lines = lines = Lines()
            blocks.traffic = self.submodules.traffic = TrafficRegisters(traffic, lines)
            self.comb += [lines.o.eq(self.emio_o), self.emio_i.eq(lines.i)]
        phy_reset = self.rtio.phy_reset.storage
        if clock is not None:
            self.submodules.clock_control = clock
            blocks.clock = self.submodules.clock = ClockRegisters(clock)
            phy_reset = phy_reset | clock.hold
        if far is not None:
            phy_reset = phy_reset | far.phy_reset
        self.comb += [phy.reset.eq(phy_reset) for phy in phys.values()]
        for near in links.near:
            self.comb += [near.phy_reset.eq(phy_reset), near.reset.eq(core.reset)]
        self.settings = {number: phy.settings for number, phy in phys.items() if isinstance(phy, Pulse)}
        self.outputs = [
            (number, n, source, phy.reset)
            for number, phy in phys.items()
            for n, source in enumerate(getattr(phy, "outputs", []))
        ]

        self.descriptor = Descriptor(
            identification=f"{variant.name};{__version__}",
            build_id=build_id,
            rtio_frequency=RTIO_FREQUENCY,
            fine_bits=FINE_BITS,
            channels=[
                RtioChannel(number, spec.kind, spec.name, dict(spec.parameters))
                for number, spec in variant.numbered_channels()
            ],
            synthesiser=synthesiser,
        )

        def describe(registers):
            self.descriptor.registers = registers
            return self.descriptor.to_words()

        self.register_blocks = vars(blocks)
        self.submodules.bus = bus = Gp0Bus(blocks, describe)
        if simulation:
            for domain, part in [(REGISTERS, bus), (DMA, dma), (ANALYZER, analyzer)]:
                ClockDomainsRenamer(domain)(part)
        self.gp0 = bus.axi
        self.gp1 = links.window.axi if links.window is not None else None
        self.interrupts = Signal(16)
        self.comb += self.interrupts[0].eq(reduce(or_, [memory.irq for memory in links.memories], C(0)))
        self.acp = initiator.bus
        self.hp_write = share_writes(self, [analyzer.bus, *[w for memory in links.memories for w in memory.writers]])
        readers = [dma.bus] + [bus for stream in streams for bus in stream.buses]
        readers += [reader for memory in links.memories for reader in memory.readers]
        if traffic is not None:
            readers.append(traffic.hp_read)
            self.submodules.acp_loan = Loan(initiator.bus, traffic.acp, traffic.wants_acp)
            self.submodules.hp_loan = Loan(self.hp_write, traffic.hp_write, traffic.wants_hp_write)
            self.acp, self.hp_write = self.acp_loan.bus, self.hp_loan.bus
        self.hp_read = share(self, readers)
        self.event_o = initiator.event_o
        self.event_i = initiator.event_i
        for memory in links.memories:
            # A copy that is complete wakes the processors as an answer of the initiator does
            toggled, told = Signal(), Signal()
            self.sync += If(memory.done, toggled.eq(~toggled))
            self.comb += told.eq(self.event_i ^ toggled)
            self.event_i = told
        loads = [(far.time_load, far.time_value)] if far is not None else []
        if simulation:
            self.load, self.load_value = Signal(), Signal(COARSE_BITS)
            loads.append((self.load, self.load_value))
        for load, value in loads:
            self.comb += If(load, timebase.load.eq(1), timebase.load_value.eq(value))
        if simulation:
            self.settled, self.waits, self.feeds = Signal(), Signal(), Signal()
            parts = [core.settled, initiator.settled, dma.settled, analyzer.settled, arbiter.settled, bus.idle]
            parts += links.settled()
            parts += [block.settled for block in [clock, traffic] if block is not None]
            still = reduce(and_, parts)
            self.comb += [
                self.settled.eq(reduce(and_, [still, *[part.settled for part in [*streams, *cores]]])),
                # A stream that waits for room in a core goes on when that says so; a wave has edges of its own
                self.waits.eq(
                    reduce(and_, [still, *[s.idle for s in streams], *[wave.word == 0 for wave in core.waves]])
                ),
                self.feeds.eq(reduce(or_, [part.feeds for part in cores], 0)),
            ]
            self.next_due = core.next_due
            seen = cri.output.valid | cri.output_done | cri.input.valid | cri.input_done | analyzer.bus.bvalid
            if core.pusher is not None:
                seen |= core.pusher.taken
            sampled = reduce(or_, [phy.channel.output.stb | ~phy.channel.settled for phy in sampling], phy_reset)
            moving = {
                NETWORK: core.leaving,
                INPUTS: core.entering | sampled,
                ANALYZER: ~bus.idle | ~analyzer.settled | seen,
                DMA: ~bus.idle | dma.busy,
                REGISTERS: ~bus.idle,
            }
            if far is not None:
                # The board above writes a register: the name that it gives this one
                moving[REGISTERS] |= far.named
            self.submodules.resting = resting = Resting(moving)
            self.wakes = resting.wakes
            connected, permit_end = initiator.permit.free_running.skip_with(core.timebase)
            self.comb += connected
            for flag, time in [permit_end, *(due for near in links.near for due in near.dues)]:
                earlier = Signal.like(core.next_due)
                self.comb += earlier.eq(Mux(flag & (time < self.next_due), time, self.next_due))
                self.next_due = earlier
