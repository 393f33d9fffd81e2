"""Simple TTL PHYs: one register per pin, so outputs change and inputs are sampled once in each cycle of 8 ns; the fine
part of timestamps is truncated. Clock domain sys, reset by `rtio_phy_reset` (level 0, not driven, gate closed).

    cycle (coarse time)   T-1    T      T+1    T+2
    link.stb              /‾‾‾‾‾\\_____________________
    pad.o                 xxxxxxx new level             changes with the cycle of the event's time
    pad.i                        sampled                last of the eight samples: an edge anywhere in T belongs to T
    input.stb                                  /‾‾‾‾‾   stamped T
"""

from migen import *

from ..rtio.link import Channel, InputLink, OutputLink

__all__ = ["Output", "InOut"]

ADDRESS_LEVEL = 0
ADDRESS_OUTPUT_ENABLE = 1
ADDRESS_SENSITIVITY = 2
ADDRESS_SAMPLE = 3


class Output(Module):
    """Output-only TTL. Address 0: level (bit 0)."""

    def __init__(self, number, pad):
        link = OutputLink(data_width=1)
        self.channel = Channel(number, output=link)

        # # #

        level = Signal()
        self.sync += If(link.stb, level.eq(link.data))
        self.comb += [pad.o.eq(Replicate(level, 8)), pad.oe.eq(1)]


class InOut(Module):
    """Bidirectional TTL. Address 0: level; 1: output enable; 2: sensitivity (bit 0 rising, bit 1 falling edges);
    3: sensitivity, and one input event with the present level. Input events carry the level (data bit 0).

    Gate times are exact: edges of cycles from the opening event's up to, not including, the closing event's are
    recorded. A sample in the cycle of an edge gives one event. Inputs are seen whether the pad is driven or not.
    """

    def __init__(self, number, pad):
        link = OutputLink(data_width=2, address_width=2)
        inputs = InputLink(data_width=1)
        self.channel = Channel(number, output=link, input=inputs)

        # # #

        level = Signal()
        enable = Signal()
        sensitivity = [Signal(2, name=f"sensitivity_{i}") for i in range(3)]
        sample = [Signal(name=f"sample_{i}") for i in range(3)]
        self.sync += [
            sample[0].eq(0),
            If(
                link.stb,
                Case(
                    link.address,
                    {
                        ADDRESS_LEVEL: level.eq(link.data[0]),
                        ADDRESS_OUTPUT_ENABLE: enable.eq(link.data[0]),
                        ADDRESS_SENSITIVITY: sensitivity[0].eq(link.data),
                        ADDRESS_SAMPLE: [sensitivity[0].eq(link.data), sample[0].eq(1)],
                    },
                ),
            ),
            # delayed as the input is, so that gates open and close at their time
            sensitivity[1].eq(sensitivity[0]),
            sensitivity[2].eq(sensitivity[1]),
            sample[1].eq(sample[0]),
            sample[2].eq(sample[1]),
        ]
        self.comb += [pad.o.eq(Replicate(level, 8)), pad.oe.eq(enable)]

        # two synchroniser stages and the previous value
        pin = [Signal(name=f"pin_{i}", attr={"async_reg"} if i < 2 else set()) for i in range(3)]
        self.sync += [pin[0].eq(pad.i[7]), pin[1].eq(pin[0]), pin[2].eq(pin[1])]
        rising = pin[1] & ~pin[2]
        falling = ~pin[1] & pin[2]
        self.comb += [
            inputs.stb.eq(sample[2] | (rising & sensitivity[2][0]) | (falling & sensitivity[2][1])),
            inputs.data.eq(pin[1]),
            self.channel.settled.eq(
                (pad.i[7] == pin[0])
                & (pin[0] == pin[1])
                & (pin[1] == pin[2])
                & (sensitivity[0] == sensitivity[1])
                & (sensitivity[1] == sensitivity[2])
                & ~sample[0]
                & ~sample[1]
                & ~sample[2]
            ),
        ]
