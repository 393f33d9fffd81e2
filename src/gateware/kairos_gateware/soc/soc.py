"""A variant's logic on the ports of the processing system: the part common to all boards, real or
simulated."""

from functools import reduce
from operator import and_, or_
from types import SimpleNamespace

from migen import *

from .. import __version__
from ..analyzer.analyzer import Analyzer
from ..analyzer.registers import AnalyzerRegisters
from ..descriptor import Descriptor, RtioChannel
from ..dma.engine import DmaEngine
from ..dma.port import share, share_writes
from ..dma.registers import DmaRegisters
from ..dma.stream import StreamReader
from ..identity import UNIDENTIFIED
from ..initiator.registers import InitiatorRegisters
from ..initiator.ring import RingInitiator
from ..link.drtio.card import CardServer
from ..moninj.moninj import MonitorInjector
from ..moninj.registers import MoninjRegisters
from ..pad import SAMPLES
from ..phy.spi_aside import SpiRegisters
from ..pulse.registers import PulseRegisters
from ..rtio.arbiter import CriArbiter
from ..rtio.core import DEPTH, RtioCore
from ..rtio.registers import RtioRegisters
from ..rtio.router import CriRouter
from ..rtio.timing import FINE_BITS, TimeBase
from ..traffic.engine import TrafficEngine
from ..traffic.lines import WIDTH, Lines
from ..traffic.port_share import PortShare
from ..traffic.registers import TrafficRegisters
from ..variant import RTIO_FREQUENCY
from .bus import Gp0Bus
from .clock import ClockRegisters
from .links import LANE_DEPTH, Links, UplinkRegisters
from .phys import Phys
from .resting import ANALYZER, DMA, INPUTS, NETWORK, REGISTERS
from .scratch import ScratchRegisters
from .time_skip import Simulated

__all__ = ["Soc"]


