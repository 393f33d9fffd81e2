"""Devices on RTIO channels, with their addresses declared as data.

A class derived from `RTIODevice` declares its addresses as attributes::

    class Shutter(RTIODevice):
        level = Address(0)
        direction = Address(1)

In a kernel, `self.level` is then the target word ``channel << 8 | address`` that `rtio_output`
takes. `self.target` is the word of address 0, to which an address may be added.
"""

from ...language import delay_mu, kernel
from ...numeric import int64
from ..rtio import rtio_output

__all__ = ["Address", "BusDevice", "CoreDevice", "RTIODevice"]


class Address:
    """Declares the RTIO address `address` on the device's channel number `channel`, counted from
    its first.

    On an instance the attribute is the target word: an integer, and a constant to the compiler.
    """

    def __init__(self, address, channel=0):
        self.offset = channel << 8 | address

    def __get__(self, device, owner=None):
        return self if device is None else device.target + self.offset


class CoreDevice:
    """A device whose kernels run on the core device `core`.

    The `kernel_invariants` of a class are added to those of its bases; declared addresses are
    invariant too.
    """

    kernel_invariants = {"core"}

    def __init__(self, dmgr, core_device="core"):
        self.core = dmgr.get(core_device)

    def __init_subclass__(cls):
        own = vars(cls)
        declared = {name for name, value in own.items() if isinstance(value, Address)}
        inherited = (base.kernel_invariants for base in cls.__mro__[1:] if hasattr(base, "kernel_invariants"))
        cls.kernel_invariants = declared.union(own.get("kernel_invariants", ()), *inherited)


class BusDevice(CoreDevice):
    """A device on bus `busno` of the core device itself, outside of RTIO."""

    kernel_invariants = {"busno"}

    def __init__(self, dmgr, busno, core_device):
        super().__init__(dmgr, core_device)
        self.busno = busno


class RTIODevice(CoreDevice):
    """A device on one or more consecutive RTIO channels, the first of which is `channel`."""

    kernel_invariants = {"channel", "target"}
    channel_suffixes = (None,)
    """Suffix of each channel's name after the device's name."""

    def __init__(self, dmgr, channel, core_device="core"):
        super().__init__(dmgr, core_device)
        if not hasattr(channel, "__index__"):
            raise ValueError(f"a channel is a number, not {channel!r}")
        if channel < 0:
            raise ValueError(f"a channel is 0 or more, not {channel}")
        self.channel = channel

    @property
    def target(self):
        """Target word of address 0 of the first channel."""
        return self.channel << 8

    @classmethod
    def get_rtio_channels(cls, channel, **_arguments):
        """Return the RTIO channels of a device with these arguments: pairs of number and name
        suffix."""
        return [(channel + place, suffix) for place, suffix in enumerate(cls.channel_suffixes)]

    @kernel
    def write_row(self, target, row):
        """Write the elements of `row` (list of int32) to consecutive addresses starting at
        `target`, one per coarse cycle; the cursor advances accordingly."""
        cycle_mu = int64(self.core.ref_multiplier)
        for index in range(len(row)):
            rtio_output(target + index, row[index])
            delay_mu(cycle_mu)
