"""Messages to an AD53xx: codes of channels in volts."""

from ...coredevice.ad53xx import mu_to_voltage
from ...coredevice.chips import ad53xx
from .common import Chip, Settings

__all__ = ["CHIP"]


def _text(message, arguments) -> str | None:
    """Describe a code of a channel in volts, or a special function."""
    if message.bits != ad53xx.WORD.width:
        return None
    word = ad53xx.WORD.decode(message.written)
    mode, target, data = word["mode"], ad53xx.WORD.target.read(message.written), word["data"]
    if mode == "SPECIAL":
        return f"{word['target']}: {data:#x}" if isinstance(word["target"], str) else None
    channel = target - ad53xx.FIRST_CHANNEL
    if channel < 0:
        return None
    if mode == "DATA":
        return f"ch{channel}: {mu_to_voltage(data, arguments['offset_dacs'], arguments['vref']):.6g} V"
    return f"ch{channel} {mode}: {data:#x}"


def _settings(message, arguments) -> Settings:
    word = ad53xx.WORD.decode(message.written)
    channel = ad53xx.WORD.target.read(message.written) - ad53xx.FIRST_CHANNEL
    if message.bits != ad53xx.WORD.width or word["mode"] != "DATA" or channel < 0:
        return {}
    return {f"ch{channel}": ("V", mu_to_voltage(word["data"], arguments["offset_dacs"], arguments["vref"]))}


CHIP = Chip(_text, _settings)
