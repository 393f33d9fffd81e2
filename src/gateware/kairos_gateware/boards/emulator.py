"""Board `sim`: top module `kairos_sim`, whose ports are those of the processing system, for the
shared library.

Port list: docs/interfaces.md section 6. Time skip: `sim_quiet` means that nothing changes but time,
`sim_next_due` is the coarse time to which the counter may be set by `sim_tsc_load`, whose cycle
must have the inputs of the quiet cycle before it, and a value above that cycle's count. In the
loading cycle itself `sim_quiet` is 0.
"""

import re

from migen import *

from ..identity import identify
from ..link.line.phase import PHASE_BITS, PhaseMeter, SampledClocks
from ..link.line.word import WORD_BITS
from ..pad import SAMPLES, Pad
from ..rtio.timing import COARSE_BITS, FINE_BITS
from ..soc.clock import MEASURED_BITS, ClockControl
from ..soc.resting import RESTING
from ..soc.soc import Soc
from ..verilated.ports import TopLevel
from ..verilog import convert

__all__ = ["TOP", "KairosSim", "generate"]

TOP = "kairos_sim"
_READ = re.compile(r"\$readmemh\(\"([^\"]+)\", (\w+)\);")
_CLOCKS = ["synthesiser", "reference"]
_CLOCK_PADS = (MEASURED_BITS + SAMPLES - 1) // SAMPLES
_WAVE_PADS = 4
"""For each of a wave's numbers, of at most 32 bits."""
_LOCK_CYCLES = 32
_SHOWN = 16
"""Outputs that the recording has numbers for."""
_PHASE_PLACE = 16
"""Width of a link's phase in its port."""
_RX = [("valid", 1), ("word", WORD_BITS), ("up", 1), ("phase", _PHASE_PLACE)]


def _fields(channel, reset, event):
    """The recorded values of an output of a pulse core, each in 64 bits, in the order of the
    recording's fields."""
    levels = Cat(channel.synchronise, channel.feed_forward, channel.enable, channel.gpo, reset)
    for field in [*channel.values, *channel.applied, levels]:
        yield Cat(field, C(0, 64 - len(field)))
    yield event


class _ClockManager(Module):
    """Model of a board's clock manager, whose clocks are all the simulation's: it locks when the
    source is present."""

    def __init__(self, control):
        present = Signal()
        count = Signal(max=_LOCK_CYCLES + 1)
        self.comb += [
            present.eq(~control.source | (control.synthesiser != 0)),
            control.locked.eq(count == _LOCK_CYCLES),
        ]
        self.sync += If(control.reset | ~present, count.eq(0)).Elif(count != _LOCK_CYCLES, count.eq(count + 1))


def _waveforms(spec, number, phy):
    """A Shuttler, Songbird or Phaser as a satellite, as the library describes it."""
    found = {"kind": spec.kind, "name": spec.name, "channel": number, "outputs": len(phy.shown.fields)}
    return found | ({"parameters": phy.shown.parameters} if hasattr(phy.shown, "parameters") else {})


