"""Digital levels: methods that write constants to addresses of the device's channel, levels and
pulses.

For classes derived from `RTIODevice`; built as described in `kairos.coredevice.parts.methods`.
"""

from ..rtio import rtio_output
from .methods import made

__all__ = ["command", "hold", "level", "pulse"]


def command(address, data, text):
    """Build a method without arguments that writes `data` to the RTIO address `address`."""

    @made(text)
    def command(self):
        rtio_output(self.target + address, data)

    return command


def level(address, text, high=1, low=0):
    """Build the method `set_o`, which writes the code of a level to the RTIO address `address`."""

    @made(text)
    def set_o(self, o):
        rtio_output(self.target + address, high if o else low)

    return set_o


def hold(state, text):
    """Build a method without arguments that sets the level through the class's `set_o`."""

    @made(text)
    def hold(self):
        self.set_o(state)

    return hold


def pulse(wait, text):
    """Build a method that switches on for a duration in the unit of `wait`, `delay` or `delay_mu`,
    then off."""

    @made(text)
    def pulse(self, duration):
        self.on()
        wait(duration)
        self.off()

    return pulse
