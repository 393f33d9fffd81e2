"""Messages to an AD9912: registers, frequency and phase."""

from ...coredevice.ad9912 import system_clock
from ...coredevice.chips import ad9912
from ...coredevice.registers import Register
from .common import Chip, Settings, clock_of, fields_text, hertz, read_text, registers_of

__all__ = ["CHIP"]

REGISTERS = registers_of(ad9912)


def _parts(message) -> tuple[dict, type[Register] | None, int] | None:
    """Split a message into instruction, register and data."""
    head = ad9912.INSTRUCTION.width
    if message.bits <= head:
        return None
    instruction = ad9912.INSTRUCTION.decode(message.written >> message.bits - head)
    address, data = instruction["register"], message.bits - head
    # Data are written from an address downwards: the register follows from address and length.
    kinds = [ad9912.TONE, *(register for register, _ in REGISTERS.values())]
    register = next((one for one in kinds if (one.address, one.width) == (address, data)), None)
    return instruction, register, message.written & (1 << data) - 1


def _text(message, arguments) -> str | None:
    found = _parts(message)
    if found is None:
        return None
    instruction, register, word = found
    address = instruction["register"]
    if instruction["read"]:
        name = f"{address:#x}" if register is None else register.name
        return read_text(name, message, message.bits - ad9912.INSTRUCTION.width)
    if register is None:
        return f"registers from {address:#x} down: {word:#x}"
    tone = _tone(register, word)
    if "frequency" not in tone:
        return f"{register.name}: {fields_text(register, word)}"
    clock = clock_of(arguments, system_clock)
    texts = [f"{tone['frequency']:.9g}" if clock is None else hertz(tone["frequency"] * clock)]
    if tone.get("phase"):
        texts.append(f"{tone['phase']:.9g} turns")
    return f"{register.name}: {', '.join(texts)}"


def _tone(register, word: int) -> dict[str, float]:
    """Return the written parts of a tone: frequency as a fraction of the system clock, phase in
    turns."""
    tone = {}
    bits = ad9912.FREQUENCY.width
    if register in (ad9912.TONE, ad9912.FREQUENCY):
        tone["frequency"] = (word & (1 << bits) - 1) / (1 << bits)
    if register in (ad9912.TONE, ad9912.PHASE):
        high = word >> bits if register is ad9912.TONE else word
        tone["phase"] = ad9912.PHASE.pow.meaning(ad9912.PHASE.pow.read(high))
    return tone


def _settings(message, arguments) -> Settings:
    found = _parts(message)
    clock = clock_of(arguments, system_clock)
    if found is None or found[0]["read"]:
        return {}
    tone = _tone(found[1], found[2])
    units = {"phase": ("turns", 1)} if clock is None else {"frequency": ("Hz", clock), "phase": ("turns", 1)}
    return {name: (unit, tone[name] * scale) for name, (unit, scale) in units.items() if name in tone}


CHIP = Chip(_text, _settings)
