"""What the outputs of a card can be set to, by its driver."""

from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

from ..coredevice.ad53xx import AD53xx
from ..coredevice.ad9910 import AD9910
from ..coredevice.ad9912 import AD9912
from ..coredevice.ad9914 import AD9914
from ..coredevice.fastino import DAC, VOLTS, Fastino
from ..errors import UsageError

__all__ = ["Setting", "check", "parted", "settings"]

MEGA = 1e6


class Setting(NamedTuple):
    """A quantity that can be set, between `low` and `high`, in `unit`; empty for a fraction."""

    name: str
    unit: str
    low: float
    high: float

    def text(self, value: float) -> str:
        """Return a value for people."""
        return f"{value / MEGA:.12g} MHz" if self.unit == "Hz" else f"{value:.6g} {self.unit}".strip()


def settings(device) -> list[Setting]:
    """Return what each output of a card can be set to; nothing if its driver is none of those that are known, or its
    outputs cannot be set one by one."""
    if isinstance(device, AD53xx):
        return [Setting("voltage", "V", device.mu_to_voltage(0), device.mu_to_voltage(0xFFFF))]
    if isinstance(device, Fastino):
        # An event of a group sets all of its DACs.
        highest = VOLTS.quantity(DAC.code.mask)
        return [Setting("voltage", "V", VOLTS.quantity(0), highest)] if device.width == 1 else []
    if not isinstance(device, AD9910 | AD9912 | AD9914) or not device.monitored():
        return []
    found = [Setting("frequency", "Hz", 0.0, device.sysclk / 2)]
    if not isinstance(device, AD9912):
        found.append(Setting("amplitude", "", 0.0, 1.0))
    found.append(Setting("phase", "turns", -1.0, 1.0))
    if not isinstance(device, AD9914):
        scale = device.cpld.attenuation
        found.append(Setting("attenuation", "dB", scale.quantity(scale.highest), scale.quantity(0)))
    return found


def check(output: str, possible: list[Setting], values: Mapping[str, float]):
    """Raise UsageError, in one line, unless an output can be set to these values."""
    known = {each.name: each for each in possible}
    if not known:
        raise UsageError(f"{output} cannot be set alone by a run of its own: an experiment sets it")
    if not values:
        raise UsageError(f"give what {output} is to be set to: {', '.join(known)}")
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{output} has no {name}; it has {', '.join(known)}")
        setting = known[name]
        if not isfinite(value) or not setting.low <= value <= setting.high:
            ends = f"{setting.text(setting.low)} to {setting.text(setting.high)}"
            raise UsageError(f"{name} of {output} cannot be {setting.text(value)}: it is from {ends}")


def parted(output: str) -> tuple[str, int]:
    """Return the name of the card's device and the number of the output, of ``zotino0:3`` or ``urukul0_ch0``."""
    name, separator, number = output.rpartition(":")
    return (name, int(number)) if separator and number.isdecimal() else (output, 0)
