"""Messages to the logic of an Urukul: configuration and attenuations."""

from ...coredevice.chips import urukul
from .common import ATTENUATION, Chip, Settings, decibels, fields_text

__all__ = ["CHIP"]

REGISTERS = {register.width: register for register in (urukul.CFG8, urukul.CFG9, urukul.ATT)}


def _text(message, arguments) -> str | None:
    register = REGISTERS.get(message.bits)
    if register is urukul.ATT:
        return f"ATT: {', '.join(map(decibels, register.att.read(message.written)))} dB"
    return register and f"{register.name[:3]}: {fields_text(register, message.written)}"


def _settings(message, arguments) -> Settings:
    if REGISTERS.get(message.bits) is not urukul.ATT:
        return {}
    codes = urukul.ATT.att.read(message.written)
    return {f"attenuation {number}": ("dB", ATTENUATION.quantity(code) + 0.0) for number, code in enumerate(codes)}


CHIP = Chip(_text, _settings)
