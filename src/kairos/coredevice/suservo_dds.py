"""The four AD9910 of an Urukul that belongs to an SU-Servo.

While controlled by the servo they receive data only from its data lines. A channel whose bit in the
Urukul's MASK_NU is set uses the Urukul's SPI bus instead, with the chip select of all chips, and
its update line is a bit of the configuration.
"""

from ..contracts.servo import URUKUL_CHANNELS
from ..language import TInt32, TTuple, at_mu, delay_mu, kernel, now_mu, portable
from ..numeric import Wide, int64
from .ad9910 import AD9910
from .ad9910_delays import FixedSharedDelays, shared_delays_of
from .chips.ad9910 import PROFILE
from .chips.urukul import checked_channel
from .parts.numbers import nearest
from .ttl import DigitalOutput
from .urukul import CS_DDS_MULTI

__all__ = ["SharedDDS"]

_ALL = (1 << URUKUL_CHANNELS) - 1
_MIDDLE_DELAY = 15
_FINE = Wide(7)
"""Machine units within a coarse cycle."""
_TRIES = 16
_SYSTEM_CYCLES = 4
"""System clock cycles per SYNC_CLK cycle."""
_SERVO_PROFILE = 7
"""Profile of the chips that the servo writes."""
_NOT_SYNCHRONISED = FixedSharedDelays.NONE


class SharedUpdate(DigitalOutput):
    """The update lines of all chips not controlled by the servo, through the Urukul's
    configuration. A pulse takes the time of two writes in addition to its duration."""

    kernel_invariants = {"cpld"}

    def __init__(self, cpld):
        self.cpld = cpld

    @kernel
    def set_o(self, o):
        """Set the update lines."""
        self.cpld.cfg_io_update_all(_ALL if o else 0)


class FineUpdate(SharedUpdate):
    """Likewise, but pulses are those of the Urukul's update line `io_update_device`, to the machine unit: the
    chips are given to the servo meanwhile. The pulse begins later by the time of a write, at the same place
    within a coarse cycle."""

    kernel_invariants = {"cpld", "line"}

    def __init__(self, cpld):
        super().__init__(cpld)
        self.line = cpld.io_update

    @kernel
    def pulse_mu(self, duration):
        """Pulse the update line for `duration` machine units."""
        fine = now_mu() & _FINE
        kept = self.cpld.cfg_reg
        self.cpld.cfg_mask_nu_all(0)
        at_mu(((now_mu() + _FINE) & ~_FINE) + fine)
        self.line.pulse_mu(duration)
        delay_mu(_FINE + 1)
        self.cpld.cfg_write(kept)


