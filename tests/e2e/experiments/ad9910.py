"""Functions of an AD9910 besides single tones: each experiment uses the driver and reads back the
chip's registers."""

from artiq.coredevice.ad9910 import (
    PHASE_MODE_ABSOLUTE,
    RAM_DEST_ASF,
    RAM_DEST_FTW,
    RAM_DEST_POW,
    RAM_DEST_POWASF,
    RAM_MODE_BIDIR_RAMP,
    RAM_MODE_CONT_BIDIR_RAMP,
    RAM_MODE_CONT_RAMPUP,
    RAM_MODE_DIRECTSWITCH,
    RAM_MODE_RAMPUP,
)
from artiq.coredevice.chips.ad9910 import PROFILE
from artiq.experiment import *
from numpy import int64

ASF_FULL = 0x3FFF0000
MODES = {
    "direct": RAM_MODE_DIRECTSWITCH,
    "up": RAM_MODE_RAMPUP,
    "there and back": RAM_MODE_BIDIR_RAMP,
    "triangle": RAM_MODE_CONT_BIDIR_RAMP,
    "sawtooth": RAM_MODE_CONT_RAMPUP,
}
DESTINATIONS = {
    "frequency": RAM_DEST_FTW,
    "phase": RAM_DEST_POW,
    "amplitude": RAM_DEST_ASF,
    "polar": RAM_DEST_POWASF,
}


