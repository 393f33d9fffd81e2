"""Board `zc706`: AMD's Zynq-7000 evaluation board (XC7Z045-2). Writes Verilog, constraints and a Vivado script.

Pads, in the order of the variant's channels: the eight pins of PMOD1 (J58), then the four user LEDs. Pin locations
come from Migen's platform file. Simple PHYs use one sample per cycle, in an I/O register where the tool can place one.
"""

from pathlib import Path

from migen import *
from migen.build.platforms import zc706

from ..descriptor import Descriptor
from ..soc.ps7 import Ps7
from ..soc.soc import Soc

__all__ = ["NAME", "Zc706", "generate"]

NAME = "kairos_zc706"
_SYS_PERIOD_NS = 8.0


def _pins(platform):
    """Pins for pads, in order, as (signal, can be an input)."""
    for i in range(8):
        yield platform.request("pmod1", i), True
    for i in range(4):
        yield platform.request("user_led", i), False


class Zc706(Module):
    """Top module. The variant may have at most 12 pads, bidirectional ones among the first eight."""

    def __init__(self, platform, variant, build_id):
        self.submodules.soc = soc = Soc(variant, build_id)
        self.submodules.ps7 = Ps7(soc)
        self.descriptor = soc.descriptor

        # # #

        pins = _pins(platform)
        for pad in soc.pads:
            pin, bidirectional = next(pins, (None, False))
            if pin is None:
                raise ValueError(f"zc706 has no pin left for {pad.name}")
            if pad.direction == "out":
                self.comb += pin.eq(pad.o[0])
            elif bidirectional:
                tristate = TSTriple()
                self.specials += tristate.get_tristate(pin)
                self.comb += [
                    tristate.o.eq(pad.o[0]),
                    tristate.oe.eq(pad.oe),
                    pad.i.eq(Replicate(tristate.i, len(pad.i))),
                ]
            else:
                raise ValueError(f"{pad.name} is bidirectional, but its pin on zc706 drives an LED")
        platform.add_platform_command(f"create_clock -name sys_clk -period {_SYS_PERIOD_NS} [get_pins ps7/FCLKCLK[0]]")


def generate(variant, build_id: str, output: Path) -> Descriptor:
    """Writes `kairos_zc706.v`, `.xdc` and `.tcl` (run with `vivado -mode batch -source kairos_zc706.tcl`)."""
    platform = zc706.Platform()
    platform.toolchain.bitstream_commands.append("set_property BITSTREAM.GENERAL.COMPRESS True [current_design]")
    top = Zc706(platform, variant, build_id)
    platform.build(top, build_dir=str(output), build_name=NAME, run=False)
    return top.descriptor
