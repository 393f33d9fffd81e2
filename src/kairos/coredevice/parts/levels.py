"""Digital levels: methods that write constants to addresses of the device's channel, levels and pulses.

For classes derived from `RTIODevice`; made as `kairos.coredevice.parts.methods` says.
"""

from ..rtio import rtio_output
from .methods import made

__all__ = ["command", "hold", "level", "pulse"]


def command(address, data, text):
    """A method without arguments: writes `data` to the RTIO address `address`."""

    @made(text)
    def command(self):
        rtio_output(self.target + address, data)

    return command


def level(address, text, high=1, low=0):
    """The method `set_o`: writes to the RTIO address `address` the code of a level."""

    @made(text)
    def set_o(self, o):
        rtio_output(self.target + address, high if o else low)

    return set_o


def hold(state, text):
    """A method without arguments: sets the level by the class's `set_o`."""

    @made(text)
    def hold(self):
        self.set_o(state)

    return hold


def pulse(wait, text):
    """A method with a duration in the unit of `wait`, `delay` or `delay_mu`: on for so long, then off."""

    @made(text)
    def pulse(self, duration):
        self.on()
        wait(duration)
        self.off()

    return pulse
