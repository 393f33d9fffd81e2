"""The DDS chip AD9910 on an Urukul: a channel of 1 GS/s with eight profiles and a RAM.

Register numbers, bits and the phase relations are those of the data sheet. In machine units: frequency word `ftw`
(32 bits for the system clock), phase word `pow` (16 bits for a turn), amplitude word `asf` (14 bits for full scale).
"""

from numpy import int32, int64

from ..language import (
    TFloat,
    TInt32,
    TList,
    TTuple,
    at_mu,
    delay,
    delay_mu,
    kernel,
    ms,
    now_mu,
    portable,
    us,
)
from . import urukul
from .ad9910_delays import FixedDelays, StoredDelays
from .ad9910_registers import (
    _AD9910_REG_ASF,
    _AD9910_REG_AUX_DAC,
    _AD9910_REG_CFR3,
    _AD9910_REG_FTW,
    _AD9910_REG_POW,
    _AD9910_REG_PROFILE0,
    _AD9910_REG_SYNC,
    Registers,
)

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
]

_PHASE_MODE_DEFAULT = -1
_NO_TIME = int64(-1)
PHASE_MODE_CONTINUOUS = 0
"""the phase accumulator runs on; `phase` is added"""
PHASE_MODE_ABSOLUTE = 1
"""the accumulator starts from zero: the phase is `phase` at the update, or what it is since `ref_time_mu`"""
PHASE_MODE_TRACKING = 2
"""as if the frequency had been on since `ref_time_mu` (default 0)"""

RAM_DEST_FTW = 0
RAM_DEST_POW = 1
RAM_DEST_ASF = 2
RAM_DEST_POWASF = 3

RAM_MODE_DIRECTSWITCH = 0
RAM_MODE_RAMPUP = 1
RAM_MODE_BIDIR_RAMP = 2
RAM_MODE_CONT_BIDIR_RAMP = 3
RAM_MODE_CONT_RAMPUP = 4

_VCO_RANGES = [(370e6, 510e6), (420e6, 590e6), (500e6, 700e6), (600e6, 880e6), (700e6, 950e6), (820e6, 1150e6)]
_REFCLK_DIVIDERS = [4, 1, 2, 4]


