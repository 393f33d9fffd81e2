"""The logic (CPLD) of an Urukul, a card with four DDS channels: configuration, attenuators, and the
SPI bus shared by its DDS chips. ValueError for a channel but 0 to 3, and for a profile but 0 to 7.

Supports protocol revisions 8 and 9, which differ in the words and fields of the configuration.
"""

from ..language import TBool, TInt32, TInt64, at_mu, delay, kernel, ms, now_mu, portable, us
from ..numeric import Wide, int32, int64
from .chips.urukul import (
    ATT,
    CFG8,
    CFG9,
    CS_ATT,
    CS_CFG,
    CS_DDS_CH0,
    CS_DDS_CH1,
    CS_DDS_CH2,
    CS_DDS_CH3,
    CS_DDS_MULTI,
    STA,
    checked_channel,
    checked_profile,
)
from .parts.absent import get_or_absent
from .parts.attenuators import StepAttenuators, step_scale
from .parts.numbers import to_int32
from .parts.scales import Scale
from .parts.spi import SPI_CS_POLARITY, SPI_END, SPI_INPUT, Transfer
from .ttl import DigitalOutput

__all__ = [
    "CPLD",
    "CPLDVersion",
    "CS_ATT",
    "CS_CFG",
    "CS_DDS_CH0",
    "CS_DDS_CH1",
    "CS_DDS_CH2",
    "CS_DDS_CH3",
    "CS_DDS_MULTI",
    "DEFAULT_PROFILE",
    "ProtoRev8",
    "ProtoRev9",
    "RegIOUpdate",
    "SPIT_DDS_RD",
    "SPIT_DDS_WR",
    "SPI_CONFIG",
    "STA_PROTO_REV_8",
    "STA_PROTO_REV_9",
    "urukul_sta_drover",
    "urukul_sta_ifc_mode",
    "urukul_sta_pll_lock",
    "urukul_sta_proto_rev",
    "urukul_sta_rf_sw",
    "urukul_sta_smp_err",
]

SPI_CONFIG = SPI_CS_POLARITY
LAST = SPI_CONFIG | SPI_END
LAST_READ = LAST | SPI_INPUT

# SPI clock dividers in coarse cycles: write and read the configuration, the attenuators, the DDS
# chips
SPIT_CFG_WR, SPIT_CFG_RD = 2, 16
SPIT_ATT_WR, SPIT_ATT_RD = 6, 16
SPIT_DDS_WR, SPIT_DDS_RD = 2, 16

DEFAULT_PROFILE = 7
CONFIGURATIONS = {8: CFG8, 9: CFG9}
"""The configuration word of the card, by protocol revision."""
STA_PROTO_REV_8, STA_PROTO_REV_9 = CONFIGURATIONS


class CPLDVersion:
    """A protocol revision: `proto_rev`, and the lowest bit of each configuration field, as
    ``CFG_NAME``."""

    proto_rev = 0


def _version(proto_rev):
    bits = {f"CFG_{name.upper()}": field.low for name, field in CONFIGURATIONS[proto_rev].fields.items()}
    doc = f"Protocol revision {proto_rev}."
    return type(f"ProtoRev{proto_rev}", (CPLDVersion,), {"proto_rev": proto_rev, "__doc__": doc, **bits})


ProtoRev8, ProtoRev9 = map(_version, CONFIGURATIONS)
LOWER_BITS = 28
"""Bits of the second of the two transfers of a configuration."""
_EVERY_CHANNEL = (1 << ATT.att.count) - 1
_EACH_PROFILE = sum(1 << n * CFG9.profile.width for n in range(CFG9.profile.count))
"""Profile 1 of each channel."""
SYNC_STEPS = 16
"""Divider of the synchronisation clock at which its frequency word is 1."""


def status_field(field):
    """Build the function that extracts a field from a status word."""

    @portable
    def of_status(sta) -> TInt32:
        return field.get(sta)

    of_status.__qualname__ = f"urukul_sta_{field.name}"
    of_status.__doc__ = f"Of a status word: {field.__doc__}."
    return of_status


