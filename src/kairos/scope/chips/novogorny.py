"""Messages to a Novogorny: its amplifiers, and conversions of its ADC."""

from ...coredevice.chips import novogorny
from ...coredevice.novogorny import adc_channel, adc_value
from .common import Chip
from .sampler import gains

__all__ = ["CHIP"]


def _text(message, arguments) -> str | None:
    """Describe a message to the amplifiers, or to the ADC: the next conversions, and the result."""
    if message.select == novogorny.CS_PGIA:
        return gains(message, arguments)
    width = novogorny.ADC_CONTROL.width
    if message.bits % width:
        return None
    words = [message.written >> place & (1 << width) - 1 for place in range(0, message.bits, width)]
    table = [novogorny.ADC_CONTROL.decode(word) for word in reversed(words)]
    parts = [f"ch{word['channel']} range {word['softspan']}" for word in table if word["valid"]]
    texts = [f"next {', '.join(parts)}"] if parts else []
    if message.bits == novogorny.RESULT.width and len(parts) <= 1:
        found = message.read
        texts.insert(0, "result" if found is None else f"ch{adc_channel(found)}: {adc_value(found):.6g} V at the ADC")
    return "; ".join(texts) or None


CHIP = Chip(_text)
