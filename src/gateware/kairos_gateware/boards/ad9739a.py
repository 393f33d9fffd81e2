"""Sample sink: the converter card AD9739A-FMC-EBZ (14 bits, two parallel LVDS ports) on an FMC
connector.

The converter runs at 2 GHz and takes samples from its two ports alternately, each at 1 Gbit/s per
line and double data rate. Both get the same samples at 1 GS/s: so each is held for two periods of
the converter's clock, as by a converter that runs at 1 GS/s, while this one (1.6 to 2.5 GS/s) is
within its range. Lines are serialised like pads (`io.py`), and so is DCI, the clock that
accompanies the data: a line alternating between 0 and 1, 500 MHz, whose edges coincide with those
of the data. From it the converter derives its own sampling clock, in any phase, so its 2 GHz clock
must share the RTIO clock's frequency but not its phase.

Pins and their sources: `ad9739a.toml`.
"""

import tomllib
from pathlib import Path

from migen import *
from migen.build.generic_platform import IOStandard, Pins, Subsignal

from ..pad import SAMPLES
from .io import Pin, serialiser

__all__ = ["BITS", "CARD", "LATENCY", "Ad9739a", "Lines", "line_pin", "skew_ns"]

CARD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
BITS = 14
LATENCY = 2
"""Cycles from samples to the lines: a register, then the serialiser's."""
_BIT_PS = 1000
"""Duration of a bit of a line."""


class Lines(Module):
    """Levels of the lines. samples: of a cycle, signed, 16 bits, the first in time first.

    `port`: for each bit from the lowest on, SAMPLES bits, the first in time lowest: the samples' upper 14
    bits in offset binary, a cycle later. `clock` (out, 8 bits): likewise DCI.
    """

    def __init__(self, samples):
        self.port = [Signal(SAMPLES, name=f"port_{bit}") for bit in range(BITS)]
        self.clock = Signal(SAMPLES)

        # # #

        if len(samples) != SAMPLES:
            raise ValueError(f"a converter card takes {SAMPLES} samples in a cycle, not {len(samples)}")
        for bit, line in enumerate(self.port):
            at = len(samples[0]) - BITS + bit
            level = Cat(*[sample[at] for sample in samples])
            self.sync += line.eq(~level if bit == BITS - 1 else level)
        self.comb += self.clock.eq(0b10101010)


class Ad9739a(Module):
    """The card on a connector of the platform ("lpc") as sink of `samples`. Clock domains sys and
    `fast`. Raises ValueError if there is no such connector."""

    def __init__(self, platform, connector, samples):
        self.submodules.lines = lines = Lines(samples)

        # # #

        if connector.upper() not in platform.constraint_manager.connector_manager.connector_table:
            raise ValueError(f"{connector}: the board has no such connector for a converter card")
        name = f"{connector}_dac"
        for port in ["db0", "db1"]:
            for bit, (number, data) in enumerate(zip(CARD[port], lines.port, strict=True)):
                self._line(_pair(platform, connector, f"{name}_{port}_{bit}", number), data)
        clock = _pair(platform, connector, f"{name}_dci", CARD["dci"])
        self._line(clock, lines.clock, f"{name}_dci_serdes")
        _constrain(platform, name, clock)

    def _line(self, pin, data, name=""):
        level = Signal()
        self.specials += [
            serialiser([data[n] for n in range(SAMPLES)], level, name=name),
            Instance("OBUFDS", i_I=level, o_O=pin.p, o_OB=pin.n),
        ]


def _pair(platform, connector, name, number):
    part = f"{connector.upper()}:LA{number:02}{'_CC' if number in CARD['clock_capable'] else ''}"
    sides = [Subsignal(side, Pins(f"{part}_{side.upper()}")) for side in "pn"]
    platform.add_extension([(name, 0, *sides, IOStandard("LVDS_25"))])
    pair = platform.request(name)
    return Pin(pair.p, pair.n, bidirectional=False)


def line_pin(platform, connector, line):
    """The pin of one of the card's single lines. Raises ValueError if there is no line of that
    name."""
    if line not in CARD["lines"]:
        raise ValueError(f"{connector}:{line}: a converter card has {', '.join(CARD['lines'])}")
    name = f"{connector}_{line}"
    platform.add_extension([(name, 0, Pins(f"{connector.upper()}:{CARD['lines'][line]}"), IOStandard("LVCMOS25"))])
    return Pin(platform.request(name))


def skew_ns():
    """Greatest offset of data edges from DCI's: half of the bit time beyond its valid time and the
    guard."""
    timing = CARD["timing"]
    return (_BIT_PS - timing["valid_ps"] - timing["guard_ps"]) / 2 / 1000


def _constrain(platform, name, clock):
    """Relates the data to DCI's edge: not later than the skew allows, or the next edge follows too
    soon; not earlier, or the previous data end too soon. Both edges of DCI count."""
    bit = _BIT_PS / 1000
    platform.add_platform_command(
        f"create_generated_clock -name {name}_dci -divide_by 1 -source [get_pins {name}_dci_serdes/CLK] "
        "[get_ports {pin}]",
        pin=clock.p,
    )
    for edge in ["", " -clock_fall -add_delay"]:
        for limit, delay in [("max", bit - skew_ns()), ("min", skew_ns())]:
            platform.add_platform_command(
                f"set_output_delay -clock {name}_dci{edge} -{limit} {delay:.3f} [get_ports {name}_db*]"
            )
