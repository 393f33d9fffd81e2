"""Words that were read over serial buses: from the analyzer's record to the levels that give the same words again.

A bit is on its line from the end of the clock pulse before it on, until the end of its own: whichever edge the
bus samples at, it is there. Pulses are counted, as the configuration of the bus and its transfers give them.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from ..contracts.spi import (
    CONFIG_ADDRESS,
    LENGTH_AT,
    LENGTH_BITS,
    LENGTH_LEAST,
    WORD_BITS,
    SpiFlag,
)
from ..network.analyzer import InputMessage, OutputMessage

__all__ = ["AFTER_NS", "CLOCK", "Bit", "bits_of"]

CLOCK = "clk"
"""Line of a bus that is counted."""
MISO, MOSI = "miso", "mosi"
AFTER_NS = 1
"""From the end of a pulse to the next bit."""


class Bit(NamedTuple):
    """A line of a bus is to have this level."""

    count: int
    """How often the clock had changed, its level beginning with 0."""
    line: str
    level: int


class _Bus:
    """The clock of a bus, as its pin has it."""

    def __init__(self):
        self.config = int(SpiFlag.OFFLINE)
        self.count = 0
        self._level = 0

    def configure(self, word: int):
        self.config = word
        self._become(0 if word & SpiFlag.OFFLINE else int(bool(word & SpiFlag.CLK_POLARITY)))

    @property
    def length(self) -> int:
        return (self.config >> LENGTH_AT & (1 << LENGTH_BITS) - 1) + LENGTH_LEAST

    def transfer(self):
        if not self.config & SpiFlag.OFFLINE:
            self.count += 2 * self.length

    def _become(self, level: int):
        self.count += level != self._level
        self._level = level


def bits_of(outputs: list[OutputMessage], inputs: list[InputMessage]) -> tuple[list[Bit], int]:
    """Return the changes of the lines of a bus that give the words of `inputs`, in the order of the clock, and how many
    words belong to no transfer. `outputs`: all of the bus."""
    bus, left = _Bus(), sorted(inputs, key=lambda one: one.timestamp)
    levels = {MISO: 0, MOSI: 0}
    found: list[Bit] = []
    ordered = sorted(outputs, key=lambda one: one.timestamp)
    ends = [one.timestamp for one in ordered[1:]]
    missing = 0
    for message, end in zip_longest(ordered, ends):
        while left and left[0].timestamp < message.timestamp:
            left.pop(0)
            missing += 1
        if message.address == CONFIG_ADDRESS:
            bus.configure(message.data)
            continue
        if left and (end is None or left[0].timestamp <= end) and bus.config & SpiFlag.INPUT:
            line = MOSI if bus.config & SpiFlag.HALF_DUPLEX else MISO
            for number, level in enumerate(_levels(left.pop(0).data, bus)):
                if level != levels[line]:
                    levels[line] = level
                    found.append(Bit(bus.count + 2 * number, line, level))
        bus.transfer()
    return found, missing + len(left)


def _levels(word: int, bus: _Bus) -> Iterator[int]:
    """Yield the bits of a word in the order in which they come."""
    length = bus.length
    for number in range(length):
        lsb_first = bus.config & SpiFlag.LSB_FIRST
        yield word >> (WORD_BITS - length + number if lsb_first else length - 1 - number) & 1
