"""The DDS chip AD9910 on an Urukul: a channel of 1 GS/s with eight profiles and a RAM.

The registers follow the data sheet (`kairos.coredevice.chips.ad9910`). Machine units: frequency
word `ftw` (32 bits for the system clock), phase word `pow` (16 bits per turn), amplitude word `asf`
(14 bits for full scale).
"""

from ..language import (
    PHASE_MODE_ABSOLUTE,
    PHASE_MODE_CONTINUOUS,
    PHASE_MODE_TRACKING,
    TFloat,
    TInt32,
    TTuple,
    at_mu,
    delay,
    delay_mu,
    kernel,
    ms,
    now_mu,
    us,
)
from ..numeric import Wide, int32, int64
from .ad9910_conversions import Conversions
from .ad9910_delays import FixedDelays as SyncDataUser
from .ad9910_delays import StoredDelays as SyncDataEeprom
from .ad9910_delays import delays_of
from .ad9910_registers import SerialPort
from .ad9910_sync import Synchronisation
from .chips.ad9910 import (
    ASF,
    AUX_DAC,
    CFR1,
    CFR2,
    CFR3,
    FTW,
    OSCILLATORS,
    POW,
    PROFILE,
    RAM_PROFILE,
    checked_profile,
)
from .chips.urukul import checked_channel
from .parts.numbers import to_int32
from .parts.readiness import Readiness
from .parts.urukul_channel import UrukulChannel
from .urukul import CS_DDS_CH0, CS_DDS_CH3, CS_DDS_MULTI, DEFAULT_PROFILE, urukul_sta_pll_lock

__all__ = [
    "AD9910",
    "PHASE_MODE_ABSOLUTE",
    "PHASE_MODE_CONTINUOUS",
    "PHASE_MODE_TRACKING",
    "RAM_DEST_ASF",
    "RAM_DEST_FTW",
    "RAM_DEST_POW",
    "RAM_DEST_POWASF",
    "RAM_MODE_BIDIR_RAMP",
    "RAM_MODE_CONT_BIDIR_RAMP",
    "RAM_MODE_CONT_RAMPUP",
    "RAM_MODE_DIRECTSWITCH",
    "RAM_MODE_RAMPUP",
    "SyncDataEeprom",
    "SyncDataUser",
]

_PHASE_MODE_DEFAULT = -1

RAM_DEST_FTW, RAM_DEST_POW, RAM_DEST_ASF, RAM_DEST_POWASF = (
    CFR1.ram_destination.number(name) for name in ("FTW", "POW", "ASF", "POWASF")
)
(
    RAM_MODE_DIRECTSWITCH,
    RAM_MODE_RAMPUP,
    RAM_MODE_BIDIR_RAMP,
    RAM_MODE_CONT_BIDIR_RAMP,
    RAM_MODE_CONT_RAMPUP,
) = (RAM_PROFILE.mode.number(name) for name in RAM_PROFILE.mode.values)
_NO_RAM = -1
_NO_TIME = Wide(-1)

_GRID = Wide(8 - 1)
"""Updates are aligned to multiples of 8 machine units."""
_NEEDS_FTW, _NEEDS_ASF, _NEEDS_POW = 1, 2, 4
_NEEDED = [_NEEDS_ASF + _NEEDS_POW, _NEEDS_FTW + _NEEDS_ASF, _NEEDS_FTW + _NEEDS_POW, _NEEDS_FTW]
"""By RAM destination: the quantities that the RAM does not supply and registers must."""

_REFCLK_DIVIDERS = [4, 1, 2, 4]
_FASTEST_REFCLK, _FASTEST_SYSCLK = 60e6, 1e9


def reference_clock(refclk, clk_div):
    """Chip reference in Hz, given the card's reference `refclk` in Hz."""
    return refclk / _REFCLK_DIVIDERS[clk_div]


def system_clock(refclk, clk_div, pll_n, pll_en):
    """System clock of the chip in Hz, given the card's reference `refclk` in Hz."""
    return reference_clock(refclk, clk_div) * (pll_n if pll_en else 1)


