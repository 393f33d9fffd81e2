"""A Phaser: its registers, upconverters and oscillators, through the link."""

from artiq.experiment import *


class Tones(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.phaser = self.get_device("phaser0")
        self.mark = self.get_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.phaser.init()
        self.core.break_realtime()
        self.phaser.set_leds(0x2A)
        self.phaser.set_fan(0.6)
        self.phaser.set_sync_dly(5)
        channel = self.phaser.channel[1]
        channel.set_att(0.0)
        channel.set_duc_frequency(10 * MHz)
        channel.set_duc_phase(0.25)
        channel.set_duc_cfg()
        self.phaser.duc_stb()
        delay(2 * us)
        at_mu(self.phaser.get_next_frame_mu())
        self.mark.on()
        channel.oscillator[2].set_frequency(1.5 * MHz)
        delay_mu(8)
        channel.oscillator[2].set_amplitude_phase(0.5, phase=0.125)
        delay(3 * us)
        channel.oscillator[2].set_frequency(-1.0 * MHz)
        delay(3 * us)
        channel.oscillator[4].set_amplitude_phase(0.25)
        delay(3 * us)
        channel.set_dac_test(0x12345678)
        channel.set_duc_cfg(select=1)
        self.phaser.duc_stb()
        sample = channel.get_dac_data()
        self.core.break_realtime()
        leds = self.phaser.read8(6)
        self.core.break_realtime()
        errors = self.phaser.get_crc_err()
        self.core.break_realtime()
        word = self.phaser.read32(0x22)
        self.set_dataset("read", [sample, leds, errors, word])
        self.set_dataset("frame", self.phaser.frame_tstamp)
        self.core.break_realtime()
        delay(10 * us)
        self.core.wait_until_mu(now_mu())


class Initialised(EnvExperiment):
    """A Phaser after its initialisation, with `mixed` Hz from the oscillators of its DAC."""

    def build(self):
        self.setattr_device("core")
        self.phaser = self.get_device("phaser0")
        self.mixed = self.get_argument("mixed", NumberValue(0.0))

    @kernel
    def run(self):
        self.core.reset()
        self.phaser.init()
        if self.mixed != 0.0:
            for n in range(2):
                self.phaser.channel[n].set_nco_frequency(self.mixed)
            kept = self.phaser.dac_read(2)
            delay(0.1 * ms)
            self.phaser.dac_write(2, kept | 0x50)
            self.phaser.dac_sync()
        self.core.break_realtime()
        alarms = self.phaser.get_dac_alarms()
        self.core.break_realtime()
        self.set_dataset("alarms", alarms)
        self.set_dataset("status", self.phaser.get_sta())
        self.core.break_realtime()
        self.set_dataset("temperature", self.phaser.get_dac_temperature())
        self.core.break_realtime()
        self.set_dataset("attenuation", self.phaser.channel[0].get_att_mu())
        self.core.break_realtime()
        self.phaser.channel[0].set_att(3.0)
        self.phaser.channel[0].set_duc_cfg()
        self.phaser.duc_stb()
        self.phaser.channel[0].oscillator[0].set_frequency(1.0 * MHz)
        self.phaser.channel[0].oscillator[0].set_amplitude_phase(1.0)
        delay(10 * us)
        self.core.wait_until_mu(now_mu())


class Wrong(EnvExperiment):
    """Invalid requests to a Phaser, selected by `what`."""

    def build(self):
        self.setattr_device("core")
        self.phaser = self.get_device("phaser0")
        self.what = self.get_argument("what", StringValue("loud"))

    def run(self):
        getattr(self, self.what)()

    @kernel
    def loud(self):
        self.core.reset()
        for n in range(2):
            self.phaser.channel[0].oscillator[n].set_amplitude_phase(0.75)
            delay(1 * us)
        self.phaser.write8(0, 7)
        self.phaser.channel[0].set_duc_phase(0.5)
        self.phaser.spi_cfg(0, 34, 1)
        self.phaser.spi_write(1)
        delay(10 * us)
        self.core.wait_until_mu(now_mu())

    @kernel
    def board(self):
        self.core.reset()
        self.phaser.check_board()

    @kernel
    def delay_of_sync(self):
        self.core.reset()
        self.phaser.set_sync_dly(8)

    @kernel
    def amplitude(self):
        self.core.reset()
        self.phaser.channel[0].oscillator[0].set_amplitude_phase(1.5)