class Channel(EnvExperiment):
    """Channel 1 of the Urukul, initialised."""

    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("urukul0_cpld")
        self.dds = self.get_device("urukul0_ch1")

    @kernel
    def begin(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()
        self.dds.set_att(0.0)
        self.dds.sw.on()
        self.core.break_realtime()
        delay(1 * ms)


class Ram(Channel):
    """Four words of the RAM with `mode` and `destination`, 4 us each; then another profile is
    selected for 20 us."""

    def build(self):
        super().build()
        self.mode = MODES[self.get_argument("mode", StringValue("up"))]
        self.destination = DESTINATIONS[self.get_argument("destination", StringValue("frequency"))]
        self.words = [0, 0, 0, 0]

    def prepare(self):
        fractions = [0.25, 0.5, 0.75, 1.0]
        if self.destination == RAM_DEST_FTW:
            self.dds.frequency_to_ram([80e6 * part for part in fractions], self.words)
        elif self.destination == RAM_DEST_POW:
            self.dds.turns_to_ram([part / 2 for part in fractions], self.words)
        elif self.destination == RAM_DEST_ASF:
            self.dds.amplitude_to_ram(fractions, self.words)
        else:
            self.dds.turns_amplitude_to_ram([part / 2 for part in fractions], fractions, self.words)
        self.words.reverse()  # the first word written is the last one played

    @kernel
    def run(self):
        self.begin()
        read = [0] * 4
        for profile in range(2):
            first = 100 + profile
            self.dds.set_profile_ram(first, 103, step=1000, profile=profile, mode=self.mode)
        self.dds.set_profile_ram(100, 103, step=1000, profile=7, mode=self.mode)
        self.cpld.set_profile(1, 0)
        self.dds.io_update.pulse_mu(8)
        self.dds.write_ram(self.words)
        delay(1 * ms)
        self.dds.read_ram(read)
        self.core.break_realtime()
        self.set_dataset("read", read)
        self.dds.set(40e6, phase=0.0, amplitude=1.0, ram_destination=self.destination)
        self.dds.set_cfr1(ram_enable=1, ram_destination=self.destination, phase_autoclear=1)
        start = now_mu()
        self.dds.io_update.pulse_mu(8)
        at_mu(start + 25_000)
        self.cpld.set_profile(1, 1)
        delay(20 * us)
        self.cpld.set_profile(1, 0)
        delay(20 * us)
        self.set_dataset("start", start)
        self.dds.set_cfr1()
        self.dds.io_update.pulse_mu(8)
        delay(1 * ms)
        self.core.wait_until_mu(now_mu())


class Ramp(Channel):
    """A digital ramp of the frequency from 60 to 100 MHz in 10 us, up and down with its pin, held
    on the way down."""

    @kernel
    def run(self):
        self.begin()
        self.cpld.set_profile(1, 0)
        self.dds.set(80e6, profile=0)
        low, high = self.dds.frequency_to_ftw(60e6), self.dds.frequency_to_ftw(100e6)
        step = (high - low) // 2500
        self.dds.write64(0x0B, high, low)
        self.dds.write64(0x0C, step, step)
        self.dds.write32(0x0D, 0x0001_0001)
        self.dds.set_cfr2(drg_enable=1)
        self.dds.io_update.pulse_mu(8)
        delay(10 * us)
        up = now_mu()
        self.dds.cfg_drctl(True)
        delay(50 * us)
        down = now_mu()
        self.dds.cfg_drctl(False)
        delay(5 * us)
        self.dds.cfg_drhold(True)
        held = now_mu()
        word = self.dds.get_ftw()
        self.core.break_realtime()
        over = (self.cpld.sta_read() >> 23) & 0xF
        self.core.break_realtime()
        self.dds.cfg_drhold(False)
        delay(50 * us)
        self.set_dataset("times", [up, down, held])
        self.set_dataset("held", self.dds.ftw_to_frequency(word))
        self.core.break_realtime()
        self.set_dataset("over", [over, (self.cpld.sta_read() >> 23) & 0xF])


class Key(Channel):
    """Manual shift keying with the pin, then as a ramp of the amplitude, 16384 / 4 steps of 8 ns."""

    @kernel
    def run(self):
        self.begin()
        self.dds.set(80e6)
        self.dds.set_asf(0x3FFF)
        self.dds.set_cfr1(osk_enable=1, manual_osk_external=1)
        self.dds.io_update.pulse_mu(8)
        delay(20 * us)
        on = now_mu()
        self.dds.cfg_osk(True)
        delay(20 * us)
        self.dds.cfg_osk(False)
        delay(20 * us)
        self.dds.write32(0x09, (2 << 16) | (0x3FFF << 2) | 2)
        self.dds.set_cfr1(osk_enable=1, select_auto_osk=1)
        self.dds.io_update.pulse_mu(8)
        delay(20 * us)
        ramp = now_mu()
        self.dds.cfg_osk(True)
        delay(100 * us)
        self.set_dataset("times", [on, ramp])
        self.core.wait_until_mu(now_mu())


class Phase(Channel):
    """Three offsets of the phase in the absolute mode."""

    @kernel
    def run(self):
        self.begin()
        times = [int64(0)] * 3
        for n in range(3):
            self.dds.set(80e6, phase=0.25 * n, phase_mode=PHASE_MODE_ABSOLUTE)
            times[n] = now_mu()
            delay(10 * us)
        self.set_dataset("times", times)
        self.core.wait_until_mu(now_mu())


class Latency(Channel):
    """Frequency and amplitude change together; with matched latency they arrive together, too."""

    @kernel
    def run(self):
        self.begin()
        times = [int64(0)] * 2
        for matched in range(2):
            self.dds.set_cfr2(matched_latency_enable=matched)
            self.dds.set(60e6, amplitude=0.25)
            delay(10 * us)
            self.dds.set(80e6, amplitude=0.5)
            times[matched] = now_mu()
            delay(10 * us)
        self.set_dataset("times", times)
        self.core.wait_until_mu(now_mu())


class Tune(Channel):
    """Both synchronisation delays, found by search, and the status for good and bad ones."""

    @kernel
    def run(self):
        self.begin()
        delay, window = self.dds.tune_sync_delay()
        self.core.break_realtime()
        update = self.dds.tune_io_update_delay()
        self.set_dataset("found", [delay, window, update])
        errors = [0] * 2
        self.core.break_realtime()
        for bad in range(2):
            self.dds.set_sync(delay, 6 + bad)
            self.dds.clear_smp_err()
            self.core.break_realtime()
            errors[bad] = (self.cpld.sta_read() >> 4) & 0xF
            self.core.break_realtime()
        self.set_dataset("errors", errors)


class Led(Channel):
    """Channel 0 generates the card's synchronisation clock: delays found by channel 1 without it, by both
    channels with it, and when both apply an update.
    """

    def build(self):
        super().build()
        self.leader = self.get_device("urukul0_ch0")

    @kernel
    def both(self, frequency):
        word = self.dds.frequency_to_ftw(frequency)
        self.leader.write64(PROFILE.address + 7, ASF_FULL, word)
        self.dds.write64(PROFILE.address + 7, ASF_FULL, word)
        self.dds.io_update.pulse(1 * us)
        delay(10 * us)

    @kernel
    def run(self):
        self.begin()
        self.leader.init()
        self.dds.cfg_sw(True)
        self.leader.cfg_sw(True)
        delay(1 * ms)
        found, window = self.dds.tune_sync_delay()
        self.set_dataset("alone", [found, window])
        self.core.break_realtime()
        found, window = self.leader.tune_sync_delay()
        self.set_dataset("leader", [found, window])
        self.core.break_realtime()
        found, window = self.dds.tune_sync_delay()
        self.set_dataset("follower", [found, window])
        self.core.break_realtime()
        self.both(80e6)
        self.dds.set_sync(found + 12, 0)
        self.dds.io_update.pulse(1 * us)
        self.both(90e6)
        self.core.wait_until_mu(now_mu())


class Effective(Channel):
    """Read-back of the frequency register: the frequency in use, or the value written."""

    @kernel
    def run(self):
        self.begin()
        self.dds.set(81.25e6)
        self.dds.set_ftw(0x12345678)
        self.dds.io_update.pulse_mu(8)
        used = self.dds.get_frequency()
        self.core.break_realtime()
        self.dds.set_cfr2(effective_ftw=0)
        self.dds.io_update.pulse_mu(8)
        self.set_dataset("used", used)
        self.core.break_realtime()
        self.set_dataset("written", self.dds.get_ftw())


class Forbidden(Channel):
    """A short update, a RAM write during playback, and a RAM range that ends before its beginning."""

    @kernel
    def run(self):
        self.begin()
        self.dds.set_ftw(1)
        # Both edges within one coarse cycle would collide.
        at_mu((now_mu() & ~int64(7)) + 15)
        self.dds.io_update.pulse_mu(2)
        delay(1 * us)
        self.dds.set_profile_ram(10, 5, profile=7)
        self.dds.set_cfr1(ram_enable=1)
        self.dds.io_update.pulse_mu(8)
        self.dds.write_ram([1, 2])
        delay(100 * us)
        self.core.wait_until_mu(now_mu())
