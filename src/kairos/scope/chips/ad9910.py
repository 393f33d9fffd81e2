"""Messages to an AD9910: registers, and the tones of profiles."""

from ...coredevice.ad9910 import system_clock
from ...coredevice.chips import ad9910
from .common import Chip, Settings, clock_of, fields_text, name_of, read_text, registers_of

__all__ = ["CHIP"]

REGISTERS = registers_of(ad9910)


def _text(message, arguments) -> str | None:
    head = ad9910.INSTRUCTION.width
    if message.bits <= head:
        return None
    instruction = ad9910.INSTRUCTION.decode(message.written >> message.bits - head)
    found = REGISTERS.get(instruction["register"])
    if found is None:
        return None
    register, number = found
    data = message.bits - head
    if instruction["read"]:
        return read_text(name_of(register, number), message, data)
    if data != register.width:
        return f"{name_of(register, number)}: {data // 32} words" if register is ad9910.RAM else None
    fields = fields_text(register, message.written & (1 << data) - 1, clock_of(arguments, system_clock))
    return f"{name_of(register, number)}: {fields}"


def _settings(message, arguments) -> Settings:
    """Return the tone written to a profile."""
    width, clock = ad9910.PROFILE.width, clock_of(arguments, system_clock)
    instruction = ad9910.INSTRUCTION.decode(message.written >> width)
    number = instruction["register"] - ad9910.PROFILE.address
    if (
        message.bits != ad9910.INSTRUCTION.width + width
        or instruction["read"]
        or number not in range(ad9910.PROFILE.count)
    ):
        return {}
    tone = ad9910.PROFILE.decode(message.written & (1 << width) - 1)
    found = {"amplitude": ("", tone["asf"]), "phase": ("turns", tone["pow"])}
    if clock is not None:
        found = {"frequency": ("Hz", tone["ftw"] * clock)} | found
    return {f"profile {number} {name}": setting for name, setting in found.items()}


CHIP = Chip(_text, _settings)
