"""The blocks whose area is measured, each with its ports. A function returns (description, module,
ports)."""

from dataclasses import replace

from migen import *

from ..analyzer.analyzer import Analyzer
from ..contracts import pulse as pulse_facts
from ..dma.engine import DmaEngine
from ..hp import HpRead, HpWrite
from ..initiator.port import AcpMaster
from ..initiator.ring import RingInitiator
from ..moninj.moninj import MonitorInjector, TtlInjector
from ..pad import Pad
from ..phy.edges import EdgeDetector
from ..pulse.channel import Engine
from ..pulse.crosstalk import Crosstalk
from ..pulse.phase import FeedForward
from ..pulse.sequencing import Sequencing
from ..pulse.synthesis import Output, Sum, Tone
from ..pulse.tracker import Tracker
from ..rtio.arbiter import CriArbiter
from ..rtio.cri import Cri
from ..rtio.link import FreeRunning
from ..soc.soc import Soc
from ..traffic.engine import TrafficEngine
from ..traffic.port_share import PortShare
from ..variants import VARIANTS
from .cycles import ttl_core
from .link_blocks import LINK_BLOCKS
from .phys import PHYS

__all__ = ["BLOCKS"]

PULSE_SAMPLES = 8
"""Samples per cycle of the pulse core at the RTIO clock: 1 GS/s."""


def _bus(bus, kind):
    return [getattr(bus, name) for name in kind.OUTPUTS + kind.INPUTS]


def _cri(cri):
    streams = [*cri.output.flatten(), *cri.input.flatten(), *cri.response.flatten()]
    return [*streams, cri.output_done, cri.output_status, cri.input_done, cri.input_status]


def _signals(module, names):
    return [getattr(module, name) for name in names.split()]


def _dma():
    dma = DmaEngine(512)
    names = (
        "start stop clear hold base time_offset format busy error error_channel error_timestamp error_address events"
    )
    ios = [*dma.cri.output.flatten(), dma.cri.response.status, *_bus(dma.bus, HpRead), *_signals(dma, names)]
    return "64-bit port, both formats, 512 data bits", dma, ios


def _analyzer():
    cri, coarse = Cri(64), Signal(61)
    analyzer = Analyzer(cri, coarse)
    names = "enable busy overflow throttle pack base last units messages bus_error"
    ios = [*_cri(cri), coarse, *_bus(analyzer.bus, HpWrite), *_signals(analyzer, names)]
    return "64-bit port, 512 messages, with packing", analyzer, ios


def _rtio():
    core = ttl_core(16, 8)
    return "8 lanes of 128 events, 16 outputs, 8 in/out, without PHYs", core, core.ios


def _reordering():
    core = ttl_core(16, 8, reorder=1024)
    return "as rtio, with any order of 1024 events", core, core.ios


def _initiator():
    cri = Cri(32)
    initiator = RingInitiator(cri)
    names = "event_o event_i enable base busy lost error clear"
    return (
        "kernel initiator, 32 data bits",
        initiator,
        [*_cri(cri), *_bus(initiator.bus, AcpMaster), *_signals(initiator, names)],
    )


def _arbiter():
    core = Cri(32)
    arbiter = CriArbiter(core)
    return "two initiators, 32 data bits", arbiter, [*_cri(core), *_cri(arbiter.ports[0]), *_cri(arbiter.ports[1])]


def _moninj():
    class Block(Module):
        def __init__(self):
            inner = [Pad(f"ttl{i}", "out" if i < 16 else "inout", i) for i in range(24)]
            injectors = {pad.channel: TtlInjector(pad) for pad in inner}
            self.submodules += injectors.values()
            self.submodules.monitor = monitor = MonitorInjector(injectors)
            names = "channel probe update value inject_channel override write inject_value inject_current"
            self.ios = _signals(monitor, names)
            for pad in [*inner, *[injector.pad for injector in injectors.values()]]:
                self.ios += [pad.o, pad.oe, pad.i]

    block = Block()
    return "monitor and injector of 16 outputs and 8 in/out", block, block.ios


def _soc(**changes):
    soc = Soc(replace(VARIANTS["demo"], **changes))
    ios = [signal for channel in ["aw", "w", "b", "ar", "r"] for signal in getattr(soc.gp0, channel).flatten()]
    ios += [*_bus(soc.acp, AcpMaster), *_bus(soc.hp_read, HpRead), *_bus(soc.hp_write, HpWrite)]
    ios += [soc.event_o, soc.event_i]
    for pad in soc.phys.pads:
        ios += [pad.o, pad.oe, pad.i]
    return "everything of variant demo but the processing system", soc, ios


def _soc_asked():
    what, soc, ios = _soc(push_inputs=False)
    return f"{what}, inputs not pushed", soc, ios


def _traffic():
    class Block(Module):
        def __init__(self):
            self.submodules.engine = engine = TrafficEngine()
            owners = [HpWrite(), AcpMaster()]
            self.submodules.hp = hp = PortShare(owners[0], engine.hp_write, engine.wants_hp_write)
            self.submodules.acp = acp = PortShare(owners[1], engine.acp, engine.wants_acp)
            self.ios = _signals(engine, "start write coherent address size seed busy first last sum error")
            self.ios += _bus(engine.hp_read, HpRead)
            self.ios += [*_bus(owners[0], HpWrite), *_bus(hp.bus, HpWrite)]
            self.ios += [*_bus(owners[1], AcpMaster), *_bus(acp.bus, AcpMaster)]

    block = Block()
    return "block that measures the ports, with what lends it HP and ACP", block, block.ios


