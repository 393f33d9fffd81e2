"""From pads to pins of a 7-series chip: buffers, registers, and serialisers for pads with 1 ns
resolution.

Serialised pads use OSERDESE2 and ISERDESE2 at 8 bits per cycle, double data rate, with a clock of
four times 125 MHz (UG471 chapter 3): sample 0 is D1 (sent first) for outputs and Q8 (received
first) for inputs. Latencies are the same for all pads of a board, so that events at different pads
keep their relative times to the nanosecond:

    OUTPUT_CYCLES   2 from `pad.o` to the pin: sampled at the next edge, then four fast cycles in the serialiser
    INPUT_CYCLES    2 from the pin to `pad.i` (ISERDESE2, networking mode)

Simple pads have as many registers when there are serialised ones on the board; otherwise outputs
have SIMPLE_CYCLES and inputs none. The register next to the pin is in the I/O cell, so that pins
differ by less than a nanosecond.
"""

from dataclasses import dataclass

from migen import *

from ..pad import SAMPLES

__all__ = ["Pin", "PadIo", "OUTPUT_CYCLES", "INPUT_CYCLES", "SIMPLE_CYCLES", "FAST_DOMAIN", "serialiser"]

OUTPUT_CYCLES = 2
INPUT_CYCLES = 2
SIMPLE_CYCLES = 1
FAST_DOMAIN = "fast"


@dataclass
class Pin:
    """A pin, or with `n` a differential pair. bidirectional: may be an input."""

    p: Signal
    n: Signal | None = None
    bidirectional: bool = True


def serialiser(data, level, disable=0, undriven=None, name=""):
    """A serialiser (an instance `name`) from SAMPLES levels of a cycle, the first in time first, to
    `level`; disable: for the whole cycle, immediately to `undriven`."""
    ports = {f"i_D{i + 1}": bit for i, bit in enumerate(data)}
    if undriven is not None:
        ports["o_TQ"] = undriven
    return Instance(
        "OSERDESE2",
        p_DATA_RATE_OQ="DDR",
        p_DATA_RATE_TQ="BUF",
        p_DATA_WIDTH=SAMPLES,
        p_TRISTATE_WIDTH=1,
        p_SERDES_MODE="MASTER",
        i_CLK=ClockSignal(FAST_DOMAIN),
        i_CLKDIV=ClockSignal(),
        i_RST=ResetSignal(FAST_DOMAIN, allow_reset_less=True),
        i_OCE=1,
        i_TCE=1,
        i_T1=disable,
        i_T2=0,
        i_T3=0,
        i_T4=0,
        i_TBYTEIN=0,
        i_SHIFTIN1=0,
        i_SHIFTIN2=0,
        o_OQ=level,
        name=name,
        **ports,
    )


class PadIo(Module):
    """Connects a pad with a pin. serialisers: the board has any, see above. Clock domain sys, and
    `fast` (four times as fast, in phase) if there are; its reset is that of the serialisers, in
    step with sys."""

    def __init__(self, pad, pin, serialisers):
        if pad.direction != "out" and not pin.bidirectional:
            raise ValueError(f"{pad.name} is an input, but its pin can only drive")

        # # #

        level, inward = Signal(), Signal()
        undriven = Signal(reset=1)
        outward = pad.direction != "in"
        if pad.serialised:
            if outward:
                self._serialise(pad, level, undriven)
            if pad.direction != "out":
                self._deserialise(pad, inward)
        else:
            delays = OUTPUT_CYCLES if serialisers else SIMPLE_CYCLES
            if outward:
                last = delays - 1
                self.comb += [
                    level.eq(self._delay(pad.o[0], delays, last)),
                    undriven.eq(self._delay(~pad.oe, delays, last)),
                ]
            if pad.direction != "out":
                self.comb += pad.i.eq(Replicate(self._delay(inward, INPUT_CYCLES if serialisers else 0, 0), SAMPLES))
        self._buffer(pad.direction, pin, level, undriven, inward)

    def _delay(self, value, cycles, at_pin=None):
        """Registers in series; at_pin: number of the one that belongs in the I/O cell."""
        for i in range(cycles):
            register = Signal(attr={("IOB", "TRUE")} if i == at_pin else set())
            self.sync += register.eq(value)
            value = register
        return value

    def _serialise(self, pad, level, undriven):
        # T1 to TQ is combinational: matches the delay of the data
        disable = self._delay(~pad.oe, OUTPUT_CYCLES)
        self.specials += serialiser([pad.o[i] for i in range(SAMPLES)], level, disable, undriven)

    def _deserialise(self, pad, inward):
        data = {f"o_Q{SAMPLES - i}": pad.i[i] for i in range(SAMPLES)}
        self.specials += Instance(
            "ISERDESE2",
            p_DATA_RATE="DDR",
            p_DATA_WIDTH=SAMPLES,
            p_INTERFACE_TYPE="NETWORKING",
            p_SERDES_MODE="MASTER",
            p_IOBDELAY="NONE",
            p_NUM_CE=1,
            i_D=inward,
            i_DDLY=0,
            i_CLK=ClockSignal(FAST_DOMAIN),
            i_CLKB=~ClockSignal(FAST_DOMAIN),
            i_CLKDIV=ClockSignal(),
            i_CLKDIVP=0,
            i_RST=ResetSignal(FAST_DOMAIN, allow_reset_less=True),
            i_CE1=1,
            i_CE2=1,
            i_BITSLIP=0,
            i_SHIFTIN1=0,
            i_SHIFTIN2=0,
            i_OCLK=0,
            i_OCLKB=0,
            i_OFB=0,
            i_DYNCLKSEL=0,
            i_DYNCLKDIVSEL=0,
            **data,
        )

    def _buffer(self, direction, pin, level, undriven, inward):
        pair = pin.n is not None
        kind = {"out": "OBUFT", "in": "IBUF", "inout": "IOBUF"}[direction] + ("DS" if pair else "")
        pins = {"out": ("O", "OB"), "in": ("I", "IB"), "inout": ("IO", "IOB")}[direction]
        ports = {}
        for name, signal in zip(pins, [pin.p, pin.n] if pair else [pin.p], strict=False):
            ports[f"{'i' if direction == 'in' else 'io' if direction == 'inout' else 'o'}_{name}"] = signal
        if direction != "in":
            ports |= {"i_I": level, "i_T": undriven}
        if direction != "out":
            ports |= {"o_O": inward}
        self.specials += Instance(kind, **ports)
