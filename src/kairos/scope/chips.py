"""What messages say to chips, in words: made from the same tables of registers as the drivers."""

from collections.abc import Callable
from types import ModuleType

from ..coredevice.chips import ad9910, ad9912, urukul
from ..coredevice.registers import Register

__all__ = ["LABELS", "SELECTS"]

RELAYS = 16
"""Of a Shuttler."""
SHOWN = 3
"""Fields of a register that a label shows."""


def _registers(chip: ModuleType) -> dict[int, tuple[type[Register], int]]:
    """The registers of a chip by address, with their number among those of one kind."""
    found: dict[int, tuple[type[Register], int]] = {}
    for value in vars(chip).values():
        if isinstance(value, type) and issubclass(value, Register) and value.address is not None:
            for number in range(value.count):
                found.setdefault(value.address + number, (value, number))
    return found


def _fields(register: type[Register], word: int) -> str:
    """The fields that are not as after a reset."""
    now, reset = register.decode(word), register.decode(register.reset)
    parts = [f"{name} {_short(value)}" for name, value in now.items() if value != reset[name]]
    more = len(parts) - SHOWN
    return ", ".join(parts[:SHOWN]) + (f", {more} more" if more > 0 else "")


def _short(value) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _named(register: type[Register], number: int) -> str:
    return f"{register.name}{number}" if register.count > 1 else register.name


def _ad9910(message) -> str | None:
    head = ad9910.INSTRUCTION.width
    if message.bits <= head:
        return None
    instruction = ad9910.INSTRUCTION.decode(message.written >> message.bits - head)
    found = _AD9910.get(instruction["register"])
    if found is None:
        return None
    register, number = found
    data = message.bits - head
    if instruction["read"]:
        answer = "" if message.read is None else f" = {message.read & (1 << data) - 1:#x}"
        return f"read {_named(register, number)}{answer}"
    if data != register.width:
        return f"{_named(register, number)}: {data // 32} words" if register is ad9910.RAM else None
    return f"{_named(register, number)}: {_fields(register, message.written & (1 << data) - 1)}"


def _ad9912(message) -> str | None:
    head = ad9912.INSTRUCTION.width
    if message.bits <= head:
        return None
    address = message.written >> message.bits - head & 0x1FFF
    return f"registers from {address:#x} down: {message.written & (1 << message.bits - head) - 1:#x}"


def _urukul(message) -> str | None:
    register = _URUKUL.get(message.bits)
    return register and f"{register.name[:3]}: {_fields(register, message.written)}"


def _relays(message) -> str | None:
    """Those of a Shuttler's outputs that are closed."""
    if message.bits != RELAYS:
        return None
    closed = [str(number) for number in range(RELAYS) if message.written >> number & 1]
    return f"closed: {', '.join(closed)}" if closed else "all open"


_AD9910 = _registers(ad9910)
_URUKUL = {register.width: register for register in (urukul.CFG8, urukul.CFG9, urukul.ATT)}

LABELS: dict[str, Callable] = {
    "AD9910": _ad9910,
    "SharedDDS": _ad9910,
    "AD9912": _ad9912,
    "CPLD": _urukul,
    "Relay": _relays,
}
"""Class of a driver: what a message to its chip says; None if it says nothing that is known."""
SELECTS = {"CPLD": {1: "", 2: " attenuators"}, "Relay": {1: ""}, "SharedDDS": {3: ""}}
"""Class of a driver whose chip select is no argument of it: these, with what each adds to the device's name."""
