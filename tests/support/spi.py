"""Decodes the messages on an SPI bus from the pins of a recording."""

import re

__all__ = ["transfers", "transfers_of"]


def changes(vcd):
    """Yield (name, level) of each change, in order; the level is None while a pin is not driven."""
    names = dict(re.findall(r"\$var wire 1 (\S+) (\S+) \$end", vcd))
    for word in vcd.split("$enddefinitions $end\n")[1].split():
        if word[0] in "01z" and word[1:] in names:
            yield names[word[1:]], None if word[0] == "z" else int(word[0])


def transfers(vcd, bus, selects, active_high=False, trailing=False):
    """As `transfers_of`, for a recording."""
    return transfers_of(changes(vcd), bus, selects, active_high, trailing)


def transfers_of(changes, bus, selects, active_high=False, trailing=False):
    """Return (chip select as a number, bits, data) of each interval in which a chip was selected;
    the first bit is the highest.

    `selects`: number of chip select pins. `trailing`: data are sampled at the clock's trailing
    edge.
    """
    clock, data = f"{bus}_clk", f"{bus}_mosi"
    pins = [f"{bus}_cs{i}" for i in range(selects)]
    levels = {}
    selected, bits, found = 0, [], []
    for name, level in changes:
        before = levels.get(name)
        levels[name] = level
        number = sum((levels.get(pin) == int(active_high)) << i for i, pin in enumerate(pins))
        if number != selected:
            if bits:
                found.append((selected, len(bits), int("".join(map(str, bits)), 2)))
            selected, bits = number, []
        elif name == clock and number and (before, level) == ((1, 0) if trailing else (0, 1)):
            bits.append(levels[data])
    return found
