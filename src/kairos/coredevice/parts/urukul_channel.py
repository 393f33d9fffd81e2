"""Functions of an Urukul for each of its DDS channels, independent of the chip."""

from ...language import TFloat, TInt32, host_only, kernel
from .. import urukul
from .monitored import Monitored

__all__ = ["UrukulChannel"]


class UrukulChannel:
    """Base of DDS drivers. `cpld` is the Urukul, `chip_select` the chip's select, `channel` its
    number on the card, -1 with the chip select of all chips: then functions of one channel raise ValueError."""

    kernel_invariants = {"bus", "channel", "chip_select", "core", "cpld", "io_update"}

    def __init__(self, dmgr, chip_select, cpld_device, sw_device):
        self.cpld = dmgr.get(cpld_device)
        self.core, self.bus = self.cpld.core, self.cpld.bus
        self.chip_select = chip_select
        self.channel = chip_select - urukul.CS_DDS_CH0
        self.io_update = self.cpld.io_update or urukul.RegIOUpdate(self.cpld, chip_select)
        if sw_device is not None:
            self.sw = dmgr.get(sw_device)
            self.kernel_invariants = self.kernel_invariants | {"sw"}

    @host_only
    def monitored(self):
        """Return the probe of the frequency; none if the chip select addresses several chips."""
        if self.channel < 0:
            return []
        return [Monitored(None, self.bus.channel, self.channel, self.ftw_to_frequency, "Hz")]

    @kernel
    def cfg_sw(self, state):
        """Close the RF switch (`state`), or open it."""
        self.cpld.cfg_sw(self.channel, state)

    @kernel
    def cfg_mask_nu(self, state):
        """Keep the chip from its own bus (`state`), or not."""
        self.cpld.cfg_mask_nu(self.channel, state)

    @kernel
    def cfg_att_en(self, state):
        """Enable the attenuator (protocol revision 9)."""
        self.cpld.cfg_att_en(self.channel, state)

    @kernel
    def cfg_osk(self, state):
        """Set the OSK line (protocol revision 9)."""
        self.cpld.cfg_osk(self.channel, state)

    @kernel
    def cfg_drctl(self, state):
        """Set the ramp direction line (protocol revision 9)."""
        self.cpld.cfg_drctl(self.channel, state)

    @kernel
    def cfg_drhold(self, state):
        """Set the ramp hold line (protocol revision 9)."""
        self.cpld.cfg_drhold(self.channel, state)

    @kernel
    def set_profile(self, profile):
        """Select the profile, 0 to 7, that the chip plays."""
        if self.channel < 0:
            self.cpld.set_all_profiles(profile)
        else:
            self.cpld.set_profile(self.channel, profile)

    @kernel
    def set_att_mu(self, att):
        """Set the attenuator in machine units, 0 to 255."""
        self.cpld.set_att_mu(self.channel, att)

    @kernel
    def set_att(self, att):
        """Set the attenuator in dB (float)."""
        self.cpld.set_att(self.channel, att)

    @kernel
    def get_att_mu(self) -> TInt32:
        """Read the attenuator in machine units."""
        return self.cpld.get_channel_att_mu(self.channel)

    @kernel
    def get_att(self) -> TFloat:
        """Read the attenuator in dB."""
        return self.cpld.get_channel_att(self.channel)