class KairosSim(TopLevel):
    """`ios`: the set of ports. `pads`: list of `Pad`, in the order of the pad ports' bits.
    `clocks`, in a variant with a synthesiser: by name of a register (`clock_...`), the input pads
    after `pads` whose bytes are its value. `outputs`: of pulse cores, as the library describes
    them; `shown` has their values, which the library records and from which the host computes
    samples (docs/gateware/pulse.md). `waveforms`: of Shuttlers, Songbirds and Phasers as satellites,
    likewise; their outputs follow in `shown`.
    `pins`: of all channels on the described board; here they are only a part of the build id.
    `waves`: of clock generators, likewise. `links`: names of the links, in the order of the bits
    and words of their ports (docs/interfaces.md section 6)."""

    def __init__(self, variant):
        super().__init__()
        control = ClockControl(simulation=True) if variant.synthesiser else None
        self.submodules.soc = soc = Soc(variant, simulation=True, clock=control, synthesiser=variant.synthesiser)
        self.pads = soc.phys.pads
        self.pins = [pin for channel in variant.channels for pin in channel.pins]
        self.clocks = {}
        self.descriptor = soc.descriptor

        # # #

        axi = soc.gp0
        for channel in ["aw", "ar"]:
            ax = getattr(axi, channel)
            for field in ["addr", "len", "size", "burst", "id"]:
                self.inward(getattr(ax, field)[:4] if field == "len" else getattr(ax, field), f"gp0_{channel}{field}")
        self.port("gp0_wid", 12)  # write data arrive in the order of the addresses
        for signal, name in [(axi.w.data, "wdata"), (axi.w.strb, "wstrb"), (axi.w.last, "wlast")]:
            self.inward(signal, f"gp0_{name}")
        for channel, names in [("b", ["id", "resp"]), ("r", ["id", "data", "resp"])]:
            for name in names:
                self.outward(getattr(getattr(axi, channel), name), f"gp0_{channel}{name}")
        self.outward(axi.r.last, "gp0_rlast")
        self._handshakes(axi, "gp0")

        self.bridged = any(enters for _, enters in variant.bridges().values())
        if soc.gp1 is not None:
            self._window(soc.gp1)
        self.has_window = soc.gp1 is not None
        self.outward(soc.interrupts, "irq_f2p")

        self._slave_port(soc.acp, "acp")
        self._slave_port(soc.hp_read, "hp0")
        self._slave_port(soc.hp_write, "hp0")
        self.has_slave = soc.gp_slave is not None
        if self.has_slave:
            self._slave_port(soc.gp_slave, "sgp0")
        self.inward(soc.event_o, "event_o")
        self.outward(soc.event_i, "event_i")
        self.inward(soc.emio_o, "emio_o")
        self.outward(soc.emio_i, "emio_i")

        if (variant.satellites or variant.uplink) and variant.push_inputs:
            raise ValueError(
                f"{variant.name}: inputs cannot be pushed where there are links, over which they are asked for"
            )
        timebase, simulated, outputs = soc.core.timebase, soc.simulated, soc.phys.outputs
        self.inward(simulated.load, "sim_tsc_load")
        self.comb += simulated.load_value.eq(self.port("sim_tsc_value", 64))
        self.comb += self.port("sim_tsc", 64).eq(timebase.coarse)
        self.outward(simulated.settled & ~timebase.load, "sim_quiet")
        if outputs:
            self.outward(simulated.waits & ~timebase.load, "sim_waits")
            self.outward(simulated.feeds, "sim_feeds")
        self.outward(simulated.wakes, "sim_wakes")
        for name in RESTING:
            # The ports exist even if the variant has nothing in the domain
            domain = ClockDomain(name)
            self.clock_domains += domain
            self.ios |= {domain.clk, domain.rst}
        next_due = self.port("sim_next_due", 64)
        nothing = simulated.next_due == 2**COARSE_BITS - 1
        self.comb += next_due.eq(Cat(simulated.next_due, Replicate(nothing, FINE_BITS)))
        self._links(soc.links)

        self.outputs = [
            {"name": variant.channels[number].name, "channel": number, "output": output}
            for number, output, _, _ in outputs
        ]
        self.waveforms = [
            _waveforms(variant.channels[number], number, phy) for number, phy in soc.phys.waveforms.items()
        ]
        shown = [
            # Settings belong to the core: its first output carries them
            Cat(*_fields(channel, reset, C(0, 64) if output else soc.phys.settings[number].newest))
            for number, output, channel, reset in outputs
        ]
        shown += [Cat(*fields) for phy in soc.phys.waveforms.values() for fields in phy.shown.fields]
        if len(shown) > _SHOWN:
            raise ValueError(
                f"{variant.name}: pulse cores, Shuttlers, Songbirds and Phasers as satellites have {len(shown)} "
                f"outputs, more than {_SHOWN}"
            )
        if shown:
            self.outward(Cat(*shown), "shown")

        pads = list(self.pads)
        if control is not None:
            self.submodules += _ClockManager(control)
            for name in _CLOCKS:
                measured = [Pad(f"{name}_clock", "in", None) for _ in range(_CLOCK_PADS)]
                self.clocks[name] = list(range(len(pads), len(pads) + _CLOCK_PADS))
                pads += measured
                self.comb += getattr(control, name).eq(Cat(*[pad.i for pad in measured]))
        self.waves = [self._wave(wave, pads, simulated.settled) for wave in soc.core.waves]
        self.pad_ports(pads)

    def _slave_port(self, port, prefix: str):
        """A slave port of the processing system, or half of one, from the logic's side."""
        for name in port.INPUTS:
            self.inward(getattr(port, name), f"{prefix}_{name}")
        for name in port.OUTPUTS:
            self.outward(getattr(port, name), f"{prefix}_{name}")

    def _window(self, axi):
        """Port GP1, whose master makes one access at a time, in words."""
        for channel in ["aw", "ar"]:
            ax = getattr(axi, channel)
            self.inward(ax.addr, f"gp1_{channel}addr")
            self.inward(ax.len[:4], f"gp1_{channel}len")
            if self.bridged:
                self.comb += [ax.size.eq(2), ax.burst.eq(1)]
        for signal, name in [(axi.w.data, "wdata"), (axi.w.strb, "wstrb"), (axi.w.last, "wlast")]:
            self.inward(signal, f"gp1_{name}")
        for signal, name in [
            (axi.r.data, "rdata"),
            (axi.r.resp, "rresp"),
            (axi.r.last, "rlast"),
            (axi.b.resp, "bresp"),
        ]:
            self.outward(signal, f"gp1_{name}")
        self._handshakes(axi, "gp1")

    def _handshakes(self, axi, port):
        """Handshakes of all channels of an AXI port whose master is outside."""
        for channel in ["aw", "w", "ar"]:
            self.inward(getattr(axi, channel).valid, f"{port}_{channel}valid")
            self.outward(getattr(axi, channel).ready, f"{port}_{channel}ready")
        for channel in ["b", "r"]:
            self.outward(getattr(axi, channel).valid, f"{port}_{channel}valid")
            self.inward(getattr(axi, channel).ready, f"{port}_{channel}ready")

    def _wave(self, wave, pads, settled):
        """Adds pads whose bytes are a wave's state while time can be skipped; returns its
        description for the library."""
        first = len(pads)
        for value in (wave.accumulator, wave.word):
            places = [Pad(f"wave_{place}", "out", None) for place in range(_WAVE_PADS)]
            self.comb += Cat(*[place.o for place in places]).eq(Mux(settled, value, 0))
            pads += places
        index = next(index for index, pad in enumerate(self.pads) if pad is wave.pad)
        return {"pad": index, "bits": len(wave.accumulator), "state": first}

    def _links(self, links):
        """Adds the ports of all links side by side: outgoing and incoming words, line state, and
        phase of the received clock."""
        self.links = list(links.ends)
        if not self.links:
            return
        count, wires = len(self.links), list(links.wires.values())
        valid, word, up, phase = [self.port(f"link_rx_{name}", count * width) for name, width in _RX]
        for n, (wire, end) in enumerate(zip(wires, links.ends.values(), strict=True)):
            self.comb += [
                wire.out.ready.eq(1),
                wire.into.valid.eq(valid[n]),
                wire.into.word.eq(word[n * WORD_BITS : (n + 1) * WORD_BITS]),
                end.line_up.eq(up[n]),
            ]
            if hasattr(end, "phase"):
                self._measure(end, phase[n * _PHASE_PLACE :][:PHASE_BITS])
        self.outward(Cat(*[wire.out.valid for wire in wires]), "link_tx_valid")
        self.outward(Cat(*[wire.out.word for wire in wires]), "link_tx_word")

    def _measure(self, end, later):
        """Adds a phase meter for the clock from a satellite, as boards have it, with samples of
        modelled clocks."""
        self.submodules += (clocks := SampledClocks())
        self.submodules += (meter := PhaseMeter(clocks.clock, clocks.reference, "sys"))
        phase = end.phase
        self.comb += [
            clocks.later.eq(later),
            clocks.runs.eq(phase.runs),
            meter.start.eq(phase.start),
            phase.done.eq(meter.done),
            phase.value.eq(meter.value),
        ]


def generate(top: KairosSim) -> str:
    """Verilog of the whole design, without further files: a shared library would not find them, so the
    contents of memories are assigned one by one. The descriptor gets its build id."""
    result = convert(top, top.ios, name=TOP)
    text = _READ.sub(lambda found: _assigned(found[2], result.data_files[found[1]]), result.main_source)
    return identify(top.descriptor, text, *top.pins)


def _assigned(memory: str, content: str) -> str:
    """Statements that fill a memory with hexadecimal words, one a line."""
    words = [word for word in content.split() if word]
    width = 4 * max(len(word) for word in words)
    return "\n".join(f"{memory}[{n}] = {width}'h{word};" for n, word in enumerate(words))