class Soc(Module):
    """variant: `variants.Variant`. simulation: adds `Simulated`. clock: `ClockControl` where a synthesiser provides the
    clock, with its number in the descriptor, `synthesiser`. The descriptor has no build id yet (`identify`).

    Ports: `gp0` (LiteX AXI slave), `gp1` (the same, or None without remote memory and bridge), `acp` (`AcpMaster`),
    `hp_read` (DMA, words for pulse cores), `hp_write` (analyzer), `gp_slave` (`GpPort`, or None), `event_o` and
    `event_i` of the initiator. `interrupts` (out, 16 bits): IRQF2P; 0: copies, 1: posted stores, 2: bridges. `emio_o`
    (in, 64 bits), `emio_i` (out, 64 bits): lines of the GPIO controller each way.

    `phys`: `Phys`, with the pads. `links`: `Links`. `core`: `RtioCore`. `descriptor`: contents of the
    descriptor memory. `register_blocks`: the blocks that have registers, by the prefix of their names.
    `simulated`: `Simulated`, or None.
    """

    def __init__(self, variant, simulation=False, clock=None, synthesiser=0):
        self.clock_control = None
        if clock is not None:
            self.submodules.clock_control = clock
        self.submodules.phys = Phys(variant.channels, simulation)
        self._timeline(variant, simulation)
        self._initiators()
        self.register_blocks = {}
        self._registers()
        self._pulse_cores()
        self._traffic(variant)
        self._resets()
        self._bus(variant, synthesiser)
        self._memory()
        self._events()
        self._simulation(simulation)

    def _timeline(self, variant, simulation):
        """Adds the RTIO core, the boards beyond links, and `cri`, the path to all of them; its
        `arbiter`."""
        timebase = TimeBase(loadable=simulation or variant.uplink)
        self.submodules.links = links = Links(variant, timebase, phases=not simulation)
        channels = self.phys.channels
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
        self.cri = core.cri
        if links.near or variant.uplink:
            self.submodules.router = CriRouter(core.cri, links.remotes, links.own if variant.uplink else None)
            self.cri = self.router.cri
        self.submodules.arbiter = arbiter = CriArbiter(self.cri, urgent=variant.uplink)
        if variant.uplink:
            links.attach(core, arbiter.urgent)
        links.complete()

    def _initiators(self):
        """Adds the initiators, kernels and DMA, and the observers of their events."""
        core, arbiter = self.core, self.arbiter
        roomy = reduce(and_, [near.roomy for near in self.links.near], core.roomy)
        self.submodules.initiator = initiator = RingInitiator(arbiter.ports[0], roomy, core.pusher)
        self.submodules.dma = dma = DmaEngine(len(self.cri.output.data))
        self.submodules.analyzer = Analyzer(self.cri, core.timebase.coarse, core.pusher)
        self.submodules.monitor = MonitorInjector(self.phys.monitored)
        port = arbiter.ports[1]
        self.comb += [
            dma.cri.output.connect(port.output),
            dma.cri.response.eq(port.response),
            arbiter.soon.eq(initiator.soon),
        ]

    def _add_registers(self, name, registers):
        """name: prefix of the names of the registers."""
        setattr(self.submodules, f"{name}_registers", registers)
        self.register_blocks[name] = registers

    def _registers(self):
        """Adds the registers of the blocks that most boards have."""
        clock, far = self.clock_control, self.links.far
        rtio = RtioRegisters(
            self.core,
            clock.discard if clock is not None else None,
            far.reset if far is not None else None,
            held=int(far is None),
        )
        self._add_registers("rtio", rtio)
        # After a reset, kernels wait for the initiator: then also for cards, which their firmware resets
        self._add_registers("initiator", InitiatorRegisters(self.initiator, self.links.resetting))
        self._add_registers("dma", DmaRegisters(self.dma))
        analyzer = AnalyzerRegisters(self.analyzer)
        self._add_registers("analyzer", analyzer)
        self.comb += self.dma.hold.eq(analyzer.lossless.storage & self.analyzer.throttle)
        if far is not None:
            uplink = UplinkRegisters(far)
            self._add_registers("uplink", uplink)
            self.comb += [self.links.own.eq(uplink.destination.storage), far.discards.eq(rtio.asked)]
            self._plays(far.played, uplink)
        for name, registers in self.links.register_blocks.items():
            self._add_registers(name, registers)
        if isinstance(far, CardServer):
            # Its firmware would read probes; here its end of the link does
            self.comb += far.watches(self.monitor)
        else:
            self._add_registers("moninj", MoninjRegisters(self.monitor))
        self._add_registers("scratch", ScratchRegisters())
        if self.phys.asides:
            self._add_registers("spi", SpiRegisters(self.phys.asides))
        if clock is not None:
            self._add_registers("clock", ClockRegisters(clock))

    def _plays(self, played, uplink):
        """Reports the outputs of the player while it plays for the upstream board."""
        output, own = self.arbiter.ports[1].output, self.links.own
        self.comb += [
            played.valid.eq(output.valid & output.ready & uplink.remote_playback.storage),
            played.coarse.eq(output.timestamp[FINE_BITS:]),
            played.channel.eq(Cat(output.channel[:16], (output.channel[16:] - own)[:8])),
        ]

    def _pulse_cores(self):
        """Adds the pulse cores' registers, and the readers of their words in memory."""
        self.streams = []
        for n, phy in enumerate(self.phys.pulses):
            stream = StreamReader()
            self.submodules += stream
            self.streams.append(stream)
            rate = SAMPLES * RTIO_FREQUENCY
            registers = PulseRegisters(phy.sequencing, phy.direct, SAMPLES, rate, stream, phy.stream)
            self._add_registers(f"pulse{n or ''}", registers)
            self.comb += registers.reset.eq(phy.reset)

    def _traffic(self, variant):
        """Adds the engine that measures the ports, and the lines of the GPIO controller."""
        self.traffic = None
        self.emio_o, self.emio_i = Signal(64), Signal(64)
        if variant.traffic:
            self.submodules.traffic = TrafficEngine()
            self.submodules.lines = lines = Lines()
            self._add_registers("traffic", TrafficRegisters(self.traffic, lines))
            self.comb += [lines.o.eq(self.emio_o), self.emio_i[WIDTH:].eq(lines.i[WIDTH:])]

    def _resets(self):
        """PHYs are held in reset by the registers, without a clock, and by the upstream board; those
        of downstream boards along with them."""
        held = self.register_blocks["rtio"].phy_reset.storage
        if self.clock_control is not None:
            held = held | self.clock_control.hold
        if self.links.far is not None:
            held = held | self.links.far.phy_reset
        self.comb += self.phys.reset.eq(held)
        for near in self.links.near:
            self.comb += [near.phy_reset.eq(self.phys.reset), near.reset.eq(self.core.reset)]

    def _bus(self, variant, synthesiser):
        """Adds the registers' port, with the descriptor, which lists the registers."""
        self.descriptor = Descriptor(
            identification=f"{variant.name};{__version__}",
            build_id=UNIDENTIFIED,
            rtio_frequency=RTIO_FREQUENCY,
            fine_bits=FINE_BITS,
            channels=[
                RtioChannel(number, spec.kind, spec.name, dict(spec.parameters))
                for number, spec in variant.numbered_channels()
            ],
            synthesiser=synthesiser,
            board=variant.board,
        )

        def describe(registers):
            self.descriptor.registers = registers
            return self.descriptor.to_words()

        # Only a link's mailbox has registers whose reading has side effects
        self.submodules.bus = Gp0Bus(SimpleNamespace(**self.register_blocks), describe, taking=bool(self.links.ends))
        self.gp0 = self.bus.axi

    def _memory(self):
        """Connects the ports to memory, each shared by its clients."""
        memories = self.links.memories
        self.gp1, self.gp_slave = self.links.port, self.links.gp
        self.acp = self.initiator.bus
        for memory in memories:
            self.submodules += (borrowed := PortShare(self.acp, memory.acp, memory.wants_acp))
            self.acp = borrowed.bus
        self.hp_write = share_writes(self, [self.analyzer.bus, *self.links.writers])
        readers = [self.dma.bus] + [bus for stream in self.streams for bus in stream.buses]
        readers += self.links.readers
        if self.traffic is not None:
            readers.append(self.traffic.hp_read)
            self.submodules.acp_share = PortShare(self.acp, self.traffic.acp, self.traffic.wants_acp)
            self.submodules.hp_share = PortShare(self.hp_write, self.traffic.hp_write, self.traffic.wants_hp_write)
            self.acp, self.hp_write = self.acp_share.bus, self.hp_share.bus
        self.hp_read = share(self, readers)

    def _events(self):
        """Connects the events that wake the processors, and interrupts."""
        memories = self.links.memories
        self.interrupts = Signal(16)
        for number, levels in ({0: []} | self.links.irqs).items():
            self.comb += self.interrupts[number].eq(reduce(or_, levels, C(0)))
        self.event_o, self.event_i = self.initiator.event_o, self.initiator.event_i
        for memory in memories:
            # A completed copy wakes the processors like an answer of the initiator
            toggled, level = Signal(), Signal()
            self.sync += If(memory.done, toggled.eq(~toggled))
            self.comb += level.eq(self.event_i ^ toggled)
            self.event_i = level

    def _simulation(self, simulation):
        """Adds the clock domains that may rest, and the sources that may set the counter: the upstream
        board, the simulation."""
        self.simulated, timebase, far = None, self.core.timebase, self.links.far
        if simulation:
            for domain, part in [(REGISTERS, self.bus), (DMA, self.dma), (ANALYZER, self.analyzer)]:
                ClockDomainsRenamer(domain)(part)
            self.submodules.simulated = Simulated(self)
        setters = [(far.time_load, far.time_value)] if far is not None else []
        if simulation:
            setters.append((self.simulated.load, self.simulated.load_value))
        for load, value in setters:
            self.comb += If(load, timebase.load.eq(1), timebase.load_value.eq(value))