class SharedDDS:
    """The synthesisers of the Urukul `cpld_device`, in mode EN_NU. `pll_n` to `pll_en`: as for an
    `AD9910`.

    `sync_delay_seeds`, `io_update_delay`: results of the calibration, one seed per channel; or both
    ``"EEPROM_DEVICE:OFFSET"``, the location of the word that has all of them.
    """

    kernel_invariants = {"core", "cpld", "dds", "delays", "ftw_per_hz", "sysclk"}

    def __init__(
        self,
        dmgr,
        cpld_device,
        pll_n=40,
        pll_cp=7,
        pll_vco=5,
        sync_delay_seeds=_NOT_SYNCHRONISED,
        io_update_delay=0,
        pll_en=1,
        core_device="core",
    ):
        self.core, self.cpld = dmgr.get(core_device), dmgr.get(cpld_device)
        clock = {"pll_n": pll_n, "pll_cp": pll_cp, "pll_vco": pll_vco, "pll_en": pll_en}
        self.dds = AD9910(dmgr, CS_DDS_MULTI, cpld_device, **clock)
        # The core device's update line also serves the servo.
        self.dds.io_update = SharedUpdate(self.cpld) if self.cpld.io_update is None else FineUpdate(self.cpld)
        self.ftw_per_hz, self.sysclk = self.dds.ftw_per_hz, self.dds.sysclk
        self.delays = shared_delays_of(dmgr, self.core, sync_delay_seeds, io_update_delay)

    @kernel
    def update_dds_sel(self, channel):
        """Take the chip of a channel (0 to 3) from the servo, and leave the others to it."""
        self.cpld.cfg_mask_nu_all(1 << checked_channel(channel))

    @kernel
    def init(self, blind=False):
        """Configure all chips, one after the other, with `blind` simultaneously and without checks;
        afterwards the servo controls them. The servo must be stopped and the Urukul initialised
        before. ValueError as from `AD9910.init`.
        """
        before = self.cpld.cfg_reg
        if blind:
            self.cpld.cfg_mask_nu_all(_ALL)
            self.dds.init(True)
        else:
            for channel in range(URUKUL_CHANNELS):
                self.update_dds_sel(channel)
                self.dds.init(False, channel)
        self.delays.init()
        # Reading an EEPROM takes longer than the slack, whatever is in it.
        self.core.break_realtime()
        for channel in range(URUKUL_CHANNELS):
            self._synchronise(channel)
        self.cpld.cfg_write(before)

    @kernel
    def clear_phase_accumulators(self):
        """Set the phases of all chips, and their profile 7, to zero."""
        self.cpld.cfg_mask_nu_all(_ALL)
        self.dds.set_cfr1(phase_autoclear=1)
        self.dds.write64(PROFILE.address + _SERVO_PROFILE, 0, 0)
        self._update()
        self.dds.set_cfr1()
        self._update()
        self.cpld.cfg_mask_nu_all(0)

    @kernel
    def _update(self):
        self.cpld.cfg_io_update_all(_ALL)
        self.cpld.cfg_io_update_all(0)

    @kernel
    def _synchronise(self, channel):
        """Set the calibrated delay of a channel, if there is one."""
        seed = self.delays.sync_delay_seeds[channel]
        if seed >= 0:
            self.update_dds_sel(channel)
            self.dds.set_sync(seed, 0, self.dds.sync_generator)
            self.dds.clear_smp_err()

    @kernel
    def tune_sync_delays(self) -> TTuple([TInt32, TInt32, TInt32, TInt32]):
        """Find and set the delay of the synchronisation clock of each chip, see
        `AD9910.tune_sync_delay`; returns them.

        The servo must be stopped before, and controls the chips afterwards. Takes up to 0.4 s.
        ValueError if the Urukul has no synchronisation clock, or no delay of a chip is valid.
        """
        before = self.cpld.cfg_reg
        found = [0 for _ in range(URUKUL_CHANNELS)]
        for channel in range(URUKUL_CHANNELS):
            self.core.break_realtime()
            self.update_dds_sel(channel)
            found[channel] = self.dds.tune_sync_delay(_MIDDLE_DELAY, channel)[0]
        self.cpld.cfg_write(before)
        return found[0], found[1], found[2], found[3]

    @kernel
    def _odd(self, start, stop) -> TInt32:
        """Return how often two updates with these delays are an odd number of SYNC_CLK cycles apart."""
        odd = 0
        for _ in range(_TRIES):
            odd += self.dds.measure_io_update_alignment(int64(start), int64(stop))
        return odd

    @kernel
    def tune_io_update_group_delay(self) -> TInt32:
        """Find a delay of updates, in machine units after a multiple of 8, at which they are away from the
        edges of SYNC_CLK of all chips; returns it. For `io_update_delay`, and `SUServo.set_config`.

        The servo must be stopped before, and controls the chips afterwards. Takes about 0.3 s. ValueError
        if an edge is not found where two measurements say that it is, or the edges leave no delay.
        """
        before = self.cpld.cfg_reg
        period = nearest(_SYSTEM_CYCLES / (self.sysclk * self.core.ref_period))
        edges = 0
        for channel in range(URUKUL_CHANNELS):
            self.core.break_realtime()
            self.update_dds_sel(channel)
            for start in range(period):
                if self._odd(start, start + 2) == 0:
                    continue
                first, second = self._odd(start, start + 1), self._odd(start + 1, start + 2)
                if first == second and (first == 0 or first == _TRIES):
                    raise ValueError("no clear IO_UPDATE-SYNC_CLK alignment edge found")
                edges |= 1 << ((start + 1) % period)
        self.cpld.cfg_write(before)
        for place in range(period):
            if (edges >> place) & 1 == 0:
                return place
        raise ValueError("IO_UPDATE-SYNC_CLK alignment edges are too broad")

    @portable
    def frequency_to_ftw(self, frequency) -> TInt32:
        """Frequency word for Hz, as `AD9910.frequency_to_ftw`."""
        return self.dds.frequency_to_ftw(frequency)

    @portable
    def turns_to_pow(self, turns) -> TInt32:
        """Phase word for turns, as `AD9910.turns_to_pow`."""
        return self.dds.turns_to_pow(turns)
