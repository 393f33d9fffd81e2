"""Shared by the descriptions of chips: registers and fields as text."""

from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from ...coredevice.parts.attenuators import step_scale
from ...coredevice.registers import Field, Register

__all__ = [
    "ATTENUATION",
    "Chip",
    "Settings",
    "clock_of",
    "decibels",
    "fields_text",
    "hertz",
    "name_of",
    "plain",
    "read_text",
    "registers_of",
]

Settings = dict[str, tuple[str, float]]
"""Quantities set by messages: unit and number by name."""

SHOWN = 3
"""Maximum number of register fields in a label."""
UNITS = {"turn": " turns", "dB": " dB"}
"""Suffixes of field values, by unit. Amplitudes are fractions of full scale."""
OF_CLOCK = "system clock"
"""Unit of frequency words."""
ATTENUATION = step_scale()


class Chip(NamedTuple):
    """How the messages to a chip are described, given the arguments of its device."""

    text: Callable[..., str | None]
    """`text(message, arguments)`: what a message says; None if it is not understood."""
    settings: Callable[..., Settings] | None = None
    """`settings(message, arguments)`: the quantities that a message sets."""
    paired: Callable[..., Settings] | None = None
    """`paired(before, message, arguments)`: those that it sets together with its predecessor."""


def plain(registers: ModuleType) -> Chip:
    """Describe a chip without a description of its own: a message whose length is that of one
    register without an address sets it."""
    known: dict[int, list[type[Register]]] = {}
    for value in vars(registers).values():
        if isinstance(value, type) and issubclass(value, Register) and value.fields and value.address is None:
            known.setdefault(value.width, []).append(value)

    def text(message, arguments) -> str | None:
        found = known.get(message.bits, [])
        if len(found) != 1:
            return None
        return f"{found[0].name}: {fields_text(found[0], message.written)}"

    return Chip(text)


def clock_of(arguments: dict, clock: Callable) -> float | None:
    """Return the system clock of a DDS chip in Hz; None if the device database has invalid values."""
    try:
        return clock(*(arguments[name] for name in ("refclk", "clk_div", "pll_n", "pll_en")))
    except (IndexError, TypeError):
        return None


def registers_of(chip: ModuleType) -> dict[int, tuple[type[Register], int]]:
    """Return the registers of a chip by address, with their index among those of one kind."""
    found: dict[int, tuple[type[Register], int]] = {}
    for value in vars(chip).values():
        if isinstance(value, type) and issubclass(value, Register) and value.address is not None:
            for number in range(value.count):
                found.setdefault(value.address + number, (value, number))
    return found


def fields_text(register: type[Register], word: int, clock: float | None = None) -> str:
    """Describe the fields that differ from their reset values; frequencies in hertz if the system
    clock is known."""
    now, reset = register.decode(word), register.decode(register.reset)
    parts = [
        f"{name} {_quantity(register.fields[name], value, clock)}"
        for name, value in now.items()
        if value != reset[name]
    ]
    more = len(parts) - SHOWN
    return ", ".join(parts[:SHOWN]) + (f", {more} more" if more > 0 else "")


def _quantity(field: Field, value, clock: float | None) -> str:
    if field.unit == OF_CLOCK and clock is not None:
        return hertz(value * clock)
    return (f"{value:.9g}" if isinstance(value, float) else str(value)) + UNITS.get(field.unit, "")


def hertz(frequency: float) -> str:
    return f"{frequency / 1e6:.9g} MHz"


def decibels(code: int) -> str:
    """Format the attenuation of a code."""
    return f"{ATTENUATION.quantity(code) + 0.0:g}"  # avoids -0


def name_of(register: type[Register], number: int) -> str:
    return f"{register.name}{number}" if register.count > 1 else register.name


def read_text(name: str, message, bits: int) -> str:
    answer = "" if message.read is None else f" = {message.read & (1 << bits) - 1:#x}"
    return f"read {name}{answer}"
