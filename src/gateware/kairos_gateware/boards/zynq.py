"""Common parts of all boards with a Zynq: the processing system, pads on pins, files for Vivado.

A board is a module of this package with `BOARD`. `generate` writes `kairos_<board>.v`, `.xdc` and
`.tcl`; in that folder, `vivado -mode batch -source kairos_<board>.tcl` builds the bitstream.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from migen import *

from ..contracts import kasli_soc
from ..descriptor import Descriptor
from ..identity import identify
from ..pad import SAMPLES, Pad
from ..pulse.settings import Sampled
from ..soc.clock import ClockControl
from ..soc.ps7 import Ps7
from ..soc.soc import Soc
from ..verilog import uncollected
from .clocking import BOOT_DOMAIN, FixedClock, Synthesiser, connect, reference
from .coaxpress import connect_cameras
from .eem import connect_cards
from .io import PadIo
from .links import Cages, connect_links

__all__ = ["Board", "Top", "generate", "in_turn", "oscillator_bus"]

_SYS_PERIOD_NS = 8.0
_READ = re.compile(r"\$readmemh\(\"([^\"]+)\"")
"""Files with the contents of memories."""
_BANK = 32
"""Lines of a bank of the GPIO controller, of which bank 2 is the first one that leads to the logic."""


@dataclass(frozen=True)
class Board:
    """name: as on the command line. platform: creates Migen's platform. pins: called with the
    platform, returns a function from pads to `io.Pin`, which raises ValueError if there is none.
    serialises: the chip's speed grade allows 1 Gbit/s at the pins. host: default network address.
    synthesiser: None if the RTIO clock can only be the processing system's. converters: by name of
    a connector, the sink for the card that it may have, created from platform, connector and a
    channel's samples. cages: for links to other boards. oscillator: resource with the I2C bus of an
    oscillator, which the firmware drives. cards: called with the platform and the number of an EEM connector, returns
    its eight pairs for a link to a card, the first four from it; None: there are no such links."""

    name: str
    platform: Callable
    pins: Callable
    serialises: bool
    host: str
    synthesiser: Synthesiser | None = None
    converters: dict[str, Callable] = field(default_factory=dict)
    cages: Cages | None = None
    oscillator: str | None = None
    cards: Callable | None = None

    @property
    def build_name(self) -> str:
        return f"kairos_{self.name}"


class Top(Module):
    """Top module of a board. Raises ValueError if the board does not support the variant."""

    def __init__(self, board, platform, variant):
        cards = {f"down{n + 1}": behind for n, behind in enumerate(variant.satellites) if behind.eem is not None}
        for behind in cards.values():
            if board.cards is None:
                raise ValueError(
                    f"{behind.name} at EEM {behind.eem}: {board.name} has no transceiver for links over EEM connectors"
                )
        chip = board.synthesiser
        linked = bool(variant.satellites or variant.uplink)
        if variant.synthesiser and chip is None:
            raise ValueError(f"{variant.name}: {board.name} has its RTIO clock from the processing system only")
        if chip is not None and not (variant.synthesiser or chip.always or linked):
            chip = None
        control = None if chip is None else ClockControl(BOOT_DOMAIN)
        self.submodules.soc = soc = Soc(variant, clock=control, synthesiser=0 if chip is None else chip.number)
        self.descriptor = soc.descriptor
        serialised = [pad.name for pad in soc.phys.pads if pad.serialised]
        if serialised and not board.serialises:
            raise ValueError(
                f"{board.name} has no pins of 1 ns resolution (speed grade of the chip), but {serialised[0]} needs one"
            )
        self.submodules.ps7 = ps7 = Ps7(soc)

        # # #

        if board.oscillator is not None:
            oscillator_bus(self, platform.request(board.oscillator), soc.emio_o, soc.emio_i)
        find = board.pins(platform)
        fast = bool(serialised or variant.converters)
        grabbers = soc.phys.grabbers
        inside = [pad for grabber in grabbers for pad in grabber.pads]
        for pad in soc.phys.pads:
            if pad not in inside:
                self.submodules += PadIo(pad, find(pad), fast)
        for pin in variant.low:
            pad = Pad(f"{pin.rpartition(':')[2]}_low", "out", 0)
            pad.pin = pin
            self.comb += pad.oe.eq(1)
            self.submodules += PadIo(pad, find(pad), fast)
        if soc.phys.waveforms:
            channel = variant.channels[min(soc.phys.waveforms)]
            card = channel.kind.capitalize()
            raise ValueError(
                f"{channel.name}: {board.name} has no pins for a {card}'s DACs, only simulation has {card}s"
            )
        if variant.converters:
            self._convert(board, platform, variant)
        platform.add_platform_command(f"create_clock -name sys_clk -period {_SYS_PERIOD_NS} [get_pins ps7/FCLKCLK[0]]")
        clock, received = None if chip is None else reference(self, platform, chip), None
        if linked:
            # A satellite's clock is that of the upstream board
            ends = {name: end for name, end in soc.links.ends.items() if name not in cards}
            if ends:
                source = clock and clock[1]
                first = connect_links(
                    self, platform, board.name, board.cages, ends, soc.links.wires, source, BOOT_DOMAIN
                )
                received = first if variant.uplink else None
            if cards:
                connectors = {name: behind.eem for name, behind in cards.items()}
                connect_cards(self, platform, board.cards, soc.links, connectors, BOOT_DOMAIN)
        if grabbers:
            links = len(soc.links.ends) - len(cards) if linked else 0
            connect_cameras(self, platform, board, grabbers, links, BOOT_DOMAIN)
        if chip is None:
            self.submodules += FixedClock(ps7.fclk[0], ps7.fclk_reset_n[0], fast)
        else:
            steps = soc.links.far.steps if received is not None else None
            connect(self, platform, chip, control, ps7, clock, received, steps)

    def _convert(self, board, platform, variant):
        """Connects samples of the first pulse core's outputs to the converter cards: one of each, or both parts of
        one."""
        first, cards = min(self.soc.phys.settings, default=None), len(variant.converters)
        needed = cards // 2 if variant.quadrature else cards
        outputs = [output for output in self.soc.phys.outputs if output[0] == first][:needed]
        if len(outputs) < needed or not set(variant.converters) <= set(board.converters):
            known = ", ".join(board.converters) or "none"
            raise ValueError(
                f"{variant.name}: converter cards on {', '.join(variant.converters)}, but {board.name} has connectors "
                f"{known}, and the variant {len(outputs)} outputs of a pulse core"
            )
        channels, settings = [channel for _, _, channel, _ in outputs], self.soc.phys.settings[first]
        # Tones synchronise to RTIO's time.
        time = self.soc.core.timebase.coarse
        sampled = ResetInserter()(Sampled(channels, settings, time, SAMPLES, variant.quadrature))
        self.submodules += sampled
        self.comb += sampled.reset.eq(outputs[0][-1])
        parts = [sampled.outputs.samples, *[sampled.outputs.imaginary] * variant.quadrature]
        samples = [part for of_channel in zip(*parts, strict=True) for part in of_channel]
        for connector, given in zip(variant.converters, samples, strict=True):
            self.submodules += board.converters[connector](platform, connector, given)


def oscillator_bus(module, pads, outward, inward):
    """Connects the pins `scl` and `sda` of an I2C bus to lines of the processing system, 64 each way: an output of bank
    3 pulls a pin low, whose level is an input of bank 2."""
    for pin, bit in ((pads.scl, kasli_soc.CLOCK_SCL), (pads.sda, kasli_soc.CLOCK_SDA)):
        line = log2_int(bit)
        module.specials += Instance("IOBUF", io_IO=pin, i_I=0, i_T=~outward[_BANK + line], o_O=inward[line])


def in_turn(board_name, pins):
    """The usual `find`: pads get the pins of an iterator in turn; inputs may skip pins that can
    only drive."""
    waiting = list(pins)

    def find(pad):
        if pad.pin is not None:
            raise ValueError(f"{pad.name}: {board_name} has no pin {pad.pin}")
        for i, pin in enumerate(waiting):
            if pin.bidirectional or pad.direction == "out":
                return waiting.pop(i)
        raise ValueError(f"{board_name} has no pin left for {pad.name}")

    return find


def generate(board: Board, variant, output: Path) -> Descriptor:
    """Write the files into `output`; return the descriptor, with the build id."""
    platform = board.platform()
    platform.toolchain.bitstream_commands.append("set_property BITSTREAM.GENERAL.COMPRESS True [current_design]")
    with uncollected():
        top = Top(board, platform, variant)
        platform.build(top, build_dir=str(output), build_name=board.build_name, run=False)
    verilog = output / f"{board.build_name}.v"
    text = verilog.read_text()
    memories = [output / name for name in _READ.findall(text)]
    others = [path.read_bytes() for path in [*memories, verilog.with_suffix(".xdc")]]
    verilog.write_text(identify(top.descriptor, text, *others))
    return top.descriptor