def _pulse(size="a quarter of the tables", **tables):
    """The cost of a channel of the pulse core, samples included. tables: their address bits."""

    class Block(Module):
        def __init__(self):
            counter = Signal(pulse_facts.VALUE_BITS)
            self.submodules.sequencing = core = Sequencing(1, **(tables or {"mlut_bits": 11, "plut_bits": 10}))
            self.submodules.forward = forward = FeedForward(PULSE_SAMPLES)
            self.submodules.sum = total = Sum(PULSE_SAMPLES, core.channels[0], forward, counter)
            self.submodules.output = output = Output(total.samples)
            names = "valid ready word trigger result result_valid armed running errors clear hold branch_timeout"
            self.ios = [counter, forward.error, *total.harmonics, *output.samples, output.limited]
            self.ios += [*_signals(core, names), core.misalign_limit, core.channels[0].enable, core.channels[0].gpo]

    block = Block()
    return f"a channel, {PULSE_SAMPLES} samples a cycle, {size}", block, block.ios


def _pulse_half():
    tables = {"mlut_bits": pulse_facts.MLUT_ADDRESS_BITS - 1, "plut_bits": pulse_facts.PLUT_ADDRESS_BITS - 1}
    return _pulse("half of the tables", **tables)


def _pulse_full():
    tables = {"mlut_bits": pulse_facts.MLUT_ADDRESS_BITS, "plut_bits": pulse_facts.PLUT_ADDRESS_BITS}
    return _pulse("full tables", **tables)


def _pulse_segments():
    """The most that a ZC706 takes for eight channels."""
    tables = {"mlut_bits": pulse_facts.MLUT_ADDRESS_BITS - 1, "plut_bits": pulse_facts.PLUT_ADDRESS_BITS}
    return _pulse("the full pulse table, half of the map", **tables)


def _pulse_gates():
    """A channel of a board without converters: nothing takes the values of its engines."""
    core = Sequencing(1, mlut_bits=11, plut_bits=10)
    names = "valid ready word trigger result result_valid armed running errors clear hold branch_timeout"
    ios = [*_signals(core, names), core.misalign_limit, core.channels[0].enable, core.channels[0].gpo]
    return "a channel of which only the levels are used, a quarter of the tables", core, ios


def _pulse_engine():
    engine = Engine(pulse_facts.SEGMENT_FIFO)
    ios = _signals(engine.queue, "we din room empty valid take waits single covers skipped roomy arriving")
    ios += [engine.spline.value, *_signals(engine, "load arm halt run armed starts ends flags")]
    return "an engine of a pulse channel with its FIFO", engine, ios


def _pulse_tone():
    class Block(Module):
        def __init__(self):
            counter = Signal(pulse_facts.VALUE_BITS)
            self.submodules.forward = forward = FeedForward(PULSE_SAMPLES)
            self.submodules.tone = tone = Tone(PULSE_SAMPLES, forward, counter)
            self.ios = [counter, forward.error, tone.amplitude, *tone.samples]
            self.ios += _signals(tone.phase, "frequency phase frame synchronise follow harmonic")

    block = Block()
    return f"a tone of a pulse channel, {PULSE_SAMPLES} samples a cycle", block, block.ios


def _pulse_tracker():
    class Block(Module):
        def __init__(self):
            pad = Pad("beat", "inout", 0, True)
            self.submodules.edges = edges = EdgeDetector(pad)
            self.submodules.tracker = tracker = Tracker(edges, FreeRunning(), PULSE_SAMPLES)
            names = (
                "nominal restart proportional integral limit patience error update proposed taken clear locked limited"
            )
            self.ios = [pad.i, *_signals(tracker, f"{names} lost count")]

    block = Block()
    return "tracker of a beat at a serialised pin", block, block.ios


def _pulse_crosstalk():
    """The cost of compensation for five channels, of which the one in the middle has four
    neighbours."""
    per_cycle = pulse_facts.SAMPLES_PER_CYCLE

    def signal(name):
        return [Signal((pulse_facts.SUM_BITS, True), name=f"{name}_{n}") for n in range(per_cycle)]

    signals = [(signal(f"real_{c}"), signal(f"imaginary_{c}")) for c in range(5)]
    block = Crosstalk(signals)
    ios = [part for parts in signals for each in parts for part in each] + [
        part for sums in block.sums for part in sums
    ]
    ios += [*_signals(block, "write commit channel offset delay zero"), *block.factor]
    return f"five channels, {per_cycle} samples a cycle", block, ios


BLOCKS = {
    "dma": _dma,
    "analyzer": _analyzer,
    "rtio": _rtio,
    "rtio_reordering": _reordering,
    "initiator": _initiator,
    "arbiter": _arbiter,
    "moninj": _moninj,
    "pulse_channel": _pulse,
    "pulse_channel_half": _pulse_half,
    "pulse_channel_full": _pulse_full,
    "pulse_channel_segments": _pulse_segments,
    "pulse_gates": _pulse_gates,
    "pulse_engine": _pulse_engine,
    "pulse_tone": _pulse_tone,
    "pulse_tracker": _pulse_tracker,
    "pulse_crosstalk": _pulse_crosstalk,
    "traffic": _traffic,
    "soc": _soc,
    "soc_asked": _soc_asked,
    **LINK_BLOCKS,
    **PHYS,
}
