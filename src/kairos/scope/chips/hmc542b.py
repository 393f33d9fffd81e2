"""Messages to an HMC542B: its attenuation."""

from ...coredevice.chips import hmc542b
from .common import Chip, Settings

__all__ = ["CHIP"]


def _settings(message, arguments) -> Settings:
    if message.bits != hmc542b.SETTING.width:
        return {}
    field = hmc542b.SETTING.att
    none = (1 << field.width) - 1
    return {"attenuation": ("dB", field.meaning(none - field.read(message.written)))}


def _text(message, arguments) -> str | None:
    for unit, attenuation in _settings(message, arguments).values():
        return f"{attenuation:g} {unit}"
    return None


CHIP = Chip(_text, _settings)