class AD9910(UrukulChannel, SerialPort, Conversions, Synchronisation, Readiness):
    """A channel on the Urukul `cpld_device`.

    `chip_select`: 4 to 7 for channel 0 to 3, 3 for all channels that are not masked. `sw_device`:
    TTL channel of the RF switch. `pll_n`, `pll_cp`, `pll_vco`, `pll_en`: PLL multiplier, charge
    pump, oscillator, and whether the PLL is enabled. `sync_delay_seed`, `io_update_delay`:
    calibration result, or both ``"EEPROM_DEVICE:OFFSET"``.
    """

    kernel_invariants = UrukulChannel.kernel_invariants | {
        *("ftw_per_hz", "sysclk", "sysclk_per_mu"),
        *("pll_cp", "pll_en", "pll_n", "pll_vco", "clock_word", "clock_reset_word", "sync_data", "sync_generator"),
    }

    def __init__(
        self,
        dmgr,
        chip_select,
        cpld_device,
        sw_device=None,
        pll_n=40,
        pll_cp=7,
        pll_vco=5,
        sync_delay_seed=-1,
        io_update_delay=0,
        pll_en=1,
    ):
        if chip_select not in range(CS_DDS_MULTI, CS_DDS_CH3 + 1):
            raise ValueError(f"chip_select of an AD9910 is between 3 and 7, not {chip_select}")
        super().__init__(dmgr, chip_select, cpld_device, sw_device)
        self.pll_n, self.pll_cp, self.pll_vco, self.pll_en = pll_n, pll_cp, pll_vco, pll_en
        if pll_en:
            self._check_pll(reference_clock(self.cpld.refclk, self.cpld.clk_div))
        self.sysclk = system_clock(self.cpld.refclk, self.cpld.clk_div, pll_n, pll_en)
        if self.sysclk > _FASTEST_SYSCLK:
            raise ValueError(f"the system clock of an AD9910 is at most 1 GHz, not {self.sysclk / 1e6} MHz")
        self.ftw_per_hz = FTW.ftw.steps / self.sysclk
        self.sysclk_per_mu = int(round(self.sysclk * self.core.ref_period))
        clock = {"drv0": 0, "refclk_divider_bypass": 1, "vco_sel": pll_vco, "icp": pll_cp}
        if pll_en:
            clock |= {"pll_enable": 1, "pll_n": pll_n}
        self.clock_word = to_int32(CFR3.encode(**clock))
        self.clock_reset_word = to_int32(CFR3.encode(pfd_reset=1, **clock))
        self.sync_data = delays_of(dmgr, self.core, sync_delay_seed, io_update_delay)
        # Only this chip's synchronisation clock is distributed by the card to all chips
        self.sync_generator = int(self.cpld.sync_sel == 1 and chip_select in (CS_DDS_MULTI, CS_DDS_CH0))
        self.phase_mode = PHASE_MODE_CONTINUOUS

    def _check_pll(self, refclk):
        """Raise ValueError if the chip cannot derive its clock from a reference in Hz."""
        CFR3.pll_n.check(self.pll_n, "pll_n")
        CFR3.vco_sel.check(self.pll_vco, "pll_vco")
        CFR3.icp.check(self.pll_cp, "pll_cp")
        if refclk > _FASTEST_REFCLK:
            raise ValueError(f"the PLL of an AD9910 takes at most 60 MHz, not {refclk / 1e6} MHz")
        frequency, (lowest, highest) = refclk * self.pll_n, OSCILLATORS[self.pll_vco]
        if not lowest <= frequency <= highest:
            text = f"{frequency / 1e6} MHz is outside of the range of its oscillator {self.pll_vco}"
            raise ValueError(f"{text}, {lowest / 1e6} to {highest / 1e6} MHz (pll_n, pll_vco)")

    # Initialisation

    @kernel
    def init(self, blind=False, dds_channel_idx=0):
        """Configure the chip and wait for PLL lock, unless `blind`. The Urukul must be initialised
        first.

        `dds_channel_idx`: if the chip select addresses all chips, the channel whose lock is
        awaited. ValueError if the chip does not answer, or its PLL does not lock within 100 ms.
        """
        channel = checked_channel(dds_channel_idx if self.chip_select == CS_DDS_MULTI else self.channel)
        self.sync_data.init()
        self.core.break_realtime()
        delay(50 * ms)
        self.set_cfr1()
        self._update()
        delay(1 * ms)
        if not blind:
            self._check_answer()
        self.set_cfr2()
        self._update()
        self._start_clock(blind, channel)
        delay(10 * us)
        if self.sync_data.sync_delay_seed >= 0:
            self.set_sync(self.sync_data.sync_delay_seed, 0, self.sync_generator)
            self.clear_smp_err()
        self.cpld.cfg_write(self.cpld.cfg_reg)
        delay(1 * ms)

    @kernel
    def _update(self):
        """Apply the values written to control registers."""
        self.io_update.pulse(1 * us)

    @kernel
    def _check_answer(self):
        """Check the reset value of a register that is never written; ValueError if it differs."""
        if AUX_DAC.full_scale_current.get(self.read32(AUX_DAC.address)) != AUX_DAC.full_scale_current.reset:
            raise ValueError("Urukul AD9910 AUX_DAC mismatch")
        delay(50 * us)

    @kernel
    def _start_clock(self, blind, channel):
        """Write the clock register; with the PLL enabled, reset its phase detector first and wait
        for lock."""
        self.write32(CFR3.address, self.clock_reset_word)
        self._update()
        if self.pll_en != 0:
            self.write32(CFR3.address, self.clock_word)
            self._update()
            if blind:
                delay(100 * ms)
            elif not self.becomes_ready(channel, 100, 1 * ms):
                raise ValueError("PLL lock timeout")

    @kernel
    def is_ready(self, channel):
        """Return whether the PLL of a channel of the Urukul has locked."""
        place = checked_channel(channel)
        return (urukul_sta_pll_lock(self.cpld.sta_read()) >> place) & 1 == 1

    @kernel
    def power_down(self, bits=0b1111):
        """Power down parts of the chip: digital, DAC, reference, auxiliary DAC (bits 3 to 0)."""
        self.set_cfr1(power_down=bits)
        self._update()

    @kernel
    def set_cfr1(
        self,
        power_down=0b0000,
        phase_autoclear=0,
        drg_load_lrr=0,
        drg_autoclear=0,
        phase_clear=0,
        internal_profile=0,
        ram_destination=0,
        ram_enable=0,
        manual_osk_external=0,
        osk_enable=0,
        select_auto_osk=0,
    ):
        """Write control register 1 (takes effect at the next update)."""
        word = CFR1.word(
            sdio_input_only=1,
            power_down=power_down,
            ram_enable=ram_enable,
            ram_destination=ram_destination,
            phase_clear=phase_clear,
            phase_autoclear=phase_autoclear,
            drg_autoclear=drg_autoclear,
            drg_load_lrr=drg_load_lrr,
            internal_profile=internal_profile,
            osk_enable=osk_enable,
            manual_osk_external=manual_osk_external,
            select_auto_osk=select_auto_osk,
        )
        self.write32(CFR1.address, word)

    @kernel
    def set_cfr2(
        self,
        asf_profile_enable=1,
        drg_destination=0,
        drg_enable=0,
        drg_nodwell_high=0,
        drg_nodwell_low=0,
        effective_ftw=1,
        sync_validation_disable=0,
        matched_latency_enable=0,
    ):
        """Write control register 2 (takes effect at the next update). The chip's clock outputs stay
        off."""
        word = CFR2.word(
            sync_clk_enable=0,
            pdclk_enable=0,
            matched_latency_enable=matched_latency_enable,
            sync_validation_disable=sync_validation_disable,
            effective_ftw=effective_ftw,
            asf_profile_enable=asf_profile_enable,
            drg_enable=drg_enable,
            drg_destination=drg_destination,
            drg_nodwell_low=drg_nodwell_low,
            drg_nodwell_high=drg_nodwell_high,
        )
        self.write32(CFR2.address, word)

    # Output

    @kernel
    def set_phase_mode(self, phase_mode):
        """Set the default phase mode of `set` and `set_mu`."""
        self.phase_mode = phase_mode

    @kernel
    def set_mu(
        self,
        ftw=0,
        pow_=0,
        asf=0x3FFF,
        phase_mode=_PHASE_MODE_DEFAULT,
        ref_time_mu=_NO_TIME,
        profile=DEFAULT_PROFILE,
        ram_destination=_NO_RAM,
    ) -> TInt32:
        """Set frequency, phase and amplitude of a profile in machine units; returns the phase word,
        corrected according to the phase mode. ValueError, here and below, for a profile but 0 to 7.

        The cursor is aligned to the coarse cycle and advances by 1256 mu (continuous) or 2664 mu.
        """
        mode = self.phase_mode if phase_mode == _PHASE_MODE_DEFAULT else phase_mode
        checked_profile(profile)
        self._align()
        if mode == PHASE_MODE_CONTINUOUS:
            self._write_tone(ftw, pow_, asf, profile, ram_destination)
            self._apply_tone()
        else:
            # The update clears the accumulator; autoclear is disabled below, or every later update
            # would too.
            self.set_cfr1(phase_autoclear=1)
            start = ref_time_mu
            if mode == PHASE_MODE_TRACKING:
                start = max(start, int64(0))
            if start >= 0:
                pow_ += self._turned(ftw, start)
            self._write_tone(ftw, pow_, asf, profile, ram_destination)
            self._apply_tone()
            self.set_cfr1()
        return pow_

    @kernel
    def _align(self):
        at_mu(now_mu() & ~_GRID)

    @kernel
    def _turned(self, ftw, start) -> TInt32:
        """Phase word accumulated by a frequency from a time (int64) to the cursor."""
        return (int32(now_mu() - start) * ftw * self.sysclk_per_mu) >> (FTW.ftw.width - POW.pow.width)

    @kernel
    def _write_tone(self, ftw, pow_, asf, profile, ram_destination):
        """Write the tone for the next update; in RAM mode only the quantities that the RAM does not
        supply."""
        if ram_destination == _NO_RAM:
            high, low = PROFILE.words(asf, pow_, ftw)
            self.write64(PROFILE.address + profile, high, low)
        else:
            needed = _NEEDED[ram_destination]
            if needed & _NEEDS_FTW != 0:
                self.set_ftw(ftw)
            if needed & _NEEDS_ASF != 0:
                self.set_asf(asf)
            if needed & _NEEDS_POW != 0:
                self.set_pow(pow_)

    @kernel
    def _apply_tone(self):
        """Issue the update with the calibrated delay."""
        delay_mu(int64(self.sync_data.io_update_delay))
        self.io_update.pulse_mu(8)
        self._align()

    @kernel
    def set(
        self,
        frequency=0.0,
        phase=0.0,
        amplitude=1.0,
        phase_mode=_PHASE_MODE_DEFAULT,
        ref_time_mu=_NO_TIME,
        profile=DEFAULT_PROFILE,
        ram_destination=_NO_RAM,
    ) -> TFloat:
        """As `set_mu` with Hz, turns and a fraction of full scale (all float); returns turns."""
        ftw, asf = self.frequency_to_ftw(frequency), self.amplitude_to_asf(amplitude)
        pow_ = self.turns_to_pow(phase)
        return self.pow_to_turns(self.set_mu(ftw, pow_, asf, phase_mode, ref_time_mu, profile, ram_destination))

    @kernel
    def get_mu(self, profile=DEFAULT_PROFILE) -> TTuple([TInt32, TInt32, TInt32]):
        """Read frequency, phase and amplitude words of a profile."""
        tone = self.read64(PROFILE.address + checked_profile(profile))
        return PROFILE.ftw.get(tone), PROFILE.pow.get(tone), PROFILE.asf.get(tone)

    @kernel
    def get(self, profile=DEFAULT_PROFILE) -> TTuple([TFloat, TFloat, TFloat]):
        """Read frequency in Hz, phase in turns and amplitude of a profile."""
        words = self.get_mu(profile)
        return self.ftw_to_frequency(words[0]), self.pow_to_turns(words[1]), self.asf_to_amplitude(words[2])

    @kernel
    def set_profile_ram(self, start, end, step=1, profile=0, nodwell_high=0, zero_crossing=0, mode=RAM_MODE_RAMPUP):
        """Make a profile play RAM words `start` to `end`, each for `step` times 4 system clock cycles."""
        high, low = RAM_PROFILE.words(step, end, start, nodwell_high, zero_crossing, mode)
        self.write64(RAM_PROFILE.address + checked_profile(profile), high, low)

    # Quantities not given by profiles

    @kernel
    def set_ftw(self, ftw):
        """Write the frequency register."""
        self.write32(FTW.address, ftw)

    @kernel
    def get_ftw(self) -> TInt32:
        """Read the frequency register."""
        return self.read32(FTW.address)

    @kernel
    def set_frequency(self, frequency):
        """Write the frequency register, in Hz."""
        self.set_ftw(self.frequency_to_ftw(frequency))

    @kernel
    def get_frequency(self) -> TFloat:
        """Read the frequency register, in Hz."""
        return self.ftw_to_frequency(self.get_ftw())

    @kernel
    def set_pow(self, pow_):
        """Write the phase register."""
        self.write16(POW.address, pow_)

    @kernel
    def get_pow(self) -> TInt32:
        """Read the phase register."""
        return self.read16(POW.address)

    @kernel
    def set_phase(self, turns):
        """Write the phase register, in turns."""
        self.set_pow(self.turns_to_pow(turns))

    @kernel
    def get_phase(self) -> TFloat:
        """Read the phase register, in turns."""
        return self.pow_to_turns(self.get_pow())

    @kernel
    def set_asf(self, asf):
        """Write the amplitude register."""
        self.write32(ASF.address, ASF.asf.place(asf))

    @kernel
    def get_asf(self) -> TInt32:
        """Read the amplitude register."""
        return ASF.asf.get(self.read32(ASF.address))

    @kernel
    def set_amplitude(self, amplitude):
        """Write the amplitude register, a fraction of full scale."""
        self.set_asf(self.amplitude_to_asf(amplitude))

    @kernel
    def get_amplitude(self) -> TFloat:
        """Read the amplitude register, a fraction of full scale."""
        return self.asf_to_amplitude(self.get_asf())