class AD9910(Registers):
    """A channel on the Urukul `cpld_device`.

    `chip_select`: 4 to 7 for channel 0 to 3, 3 for all that are not masked. `sw_device`: TTL channel of its RF switch.
    `pll_n`, `pll_cp`, `pll_vco`, `pll_en`: the PLL's multiplier, charge pump, oscillator and whether it is on.
    `sync_delay_seed`, `io_update_delay`: result of the calibration, or both ``"EEPROM_DEVICE:OFFSET"``.
    """

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
        self.kernel_invariants = {
            *("cpld", "core", "bus", "chip_select", "pll_en", "pll_n", "pll_vco", "pll_cp"),
            *("ftw_per_hz", "sysclk_per_mu", "sysclk", "delays", "io_update"),
        }
        self.cpld = dmgr.get(cpld_device)
        self.core = self.cpld.core
        self.bus = self.cpld.bus
        if not 3 <= chip_select <= 7:
            raise ValueError(f"chip_select of an AD9910 is between 3 and 7, not {chip_select}")
        self.chip_select = chip_select
        if sw_device is not None:
            self.sw = dmgr.get(sw_device)
            self.kernel_invariants.add("sw")
        clk = self.cpld.refclk / _REFCLK_DIVIDERS[self.cpld.clk_div]
        self.pll_en = pll_en
        self.pll_n = pll_n
        self.pll_vco = pll_vco
        self.pll_cp = pll_cp
        self.sysclk = self._check_clocks(clk) if pll_en else clk
        if self.sysclk > 1e9:
            raise ValueError(f"the system clock of an AD9910 is at most 1 GHz, not {self.sysclk / 1e6} MHz")
        self.ftw_per_hz = (1 << 32) / self.sysclk
        self.sysclk_per_mu = int(round(self.sysclk * self.core.ref_period))
        if isinstance(sync_delay_seed, str) or isinstance(io_update_delay, str):
            if sync_delay_seed != io_update_delay:
                raise ValueError("sync_delay_seed and io_update_delay of an AD9910 are both numbers or the same text")
            self.delays = StoredDelays(dmgr, sync_delay_seed)
        else:
            self.delays = FixedDelays(sync_delay_seed, io_update_delay)
        self.io_update = self.cpld.io_update or urukul.RegIOUpdate(self.cpld, chip_select)
        self.phase_mode = PHASE_MODE_CONTINUOUS

    def _check_clocks(self, clk):
        """The system clock with the PLL, for a reference in Hz; ValueError if the chip cannot do that."""
        if not 12 <= self.pll_n <= 127:
            raise ValueError(f"pll_n of an AD9910 is between 12 and 127, not {self.pll_n}")
        if clk > 60e6:
            raise ValueError(f"the PLL of an AD9910 takes at most 60 MHz, not {clk / 1e6} MHz")
        if not (0 <= self.pll_vco < len(_VCO_RANGES) and 0 <= self.pll_cp <= 7):
            raise ValueError("pll_vco of an AD9910 is between 0 and 5, pll_cp between 0 and 7")
        sysclk = clk * self.pll_n
        lowest, highest = _VCO_RANGES[self.pll_vco]
        if not lowest <= sysclk <= highest:
            text = f"{sysclk / 1e6} MHz is outside of the range of its oscillator {self.pll_vco}"
            raise ValueError(f"{text}, {lowest / 1e6} to {highest / 1e6} MHz (pll_n, pll_vco)")
        return sysclk

    @kernel
    def init(self, blind=False):
        """Configure the chip and wait until its PLL has locked, unless `blind`. The Urukul is initialised before.

        ValueError if the chip does not answer, or its PLL does not lock within 100 ms.
        """
        self.delays.load()
        self.core.break_realtime()
        delay(50 * ms)
        self.set_cfr1()
        self.io_update.pulse(1 * us)
        delay(1 * ms)
        if not blind:
            aux_dac = self.read32(_AD9910_REG_AUX_DAC)
            if aux_dac & 0xFF != 0x7F:
                raise ValueError("Urukul AD9910 AUX_DAC mismatch")
            delay(50 * us)
        self.set_cfr2()
        self.io_update.pulse(1 * us)
        cfr3 = 0x0807C000 | (self.pll_vco << 24) | (self.pll_cp << 19) | (self.pll_en << 8) | (self.pll_n << 1)
        # With the reset of the phase detector, then without
        self.write32(_AD9910_REG_CFR3, cfr3 | 0x400)
        self.io_update.pulse(1 * us)
        if self.pll_en != 0:
            self.write32(_AD9910_REG_CFR3, cfr3)
            self.io_update.pulse(1 * us)
            if blind:
                delay(100 * ms)
            else:
                self._wait_for_lock()
        delay(10 * us)
        if self.delays.sync_delay >= 0:
            self.set_sync(self.delays.sync_delay, 0)
            self.clear_smp_err()
        self.cpld.cfg_write(self.cpld.cfg_reg)
        delay(1 * ms)

    @kernel
    def _wait_for_lock(self):
        for _ in range(100):
            sta = self.cpld.sta_read()
            delay(1 * ms)
            if urukul.urukul_sta_pll_lock(sta) & (1 << (self.chip_select - 4)) != 0:
                return
        raise ValueError("PLL lock timeout")

    @kernel
    def power_down(self, bits=0b1111):
        """Power parts of the chip down: digital, DAC, reference, auxiliary DAC (bits 3 to 0)."""
        self.set_cfr1(power_down=bits)
        self.io_update.pulse(1 * us)

    # Output

    @kernel
    def set_phase_mode(self, phase_mode):
        """Phase mode of `set` and `set_mu` where they are given none."""
        self.phase_mode = phase_mode

    @kernel
    def set_mu(
        self,
        ftw=0,
        pow_=0,
        asf=0x3FFF,
        phase_mode=_PHASE_MODE_DEFAULT,
        ref_time_mu=_NO_TIME,
        profile=urukul.DEFAULT_PROFILE,
        ram_destination=-1,
    ) -> TInt32:
        """Set frequency, phase and amplitude of a profile in machine units; returns the phase word, corrected as the
        phase mode asks for.

        The cursor is aligned to the coarse cycle and advances by 1256 mu (continuous) or 2664 mu.
        """
        if phase_mode == _PHASE_MODE_DEFAULT:
            phase_mode = self.phase_mode
        at_mu(now_mu() & ~7)
        if phase_mode != PHASE_MODE_CONTINUOUS:
            self.set_cfr1(phase_autoclear=1)
            if phase_mode == PHASE_MODE_TRACKING and ref_time_mu < 0:
                ref_time_mu = int64(0)
            if ref_time_mu >= 0:
                dt = int32(now_mu()) - int32(ref_time_mu)
                pow_ += dt * ftw * self.sysclk_per_mu >> 16
        if ram_destination == -1:
            self.write64(_AD9910_REG_PROFILE0 + profile, (asf << 16) | (pow_ & 0xFFFF), ftw)
        else:
            # What the RAM does not give comes from registers.
            if ram_destination != RAM_DEST_FTW:
                self.set_ftw(ftw)
            if ram_destination != RAM_DEST_POWASF:
                if ram_destination != RAM_DEST_ASF:
                    self.set_asf(asf)
                if ram_destination != RAM_DEST_POW:
                    self.set_pow(pow_)
        delay_mu(int64(self.delays.io_update_delay))
        self.io_update.pulse_mu(8)
        at_mu(now_mu() & ~7)
        if phase_mode != PHASE_MODE_CONTINUOUS:
            self.set_cfr1()
        return pow_

    @kernel
    def set(
        self,
        frequency=0.0,
        phase=0.0,
        amplitude=1.0,
        phase_mode=_PHASE_MODE_DEFAULT,
        ref_time_mu=_NO_TIME,
        profile=urukul.DEFAULT_PROFILE,
        ram_destination=-1,
    ) -> TFloat:
        """As `set_mu` with Hz, turns and a fraction of full scale (all float); returns turns."""
        return self.pow_to_turns(
            self.set_mu(
                self.frequency_to_ftw(frequency),
                self.turns_to_pow(phase),
                self.amplitude_to_asf(amplitude),
                phase_mode,
                ref_time_mu,
                profile,
                ram_destination,
            )
        )

    @kernel
    def get_mu(self, profile=urukul.DEFAULT_PROFILE) -> TTuple([TInt32, TInt32, TInt32]):
        """Read frequency, phase and amplitude words of a profile."""
        data = self.read64(_AD9910_REG_PROFILE0 + profile)
        return int32(data), int32((data >> 32) & 0xFFFF), int32((data >> 48) & 0x3FFF)

    @kernel
    def get(self, profile=urukul.DEFAULT_PROFILE) -> TTuple([TFloat, TFloat, TFloat]):
        """Read frequency in Hz, phase in turns and amplitude of a profile."""
        ftw, pow_, asf = self.get_mu(profile)
        return self.ftw_to_frequency(ftw), self.pow_to_turns(pow_), self.asf_to_amplitude(asf)

    @kernel
    def set_profile_ram(self, start, end, step=1, profile=0, nodwell_high=0, zero_crossing=0, mode=RAM_MODE_RAMPUP):
        """Make a profile play RAM words `start` to `end`, each for `step` times 4 system clock cycles."""
        high = (step << 8) | (end >> 2)
        low = (end << 30) | (start << 14) | (nodwell_high << 5) | (zero_crossing << 3) | mode
        self.write64(_AD9910_REG_PROFILE0 + profile, high, low)

    @kernel
    def set_ftw(self, ftw):
        """Write the frequency register."""
        self.write32(_AD9910_REG_FTW, ftw)

    @kernel
    def set_asf(self, asf):
        """Write the amplitude register."""
        self.write32(_AD9910_REG_ASF, asf << 2)

    @kernel
    def set_pow(self, pow_):
        """Write the phase register."""
        self.write16(_AD9910_REG_POW, pow_)

    @kernel
    def get_ftw(self) -> TInt32:
        """Read the frequency register."""
        return self.read32(_AD9910_REG_FTW)

    @kernel
    def get_asf(self) -> TInt32:
        """Read the amplitude register."""
        return self.read32(_AD9910_REG_ASF) >> 2

    @kernel
    def get_pow(self) -> TInt32:
        """Read the phase register."""
        return self.read16(_AD9910_REG_POW)

    @kernel
    def set_frequency(self, frequency):
        """Write the frequency register, in Hz."""
        self.set_ftw(self.frequency_to_ftw(frequency))

    @kernel
    def set_amplitude(self, amplitude):
        """Write the amplitude register, a fraction of full scale."""
        self.set_asf(self.amplitude_to_asf(amplitude))

    @kernel
    def set_phase(self, turns):
        """Write the phase register, in turns."""
        self.set_pow(self.turns_to_pow(turns))

    @kernel
    def get_frequency(self) -> TFloat:
        """Read the frequency register, in Hz."""
        return self.ftw_to_frequency(self.get_ftw())

    @kernel
    def get_amplitude(self) -> TFloat:
        """Read the amplitude register, a fraction of full scale."""
        return self.asf_to_amplitude(self.get_asf())

    @kernel
    def get_phase(self) -> TFloat:
        """Read the phase register, in turns."""
        return self.pow_to_turns(self.get_pow())

    # Conversions

    @portable(flags={"fast-math"})
    def frequency_to_ftw(self, frequency) -> TInt32:
        """Frequency word for Hz."""
        return int32(round(self.ftw_per_hz * frequency))

    @portable(flags={"fast-math"})
    def ftw_to_frequency(self, ftw) -> TFloat:
        """Hz of a frequency word."""
        return ftw / self.ftw_per_hz

    @portable(flags={"fast-math"})
    def turns_to_pow(self, turns) -> TInt32:
        """Phase word for turns."""
        return int32(round(turns * 0x10000)) & int32(0xFFFF)

    @portable(flags={"fast-math"})
    def pow_to_turns(self, pow_) -> TFloat:
        """Turns of a phase word."""
        return pow_ / 0x10000

    @portable(flags={"fast-math"})
    def amplitude_to_asf(self, amplitude) -> TInt32:
        """Amplitude word for a fraction of full scale. ValueError outside of 0 to 1."""
        code = int32(round(amplitude * 0x3FFF))
        if code < 0 or code > 0x3FFF:
            raise ValueError("Invalid AD9910 fractional amplitude!")
        return code

    @portable(flags={"fast-math"})
    def asf_to_amplitude(self, asf) -> TFloat:
        """Fraction of full scale of an amplitude word."""
        return asf / float(0x3FFF)

    @portable(flags={"fast-math"})
    def frequency_to_ram(self, frequency: TList(TFloat), ram: TList(TInt32)):
        """Fill `ram` with the RAM words for frequencies in Hz."""
        for i in range(len(ram)):
            ram[i] = self.frequency_to_ftw(frequency[i])

    @portable(flags={"fast-math"})
    def turns_to_ram(self, turns: TList(TFloat), ram: TList(TInt32)):
        """Fill `ram` with the RAM words for phases in turns."""
        for i in range(len(ram)):
            ram[i] = self.turns_to_pow(turns[i]) << 16

    @portable(flags={"fast-math"})
    def amplitude_to_ram(self, amplitude: TList(TFloat), ram: TList(TInt32)):
        """Fill `ram` with the RAM words for fractions of full scale."""
        for i in range(len(ram)):
            ram[i] = self.amplitude_to_asf(amplitude[i]) << 18

    @portable(flags={"fast-math"})
    def turns_amplitude_to_ram(self, turns: TList(TFloat), amplitude: TList(TFloat), ram: TList(TInt32)):
        """Fill `ram` with the RAM words for phases in turns and fractions of full scale."""
        for i in range(len(ram)):
            ram[i] = (self.turns_to_pow(turns[i]) << 16) | (self.amplitude_to_asf(amplitude[i]) << 2)

    # What the Urukul does for the channel

    @kernel
    def set_att_mu(self, att):
        """Set the attenuator in machine units, 0 to 255."""
        self.cpld.set_att_mu(self.chip_select - 4, att)

    @kernel
    def set_att(self, att):
        """Set the attenuator in dB (float)."""
        self.cpld.set_att(self.chip_select - 4, att)

    @kernel
    def get_att_mu(self) -> TInt32:
        """Read the attenuator in machine units."""
        return self.cpld.get_channel_att_mu(self.chip_select - 4)

    @kernel
    def get_att(self) -> TFloat:
        """Read the attenuator in dB."""
        return self.cpld.get_channel_att(self.chip_select - 4)

    @kernel
    def cfg_sw(self, state):
        """Close or open the RF switch by the Urukul's register; see `CPLD.cfg_sw`."""
        self.cpld.cfg_sw(self.chip_select - 4, state)

    @kernel
    def cfg_osk(self, state):
        """See `CPLD.cfg_osk`."""
        self.cpld.cfg_osk(self.chip_select - 4, state)

    @kernel
    def cfg_drctl(self, state):
        """See `CPLD.cfg_drctl`."""
        self.cpld.cfg_drctl(self.chip_select - 4, state)

    @kernel
    def cfg_drhold(self, state):
        """See `CPLD.cfg_drhold`."""
        self.cpld.cfg_drhold(self.chip_select - 4, state)

    @kernel
    def cfg_mask_nu(self, state):
        """See `CPLD.cfg_mask_nu`."""
        self.cpld.cfg_mask_nu(self.chip_select - 4, state)

    @kernel
    def cfg_att_en(self, state):
        """See `CPLD.cfg_att_en`."""
        self.cpld.cfg_att_en(self.chip_select - 4, state)

    @kernel
    def set_profile(self, profile):
        """Select the profile that the chip plays."""
        self.cpld.set_profile(self.chip_select - 4, profile)

    # Synchronisation of several chips

    @kernel
    def set_sync(self, in_delay, window, en_sync_gen=0):
        """Receive the synchronisation clock with a delay and a validation window (steps of about 75 ps)."""
        self.write32(_AD9910_REG_SYNC, (window << 28) | (1 << 27) | (en_sync_gen << 26) | (in_delay << 3))

    @kernel
    def clear_smp_err(self):
        """Forget synchronisation errors, and watch for new ones."""
        self.set_cfr2(sync_validation_disable=1)
        self.io_update.pulse(1 * us)
        delay(10 * us)
        self.set_cfr2()
        self.io_update.pulse(1 * us)
