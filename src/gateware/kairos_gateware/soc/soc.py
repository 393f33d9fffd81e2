"""A variant's logic on the ports of the processing system: what every board, real or simulated, has in common."""

from functools import reduce
from operator import and_

from migen import *

from .. import __version__
from ..analyzer.analyzer import Analyzer
from ..analyzer.registers import AnalyzerRegisters
from ..descriptor import Descriptor, RtioChannel
from ..dma.engine import DmaEngine
from ..dma.port import share
from ..dma.registers import DmaRegisters
from ..dma.stream import StreamReader
from ..initiator.registers import InitiatorRegisters
from ..initiator.ring import RingInitiator
from ..link.mailbox import Mailbox, MailboxRegisters
from ..link.rtio_near import NearRtio
from ..link.rtio_registers import SatelliteRegisters
from ..moninj.moninj import MonitorInjector, TtlInjector
from ..moninj.registers import MoninjRegisters
from ..pad import SAMPLES
from ..phy.kinds import KINDS, make_phys
from ..phy.pulse import Pulse
from ..pulse.registers import PulseRegisters
from ..rtio.arbiter import CriArbiter
from ..rtio.core import RtioCore
from ..rtio.link import Channel
from ..rtio.registers import RtioRegisters
from ..rtio.router import CriRouter
from ..rtio.timing import FINE_BITS, TimeBase
from ..variant import RTIO_FREQUENCY
from .bus import Gp0Bus
from .clock import ClockRegisters
from .satellite import data_width

__all__ = ["Soc"]


def _connect(cri, port):
    """An initiator that brings its own CRI, to a port of the arbiter."""
    return [cri.output.connect(port.output), cri.response.eq(port.response)]


class _Blocks:
    """Holds the blocks that have registers."""


class Soc(Module):
    """variant: `variants.Variant`. build_id: text for the descriptor. simulation: with the time base's load port.
    clock: `ClockControl` where a synthesiser makes the clock, with its number in the descriptor, `synthesiser`.

    Ports: `gp0` (LiteX AXI slave), `acp` (`AcpMaster`), `hp_read` (DMA, words for pulse cores), `hp_write` (analyzer),
    `event_o`, `event_i`, `pads` (list of `Pad`). `descriptor`: what the descriptor memory says. `register_blocks`: the
    blocks that have registers, by the prefix of their names. `outputs`: of pulse cores, each the number of its RTIO
    channel, its own number there, its `pulse.channel.Channel`, and its reset. `links`: of the satellites, by their
    destination, each a `NearRtio`. `settled`, simulation only: nothing moves but time.
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
        phys = {number: ResetInserter()(phy) for number, phy in phys.items()}
        channels = [
            phys[number].channel if number in phys else Channel(number, discard=True)
            for number in range(len(variant.channels))
        ]
        self.submodules += [*phys.values(), *injectors.values()]
        timebase = TimeBase(loadable=simulation)
        self.links = {
            destination: NearRtio(timebase, data_width(satellite), destination)
            for destination, satellite in enumerate(variant.satellites, 1)
        }
        self.submodules += self.links.values()
        self.submodules.core = core = RtioCore(
            channels,
            lanes=variant.lanes,
            reorder=variant.reorder,
            push_inputs=variant.push_inputs and any(c.input is not None for c in channels),
            simulation=simulation,
            timebase=timebase,
            foreign=[near.errors for near in self.links.values()],
        )
        cri = core.cri
        if self.links:
            self.submodules.router = router = CriRouter(
                core.cri, {destination: near.cri for destination, near in self.links.items()}
            )
            cri = router.cri
        self.submodules.arbiter = arbiter = CriArbiter(cri)
        self.submodules.initiator = initiator = RingInitiator(arbiter.ports[0], core.roomy, core.pusher)
        self.submodules.dma_engine = dma = DmaEngine(len(cri.output.data))
        self.submodules.analyzer_block = analyzer = Analyzer(cri, core.timebase.coarse, core.pusher)
        monitored = {number: phy for number, phy in phys.items() if hasattr(phy, "probes")} | injectors
        self.submodules.monitor = monitor = MonitorInjector(monitored)
        self.comb += [_connect(dma.cri, arbiter.ports[1]), arbiter.soon.eq(initiator.soon)]

        blocks = _Blocks()
        blocks.rtio = self.submodules.rtio = RtioRegisters(core, clock.discard if clock is not None else None)
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
        for n, near in enumerate(self.links.values()):
            registers = SatelliteRegisters(near)
            setattr(self.submodules, f"satellite{n or ''}", registers)
            setattr(blocks, f"satellite{n or ''}", registers)
            self.comb += near.reset.eq(core.reset)
        mailboxes = [("mailbox", n, near) for n, near in enumerate(self.links.values())]
        settled = []
        for prefix, n, end in mailboxes:
            endpoint = end.endpoint
            mailbox = Mailbox(endpoint.sink["auxiliary"], endpoint.source["auxiliary"], end.line_up)
            registers = MailboxRegisters(mailbox)
            self.submodules += mailbox
            settled.append(mailbox.settled)
            setattr(self.submodules, f"{prefix}{n or ''}", registers)
            setattr(blocks, f"{prefix}{n or ''}", registers)
        blocks.moninj = self.submodules.moninj = MoninjRegisters(monitor)
        self.comb += dma.hold.eq(blocks.analyzer.lossless.storage & analyzer.throttle)
        phy_reset = self.rtio.phy_reset.storage
        if clock is not None:
            self.submodules.clock_control = clock
            blocks.clock = self.submodules.clock = ClockRegisters(clock)
            phy_reset = phy_reset | clock.hold
        self.comb += [phy.reset.eq(phy_reset) for phy in phys.values()]
        self.comb += [near.phy_reset.eq(phy_reset) for near in self.links.values()]
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
        self.gp0 = bus.axi
        self.acp = initiator.bus
        self.hp_read = share(self, [dma.bus] + [bus for stream in streams for bus in stream.buses])
        self.hp_write = analyzer.bus
        self.event_o = initiator.event_o
        self.event_i = initiator.event_i
        if simulation:
            self.settled = Signal()
            parts = [core.settled, initiator.settled, dma.settled, analyzer.settled, arbiter.settled, bus.idle]
            parts += [stream.settled for stream in streams]
            parts += [near.settled for near in self.links.values()] + settled
            parts += [clock.settled] if clock is not None else []
            self.comb += self.settled.eq(reduce(and_, parts))
