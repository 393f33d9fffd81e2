"""The logic (CPLD) of an Urukul, a card with four DDS channels: configuration, attenuators, and the SPI bus that its
DDS chips share. The card understands protocol revision 8 or 9, which differ in the layout of the configuration
register."""

from numpy import int32, int64

from ..language import TBool, TFloat, TInt32, TInt64, at_mu, delay, delay_mu, kernel, ms, now_mu, portable, us
from . import spi2 as spi

__all__ = [
    "CPLD",
    "CS_ATT",
    "CS_CFG",
    "CS_DDS_CH0",
    "CS_DDS_CH1",
    "CS_DDS_CH2",
    "CS_DDS_CH3",
    "CS_DDS_MULTI",
    "DEFAULT_PROFILE",
    "RegIOUpdate",
    "SPIT_DDS_RD",
    "SPIT_DDS_WR",
    "SPI_CONFIG",
    "urukul_sta_drover",
    "urukul_sta_ifc_mode",
    "urukul_sta_pll_lock",
    "urukul_sta_proto_rev",
    "urukul_sta_rf_sw",
    "urukul_sta_smp_err",
]

SPI_CONFIG = spi.SPI_CS_POLARITY

# SPI clock dividers, in coarse cycles
SPIT_CFG_WR = 2
SPIT_CFG_RD = 16
SPIT_ATT_WR = 6
SPIT_ATT_RD = 16
SPIT_DDS_WR = 2
SPIT_DDS_RD = 16

CS_CFG = 1
CS_ATT = 2
CS_DDS_MULTI = 3
CS_DDS_CH0 = 4
CS_DDS_CH1 = 5
CS_DDS_CH2 = 6
CS_DDS_CH3 = 7

DEFAULT_PROFILE = 7

# Fields of the configuration register: place of the lowest bit in revision 8 and 9
CFG_RF_SW = 0
CFG_LED = 4
CFG_PROFILE = 8


@portable
def urukul_sta_rf_sw(sta) -> TInt32:
    """RF switches, 4 bits, of a status word."""
    return sta & 0xF


@portable
def urukul_sta_smp_err(sta) -> TInt32:
    """Synchronisation errors of the DDS chips, 4 bits, of a status word."""
    return (sta >> 4) & 0xF


@portable
def urukul_sta_pll_lock(sta) -> TInt32:
    """Locked PLLs of the DDS chips, 4 bits, of a status word."""
    return (sta >> 8) & 0xF


@portable
def urukul_sta_ifc_mode(sta) -> TInt32:
    """Position of the mode switch, 4 bits, of a status word."""
    return (sta >> 12) & 0xF


@portable
def urukul_sta_proto_rev(sta) -> TInt32:
    """Protocol revision, 7 bits, of a status word."""
    return (sta >> 16) & 0x7F


@portable
def urukul_sta_drover(sta) -> TInt32:
    """Digital ramps that are over, 4 bits, of a status word."""
    return (sta >> 23) & 0xF


class RegIOUpdate:
    """The update pulse of a DDS by the configuration register, where no RTIO channel is connected to it."""

    kernel_invariants = {"cpld", "channel"}

    def __init__(self, cpld, chip_select):
        self.cpld = cpld
        self.channel = chip_select - CS_DDS_CH0

    @kernel
    def pulse_mu(self, duration):
        """Pulse for `duration` machine units (int64), besides the time of two transfers."""
        cfg = self.cpld.cfg_reg
        self.cpld.cfg_io_update(self.channel, True)
        delay_mu(duration)
        self.cpld.cfg_write(cfg)

    @kernel
    def pulse(self, duration):
        """Pulse for `duration` seconds (float), besides the time of two transfers."""
        cfg = self.cpld.cfg_reg
        self.cpld.cfg_io_update(self.channel, True)
        delay(duration)
        self.cpld.cfg_write(cfg)


