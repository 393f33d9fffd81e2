"""Messages to a Mirny: registers of its logic, attenuators, and synthesisers."""

from ...coredevice.chips import adf5356, mirny
from .common import Chip, decibels, fields_text, read_text, registers_of

__all__ = ["CHIP"]

REGISTERS, SYNTHESISER = registers_of(mirny), registers_of(adf5356)


def _text(message, arguments) -> str | None:
    """Describe a message to a register of the card's logic, an attenuator, or the synthesiser of a
    channel."""
    if message.bits == mirny.ATTENUATOR.width:
        word = mirny.ATTENUATOR.decode(message.written)
        code = mirny.ATTENUATOR.att.read(message.written)
        return f"ch{word['channel']}: {decibels(code)} dB" if word["attenuator"] else None
    if message.bits == mirny.MESSAGE.width:
        word = mirny.MESSAGE.decode(message.written)
        register, _ = REGISTERS.get(word["register"], (None, 0))
        name = f"register {word['register']}" if register is None else register.name
        if not word["write"]:
            return read_text(name, message, mirny.MESSAGE.data.width)
        return f"{name}: {word['data']:#x}" if register is None else f"{name}: {fields_text(register, word['data'])}"
    if message.bits == mirny.HEAD.width + adf5356.R0.width:
        channel = mirny.HEAD.decode(message.written >> adf5356.R0.width)["destination"]
        word = message.written & (1 << adf5356.R0.width) - 1
        register, _ = SYNTHESISER.get(word & 0xF, (None, 0))
        if register is not None and channel < mirny.EXTENSION:
            return f"ch{channel} {register.name}: {fields_text(register, word)}"
    return None


CHIP = Chip(_text)