urukul_sta_rf_sw = status_field(STA.rf_sw)
urukul_sta_smp_err = status_field(STA.smp_err)
urukul_sta_pll_lock = status_field(STA.pll_lock)
urukul_sta_ifc_mode = status_field(STA.ifc_mode)
urukul_sta_proto_rev = status_field(STA.proto_rev)
urukul_sta_drover = status_field(STA.drover)


class RegIOUpdate(DigitalOutput):
    """The update line of a DDS, or with the chip select of all of them their update lines, through the
    configuration, used if no RTIO channel is connected to it. A pulse takes the time of two writes in
    addition to its duration."""

    kernel_invariants = {"cpld", "channel"}

    def __init__(self, cpld, chip_select):
        self.cpld = cpld
        self.channel = chip_select - CS_DDS_CH0

    @kernel
    def set_o(self, o):
        """Set the update line of the channel."""
        if self.channel < 0:
            self.cpld.cfg_io_update_all(_EVERY_CHANNEL if o else 0)
        else:
            self.cpld.cfg_io_update(self.channel, o)


class _Attenuation(Scale):
    @portable
    def refuse(self):
        raise ValueError("Invalid urukul.CPLD attenuation!")


class CPLD(StepAttenuators):
    """The logic of an Urukul on the SPI bus `spi_device`.

    `io_update_device`, `dds_reset_device`, `sync_device`: TTL channels, None if not connected.
    `clk_sel`: 0 internal oscillator, 1 SMA, 2 MMCX. `clk_div`: 0 the default of the DDS chips, 1,
    2, 3 division by 1, 2, 4. `rf_sw`: initial switch states. `refclk`: reference in Hz. `att`:
    initial attenuators. `sync_sel`: source of the chips' synchronisation clock, `sync_device` (0),
    with the divider `sync_div`, or the DDS of channel 0 (1). `proto_rev`: 8 or 9.
    """

    kernel_invariants = {"attenuation", "bus", "clk_div", "core", "io_update", "lower_bits", "proto_rev", "refclk"}
    kernel_invariants |= {"rev9", "sync", "sync_sel"}

    # A configuration too long for one transfer has an upper part. The status is returned with the
    # lower part.
    upper = Transfer(length=CFG9.width - LOWER_BITS, div=SPIT_CFG_WR, cs=CS_CFG, flags=SPI_CONFIG)
    lower = Transfer(length="lower_bits", div=SPIT_CFG_WR, cs=CS_CFG, flags=LAST)
    status = Transfer(length="lower_bits", div=SPIT_CFG_RD, cs=CS_CFG, flags=LAST_READ)
    attenuators = Transfer(length=ATT.width, div=SPIT_ATT_WR, cs=CS_ATT, flags=LAST)
    read_attenuators = Transfer(length=ATT.width, div=SPIT_ATT_RD, cs=CS_ATT, flags=SPI_CONFIG | SPI_INPUT)

    attenuation = step_scale(_Attenuation)

    def __init__(
        self,
        dmgr,
        spi_device,
        io_update_device=None,
        dds_reset_device=None,
        sync_device=None,
        sync_sel=0,
        clk_sel=0,
        clk_div=0,
        rf_sw=0,
        refclk=125e6,
        att=0x00000000,
        sync_div=None,
        proto_rev=0x09,
        core_device="core",
    ):
        if proto_rev not in CONFIGURATIONS:
            raise ValueError(f"proto_rev of an Urukul is 8 or 9, not {proto_rev}")
        if sync_device is None and sync_div:
            raise ValueError("sync_div of an Urukul needs sync_device")
        word = CONFIGURATIONS[proto_rev]
        self.rev9 = word is CFG9
        self.lower_bits = LOWER_BITS if self.rev9 else word.width
        self.proto_rev = proto_rev
        self.version = (ProtoRev9 if self.rev9 else ProtoRev8)()
        self.core = dmgr.get(core_device)
        self.bus = dmgr.get(spi_device)
        self.io_update = None if io_update_device is None else dmgr.get(io_update_device)
        self.sync = get_or_absent(dmgr, sync_device)
        if dds_reset_device is not None:
            self.dds_reset = dmgr.get(dds_reset_device)
        self.sync_div = (0 if sync_device is None else 2) if sync_div is None else sync_div
        self.sync_sel = word.sync_sel.check(sync_sel)
        self.refclk = refclk
        self.clk_div = word.clk_div.check(clk_div)
        self.att_reg = to_int32(att)
        fields = {
            "rf_sw": word.rf_sw.split(rf_sw),
            "profile": DEFAULT_PROFILE,
            "clk_sel0": clk_sel & 1,
            "clk_sel1": clk_sel >> 1 & 1,
            "clk_div": clk_div,
            "sync_sel": sync_sel,
        }
        enabled = {"att_en": 1} if self.rev9 else {}
        self.cfg_reg = Wide(word.encode(**fields, **enabled))

    # Configuration and status

    @kernel
    def cfg_write(self, cfg: TInt64):
        """Write the configuration and store it in `cfg_reg`."""
        if self.rev9:
            self.upper.send(int32(cfg >> self.lower_bits))
        self.lower.send(int32(cfg))
        self.cfg_reg = cfg

    @kernel
    def sta_read(self) -> TInt32:
        """Read the status; the same transfer writes the configuration."""
        if self.rev9:
            self.upper.send(int32(self.cfg_reg >> self.lower_bits))
        return self.status.exchange(int32(self.cfg_reg))

    @kernel
    def init(self, blind=False):
        """Check the card's revision unless `blind`, configure it, start the synchronisation clock.

        ValueError if the card does not report the revision of the device database.
        """
        wanted = self.cfg_reg
        # With the DDS chips' serial ports in reset, regardless of their state.
        self.cfg_reg = self._io_rst_of(wanted, True)
        delay(1 * us)
        if not blind:
            if urukul_sta_proto_rev(self.sta_read()) != self.proto_rev:
                raise ValueError("Urukul proto_rev mismatch")
        else:
            self.cfg_write(self.cfg_reg)
        delay(100 * us)
        self.cfg_write(wanted)
        if self.sync_div > 0:
            at_mu(now_mu() & ~int64(SYNC_STEPS - 1))
            self.set_sync_div(self.sync_div)
        delay(1 * ms)

    @kernel
    def _io_rst_of(self, cfg: TInt64, on: TBool) -> TInt64:
        """Return a configuration with the DDS chips' serial ports in reset, or not."""
        field = CFG9.io_rst if self.rev9 else CFG8.io_rst
        return field.switch_at(cfg, 0, on)

    @kernel
    def io_rst(self):
        """Pulse the reset of the DDS chips' serial ports."""
        self.cfg_write(self._io_rst_of(self.cfg_reg, True))
        self.cfg_write(self._io_rst_of(self.cfg_reg, False))

    @kernel
    def _check_rev9(self):
        """Reject features that a card of protocol revision 8 lacks."""
        if not self.rev9:
            raise NotImplementedError("this needs an Urukul with protocol revision 9")

    @kernel
    def set_profile(self, channel, profile):
        """Select a profile, 0 to 7, of a DDS channel; of all of them in protocol revision 8."""
        field = CFG9.profile if self.rev9 else CFG8.profile
        self.cfg_write(field.put_at(self.cfg_reg, checked_channel(channel), checked_profile(profile)))

    @kernel
    def set_all_profiles(self, profile):
        """Select a profile, 0 to 7, of all DDS channels."""
        field = CFG9.profile if self.rev9 else CFG8.profile
        self.cfg_write(field.put_all(self.cfg_reg, checked_profile(profile) * _EACH_PROFILE))

    # Lines of the channels. The `state` of all channels has 4 bits, channel 0 in the lowest.

    @kernel
    def cfg_sw(self, channel, on):
        """Close the RF switch of a channel (`on`), or open it."""
        field = CFG9.rf_sw if self.rev9 else CFG8.rf_sw
        self.cfg_write(field.switch_at(self.cfg_reg, checked_channel(channel), on))

    @kernel
    def cfg_switches(self, state):
        """Close the RF switches of the channels in `state`, and open the others."""
        field = CFG9.rf_sw if self.rev9 else CFG8.rf_sw
        self.cfg_write(field.put_all(self.cfg_reg, state))

    @kernel
    def cfg_io_update(self, channel, on):
        """Set the update line of a channel; of all of them in protocol revision 8."""
        field = CFG9.io_update if self.rev9 else CFG8.io_update
        self.cfg_write(field.switch_at(self.cfg_reg, checked_channel(channel), on))

    @kernel
    def cfg_io_update_all(self, state):
        """Set the update lines of all channels."""
        field = CFG9.io_update if self.rev9 else CFG8.io_update
        self.cfg_write(field.put_all(self.cfg_reg, state))

    @kernel
    def cfg_mask_nu(self, channel, on):
        """Keep a channel from its own bus (`on`), or not."""
        field = CFG9.mask_nu if self.rev9 else CFG8.mask_nu
        self.cfg_write(field.switch_at(self.cfg_reg, checked_channel(channel), on))

    @kernel
    def cfg_mask_nu_all(self, state):
        """Keep the channels in `state` from their own buses, and not the others."""
        field = CFG9.mask_nu if self.rev9 else CFG8.mask_nu
        self.cfg_write(field.put_all(self.cfg_reg, state))

    @kernel
    def cfg_att_en(self, channel, on):
        """Enable the attenuator of a channel (protocol revision 9)."""
        self._check_rev9()
        self.cfg_write(CFG9.att_en.switch_at(self.cfg_reg, checked_channel(channel), on))

    @kernel
    def cfg_att_en_all(self, state):
        """Enable the attenuators of the channels in `state` (protocol revision 9)."""
        self._check_rev9()
        self.cfg_write(CFG9.att_en.put_all(self.cfg_reg, state))

    @kernel
    def cfg_osk(self, channel, on):
        """Set the OSK line of a channel (protocol revision 9)."""
        self._check_rev9()
        self.cfg_write(CFG9.osk.switch_at(self.cfg_reg, checked_channel(channel), on))

    @kernel
    def cfg_osk_all(self, state):
        """Set the OSK lines of all channels (protocol revision 9)."""
        self._check_rev9()
        self.cfg_write(CFG9.osk.put_all(self.cfg_reg, state))

    @kernel
    def cfg_drctl(self, channel, on):
        """Set the ramp direction line of a channel (protocol revision 9)."""
        self._check_rev9()
        self.cfg_write(CFG9.drctl.switch_at(self.cfg_reg, checked_channel(channel), on))

    @kernel
    def cfg_drctl_all(self, state):
        """Set the ramp direction lines of all channels (protocol revision 9)."""
        self._check_rev9()
        self.cfg_write(CFG9.drctl.put_all(self.cfg_reg, state))

    @kernel
    def cfg_drhold(self, channel, on):
        """Set the ramp hold line of a channel (protocol revision 9)."""
        self._check_rev9()
        self.cfg_write(CFG9.drhold.switch_at(self.cfg_reg, checked_channel(channel), on))

    @kernel
    def cfg_drhold_all(self, state):
        """Set the ramp hold lines of all channels (protocol revision 9)."""
        self._check_rev9()
        self.cfg_write(CFG9.drhold.put_all(self.cfg_reg, state))

    # Attenuators

    @kernel
    def set_all_att_mu(self, att_reg):
        """Set all attenuators: channel 0 in the lowest byte."""
        self.attenuators.send(att_reg)
        self.att_reg = att_reg

    @kernel
    def set_att_mu(self, channel, att):
        """Set the attenuator of a channel (0 to 3) in machine units (0 to 255)."""
        self.set_all_att_mu(ATT.att.put_at(self.att_reg, checked_channel(channel), att))

    @kernel
    def get_att_mu(self) -> TInt32:
        """Read all attenuators, in the format of `set_all_att_mu`; they are 0 for the duration of a
        transfer."""
        self.read_attenuators.send(0)
        self.attenuators.prepare()
        delay(10 * us)
        self.att_reg = self.read_attenuators.get()
        self.attenuators.put(self.att_reg)
        return self.att_reg

    @kernel
    def get_channel_att_mu(self, channel) -> TInt32:
        """Read the attenuator of a channel, 0 to 255."""
        place = checked_channel(channel)
        return ATT.att.get_at(self.get_att_mu(), place)

    @kernel
    def get_channel_att(self, channel):
        """Read the attenuation of a channel in dB (float)."""
        return self.mu_to_att(self.get_channel_att_mu(channel))

    @kernel
    def set_sync_div(self, div):
        """Set the divider of the synchronisation clock, from the coarse frequency times 16 / 4: its
        word is 16 // `div`."""
        self.sync.set_mu(SYNC_STEPS // div)
