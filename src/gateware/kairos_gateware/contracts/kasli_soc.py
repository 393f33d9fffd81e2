"""Kasli-SoC: I/O expanders of the board: SFP cages, clock, power of the cards; lines of the bus of its oscillator.

Generated from src/contracts/chips/kasli_soc.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "CLOSED",
    "SWITCH",
    "CLOCK_SCL",
    "CLOCK_SDA",
    "CHANNEL",
    "EXPANDERS",
    "TX_DISABLE",
    "LEDS",
    "POWER",
    "CLOCK",
]

CLOSED = 112
"""Address of the switch whose channels are disconnected meanwhile.."""

SWITCH = 113
"""Address of the switch in front of the expanders.."""

CLOCK_SCL = 1
"""EMIO line of the oscillator's SCL: its level in bank 2; in bank 3 it pulls low.."""

CLOCK_SDA = 2
"""Likewise, of its data.."""

CHANNEL = 3
"""Its channel.."""

EXPANDERS = [
    [32, 33, 0, 1, 18, 19],
    [116, 117, 6, 7, 2, 3],
]
"""Types of the chips: addresses of both, and registers of their ports A and B: direction (1: input) and output."""

TX_DISABLE = [
    [0, 0, 1, 0, 2],
    [0, 1, 1, 0, 2],
    [1, 0, 1, 0, 2],
    [1, 1, 1, 0, 2],
]
"""Transmitters of the SFP cages off, by cage: expander, port, bit; in the hardware revisions 1.x, first and last x."""

LEDS = [
    [0, 0, 6, 0, 0],
    [0, 0, 7, 1, 2],
    [0, 1, 6, 0, 2],
    [1, 0, 6, 0, 2],
    [1, 1, 6, 0, 2],
]
"""LEDs of the SFP cages, likewise; that of cage 0 has moved."""

POWER = [
    [1, 0, 7, 2, 2],
]
"""Power of the cards on, likewise; in earlier revisions it is always on."""

CLOCK = [
    [0, 1, 7, 0, 2],
]
"""Source of the clock: an input where a Si5324 makes it, likewise."""