class _DummySync:
    """Stands for a synchronisation clock that is not connected."""

    kernel_invariants = {"cpld"}

    def __init__(self, cpld):
        self.cpld = cpld

    @kernel
    def set_mu(self, ftw):
        pass


class CPLD:
    """The logic of an Urukul on the SPI bus `spi_device`.

    `io_update_device`, `dds_reset_device`, `sync_device`: TTL channels, as far as they are connected. `clk_sel`: 0
    internal oscillator, 1 SMA, 2 MMCX. `clk_div`: 0 the default of the DDS chips, 1, 2, 3 division by 1, 2, 4.
    `rf_sw`: switches at the start. `refclk`: reference in Hz. `att`: attenuators at the start. `sync_div`: divider of
    the synchronisation clock. `proto_rev`: 8 or 9.
    """

    kernel_invariants = {"refclk", "bus", "core", "io_update", "clk_div", "proto_rev", "sync", "rev9"}

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
        if proto_rev not in (0x08, 0x09):
            raise ValueError(f"proto_rev of an Urukul is 8 or 9, not {proto_rev}")
        if not 0 <= clk_div <= 3:
            raise ValueError(f"clk_div of an Urukul is between 0 and 3, not {clk_div}")
        self.core = dmgr.get(core_device)
        self.refclk = refclk
        self.clk_div = clk_div
        self.proto_rev = proto_rev
        self.version = proto_rev
        self.rev9 = proto_rev == 0x09
        self.bus = dmgr.get(spi_device)
        self.io_update = dmgr.get(io_update_device) if io_update_device is not None else None
        if dds_reset_device is not None:
            self.dds_reset = dmgr.get(dds_reset_device)
        if sync_device is not None:
            self.sync = dmgr.get(sync_device)
            self.sync_div = 2 if sync_div is None else sync_div
        else:
            if sync_div:
                raise ValueError("sync_div of an Urukul needs sync_device")
            self.sync = _DummySync(self)
            self.sync_div = 0
        self.att_reg = int32(int64(att))
        self.cfg_reg = self._initial_cfg(rf_sw, clk_sel, clk_div, sync_sel)

    def _initial_cfg(self, rf_sw, clk_sel, clk_div, sync_sel) -> int64:
        """The configuration register of the attributes, all profiles the default one."""
        cfg = rf_sw << CFG_RF_SW
        if self.rev9:
            for channel in range(4):
                cfg |= DEFAULT_PROFILE << (CFG_PROFILE + 3 * channel)
            cfg |= (clk_sel & 1) << 40 | (clk_sel >> 1 & 1) << 44
            cfg |= sync_sel << 41 | clk_div << 45 | 0xF << 47
        else:
            cfg |= DEFAULT_PROFILE << CFG_PROFILE
            cfg |= (clk_sel & 1) << 17 | (clk_sel >> 1 & 1) << 21
            cfg |= sync_sel << 18 | clk_div << 22
        return int64(cfg)

    # The configuration register

    @kernel
    def _field(self, rev8, rev9) -> TInt32:
        """Place of a field that both revisions have."""
        return rev9 if self.rev9 else rev8

    @kernel
    def cfg_write(self, cfg: TInt64):
        """Write the configuration register, and keep it in `cfg_reg`."""
        self._cfg_transfer(cfg, 0, SPIT_CFG_WR)
        self.cfg_reg = cfg

    @kernel
    def _cfg_transfer(self, cfg: TInt64, flags, div):
        """Shift a configuration into the card; with `SPI_INPUT` the status comes back."""
        if self.rev9:
            self.bus.set_config_mu(SPI_CONFIG, 24, SPIT_CFG_WR, CS_CFG)
            self.bus.write(int32(cfg >> 28) << 8)
            self.bus.set_config_mu(SPI_CONFIG | spi.SPI_END | flags, 28, div, CS_CFG)
            self.bus.write(int32(cfg & 0xFFFFFFF) << 4)
        else:
            self.bus.set_config_mu(SPI_CONFIG | spi.SPI_END | flags, 24, div, CS_CFG)
            self.bus.write(int32(cfg) << 8)

    @kernel
    def sta_read(self) -> TInt32:
        """Read the status register; the configuration is written meanwhile."""
        self._cfg_transfer(self.cfg_reg, spi.SPI_INPUT, SPIT_CFG_RD)
        return self.bus.read()

    @kernel
    def init(self, blind=False):
        """Check the card's revision unless `blind`, configure it, start the synchronisation clock.

        ValueError if the card does not answer with the revision of the device database.
        """
        cfg = self.cfg_reg
        # With the DDS chips' serial ports in reset, whatever state they are in.
        self.cfg_reg = cfg | (int64(1) << self._field(20, 43))
        delay(1 * us)
        if blind:
            self.cfg_write(self.cfg_reg)
        elif urukul_sta_proto_rev(self.sta_read()) != self.proto_rev:
            raise ValueError("Urukul proto_rev mismatch")
        delay(100 * us)
        self.cfg_write(cfg)
        if self.sync_div != 0:
            at_mu(now_mu() & ~0xF)
            self.set_sync_div(self.sync_div)
        delay(1 * ms)

    @kernel
    def io_rst(self):
        """Pulse the reset of the DDS chips' serial ports."""
        cfg = self.cfg_reg
        self.cfg_write(cfg | (int64(1) << self._field(20, 43)))
        self.cfg_write(cfg)

    @kernel
    def _cfg_bit(self, place, on: TBool):
        bit = int64(1) << place
        if on:
            self.cfg_write(self.cfg_reg | bit)
        else:
            self.cfg_write(self.cfg_reg & ~bit)

    @kernel
    def _cfg_nibble(self, place, state):
        self.cfg_write((self.cfg_reg & ~(int64(0xF) << place)) | (int64(state & 0xF) << place))

    @kernel
    def set_profile(self, channel, profile):
        """Select a profile, 0 to 7, of a DDS channel; of all of them in revision 8."""
        place = CFG_PROFILE
        if self.rev9:
            place += 3 * channel
        self.cfg_write((self.cfg_reg & ~(int64(7) << place)) | (int64(profile & 7) << place))

    @kernel
    def cfg_sw(self, channel, on):
        """Close (`on`) or open an RF switch. A switch is closed if this or its TTL channel says so."""
        self._cfg_bit(CFG_RF_SW + channel, on)

    @kernel
    def cfg_switches(self, state):
        """All RF switches, 4 bits."""
        self._cfg_nibble(CFG_RF_SW, state)

    @kernel
    def cfg_mask_nu(self, channel, on):
        """Keep the DDS channel from the bus of its own, for an SU-Servo."""
        self._cfg_bit(self._field(13, 36) + channel, on)

    @kernel
    def cfg_mask_nu_all(self, state):
        """`cfg_mask_nu` of all channels, 4 bits."""
        self._cfg_nibble(self._field(13, 36), state)

    @kernel
    def cfg_io_update(self, channel, on):
        """The update line of a DDS channel; of all of them in revision 8."""
        if self.rev9:
            self._cfg_bit(32 + channel, on)
        else:
            self._cfg_bit(12, on)

    @kernel
    def cfg_io_update_all(self, state):
        """The update lines of all channels, 4 bits; in revision 8 they are one."""
        if self.rev9:
            self._cfg_nibble(32, state)
        else:
            self._cfg_bit(12, (state & 1) != 0)

    def _needs_rev9(self):
        raise NotImplementedError("this needs an Urukul with protocol revision 9")

    @kernel
    def _cfg_rev9(self, place, on: TBool):
        if self.rev9:
            self._cfg_bit(place, on)
        else:
            self._needs_rev9()

    @kernel
    def _cfg_rev9_all(self, place, state):
        if self.rev9:
            self._cfg_nibble(place, state)
        else:
            self._needs_rev9()

    @kernel
    def cfg_att_en(self, channel, on):
        """Enable an attenuator (revision 9); all are, at the start."""
        self._cfg_rev9(47 + channel, on)

    @kernel
    def cfg_att_en_all(self, state):
        """Enable attenuators, 4 bits (revision 9)."""
        self._cfg_rev9_all(47, state)

    @kernel
    def cfg_osk(self, channel, on):
        """The output-shift-keying line of a DDS channel (revision 9)."""
        self._cfg_rev9(20 + channel, on)

    @kernel
    def cfg_osk_all(self, state):
        """The output-shift-keying lines, 4 bits (revision 9)."""
        self._cfg_rev9_all(20, state)

    @kernel
    def cfg_drctl(self, channel, on):
        """The ramp direction line of a DDS channel (revision 9)."""
        self._cfg_rev9(24 + channel, on)

    @kernel
    def cfg_drctl_all(self, state):
        """The ramp direction lines, 4 bits (revision 9)."""
        self._cfg_rev9_all(24, state)

    @kernel
    def cfg_drhold(self, channel, on):
        """The ramp hold line of a DDS channel (revision 9)."""
        self._cfg_rev9(28 + channel, on)

    @kernel
    def cfg_drhold_all(self, state):
        """The ramp hold lines, 4 bits (revision 9)."""
        self._cfg_rev9_all(28, state)

    # Attenuators, 8 bits each: 255 is no attenuation, a step 1/8 dB

    @portable
    def mu_to_att(self, att_mu) -> TFloat:
        """Attenuation in dB of a setting (0 to 255)."""
        return (255 - (att_mu & 0xFF)) / 8

    @portable
    def att_to_mu(self, att) -> TInt32:
        """Setting for an attenuation in dB. ValueError outside of 0 to 31.875 dB."""
        code = int32(255) - int32(round(att * 8))
        if code < 0 or code > 255:
            raise ValueError("Invalid urukul.CPLD attenuation!")
        return code

    @kernel
    def set_att_mu(self, channel, att):
        """Set the attenuator of a channel (0 to 3) in machine units (0 to 255)."""
        a = self.att_reg & ~(0xFF << (channel * 8))
        a |= att << (channel * 8)
        self.set_all_att_mu(a)

    @kernel
    def set_all_att_mu(self, att_reg):
        """Set all attenuators: channel 0 in the lowest byte."""
        self.bus.set_config_mu(SPI_CONFIG | spi.SPI_END, 32, SPIT_ATT_WR, CS_ATT)
        self.bus.write(att_reg)
        self.att_reg = att_reg

    @kernel
    def set_att(self, channel, att):
        """Set the attenuation of a channel in dB (float), 0 to 31.875."""
        self.set_att_mu(channel, self.att_to_mu(att))

    @kernel
    def get_att_mu(self) -> TInt32:
        """Read all attenuators, as `set_all_att_mu` takes them; they are 0 for the time of a transfer."""
        self.bus.set_config_mu(SPI_CONFIG | spi.SPI_INPUT, 32, SPIT_ATT_RD, CS_ATT)
        self.bus.write(0)
        self.bus.set_config_mu(SPI_CONFIG | spi.SPI_END, 32, SPIT_ATT_WR, CS_ATT)
        delay(10 * us)
        self.att_reg = self.bus.read()
        self.bus.write(self.att_reg)
        return self.att_reg

    @kernel
    def get_channel_att_mu(self, channel) -> TInt32:
        """Read the attenuator of a channel, 0 to 255."""
        return int32((self.get_att_mu() >> (channel * 8)) & 0xFF)

    @kernel
    def get_channel_att(self, channel) -> TFloat:
        """Read the attenuation of a channel in dB."""
        return self.mu_to_att(self.get_channel_att_mu(channel))

    # Synchronisation

    @kernel
    def set_sync_div(self, div):
        """Divider of the synchronisation clock, from the coarse frequency times 16 / 4: its word is 16 // `div`."""
        ftw_max = 1 << 4
        ftw = ftw_max // div
        self.sync.set_mu(ftw)
