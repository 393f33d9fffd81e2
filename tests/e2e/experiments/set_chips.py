"""Cards brought into a state that differs from that after power-up; `chip` is the one at the bare SPI port."""

from artiq.coredevice.ad9910 import RAM_DEST_ASF, RAM_MODE_CONT_RAMPUP
from artiq.experiment import *
from numpy import int64


class Cards(EnvExperiment):
    def build(self):
        for name in ("core", "urukul0_cpld", "urukul0_ch0", "urukul0_ch3", "fastino0", "sampler0"):
            self.setattr_device(name)

    @kernel
    def cards(self):
        self.core.reset()
        self.urukul0_cpld.init()
        self.urukul0_ch0.init()
        self.urukul0_ch0.set_att(10.0)
        self.urukul0_ch0.set(100 * MHz, phase=0.25, amplitude=0.5)
        self.urukul0_ch0.set_ftw(0x12345678)
        self.urukul0_ch0.set_pow(0x4321)
        self.urukul0_ch0.cfg_sw(True)
        self.core.break_realtime()
        self.fastino0.init()
        delay(100 * us)
        self.fastino0.set_group(4, [1.0, -2.5, 9.9, -10.0])
        delay(10 * us)
        self.fastino0.stage_cic(16)
        delay(10 * us)
        self.fastino0.apply_cic(0b1010)
        delay(10 * us)
        self.fastino0.set_leds(0x5A)
        delay(10 * us)
        self.sampler0.init()
        self.sampler0.set_gain_mu(3, 2)
        delay(100 * us)
        self.core.wait_until_mu(now_mu())

    def run(self):
        self.cards()


class Ram(Cards):
    def run(self):
        self.words = [256 * (10 - n) for n in range(5)] + [256 * (5 - n) for n in range(5)]
        self.fill()

    @kernel
    def fill(self):
        self.core.reset()
        self.urukul0_cpld.init()
        chip = self.urukul0_ch0
        chip.init()
        self.core.break_realtime()
        delay(1 * ms)
        chip.set_profile_ram(0, 9, step=8, profile=3, mode=RAM_MODE_CONT_RAMPUP)
        self.urukul0_cpld.io_update.pulse(1 * us)
        self.urukul0_cpld.set_profile(0, 3)
        delay(10 * us)
        chip.write_ram(self.words)
        delay(10 * us)
        chip.set_cfr1(ram_enable=1, ram_destination=RAM_DEST_ASF)
        self.urukul0_cpld.io_update.pulse(1 * us)
        delay(10 * us)
        self.core.wait_until_mu(now_mu())


class Zotino(Cards):
    def run(self):
        self.cards()
        self.chip = self.get_device("chip")
        self.voltages()

    @kernel
    def voltages(self):
        self.core.break_realtime()
        delay(1 * ms)
        self.chip.init()
        delay(1 * ms)
        self.chip.write_gain_mu(2, 0xF000)
        self.chip.write_offset_mu(5, 0x8123)
        self.chip.write_offset_dacs_mu(0x1F00)
        delay(1 * ms)
        self.chip.set_dac([1.5, -3.25], [2, 31])
        self.chip.set_leds(0xA5)
        delay(1 * ms)
        self.core.wait_until_mu(now_mu())


class Single(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.chip = self.get_device("chip")

    @kernel
    def finish(self):
        delay(1 * ms)
        self.core.wait_until_mu(now_mu())


class AD9834(Single):
    @kernel
    def run(self):
        self.core.reset()
        self.chip.init()
        self.chip.set(12.5 * MHz, 0.25, 1, 1)
        self.finish()


class HMC542B(Single):
    @kernel
    def run(self):
        self.core.reset()
        self.chip.set_att(7.0)
        self.finish()


class Novogorny(Single):
    @kernel
    def run(self):
        self.core.reset()
        self.chip.set_gain_mu(3, 1)
        self.finish()


class AD9914(Single):
    @kernel
    def run(self):
        self.core.reset()
        delay(1 * ms)
        self.chip.reset_all()
        self.chip.init()
        delay(1 * ms)
        self.chip.set(101 * MHz, 0.25)
        self.finish()


class AD9912(Single):
    def build(self):
        super().build()
        self.setattr_device("urukul0_cpld")

    @kernel
    def run(self):
        self.core.reset()
        self.urukul0_cpld.init()
        self.chip.init()
        self.chip.set(123 * MHz, 0.5)
        self.chip.set_att(3.5)
        self.finish()


class ADF5356(Single):
    def build(self):
        super().build()
        self.mirny, self.almazny = self.get_device("mirny"), self.get_device("almazny")

    @kernel
    def run(self):
        self.core.reset()
        self.mirny.init()
        self.chip.init()
        self.core.break_realtime()
        delay(5 * ms)
        self.chip.set_att(11.5)
        self.chip.set_frequency(1234.5 * MHz)
        delay(5 * ms)
        self.almazny.output_toggle(True)
        self.almazny.set_att(2, 10.5)
        self.finish()


class Waveforms(EnvExperiment):
    """A Shuttler and a Phaser, and the memories of one with Miqro."""

    def build(self):
        for name in ("core", "phaser0", "phaser1", "shuttler0", "shuttler0_trigger", "shuttler0_relay"):
            self.setattr_device(name)
        self.level, self.tone = self.get_device("shuttler0_dcbias3"), self.get_device("shuttler0_dds15")

    @kernel
    def run(self):
        self.core.reset()
        self.shuttler()
        for n in range(2):
            self.channel(self.phaser0.channel[n], 3.0 + float(n))
        self.pulses()
        self.core.wait_until_mu(now_mu())

    @kernel
    def shuttler(self):
        self.shuttler0_relay.init()
        self.shuttler0_relay.enable(0x8008)
        delay(100 * us)
        self.shuttler0.set_gain(3, -77)
        delay(1 * us)
        self.shuttler0.set_offset(15, -5)
        delay(1 * us)
        self.shuttler0.set_clr(0xF0F0)
        self.level.set_waveform(-1000, 3, int64(-4), int64(5))
        self.tone.set_waveform(500, -7, int64(8), int64(-9), 0x1234, 0x7654321, -3)
        self.shuttler0_trigger.trigger(0x8008)
        delay(100 * us)
        self.phaser0.init()
        self.core.break_realtime()
        self.phaser0.set_leds(0x2A)
        self.phaser0.set_sync_dly(5)

    @kernel
    def channel(self, channel, attenuation):
        delay(1 * ms)
        channel.set_att(attenuation)
        channel.set_nco_frequency(-12.5 * MHz)
        channel.set_duc_frequency(10 * MHz)
        channel.set_duc_phase(0.25)
        channel.set_duc_cfg()
        self.phaser0.duc_stb()
        channel.set_iir(2, 0.5, -1000.0, 0.0)
        channel.set_servo(2, 0, 1)
        channel.oscillator[3].set_frequency(-1.5 * MHz)
        delay(1 * us)
        channel.oscillator[3].set_amplitude_phase(0.5, phase=0.125)
        delay(1 * us)
        channel.en_trf_out(rf=1, lo=1)
        self.core.break_realtime()

    @kernel
    def pulses(self):
        delay(1 * ms)
        self.phaser1.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.phaser1.channel[1].miqro.set_profile_mu(3, 31, 0x1234567, 0x8000, 0x4000)
        self.phaser1.channel[1].miqro.set_window_mu(1000, [0x20004000, 0xCCDC000])
        delay(1 * ms)


class Servo(EnvExperiment):
    """An SU-Servo that has run."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("suservo0")
        self.channel = self.get_device("suservo0_ch5")

    @kernel
    def run(self):
        self.core.reset()
        self.suservo0.init()
        self.core.break_realtime()
        self.suservo0.set_pgia_mu(2, 1)
        delay(10 * us)
        self.suservo0.cplds[1].set_att(1, 10.0)
        delay(10 * us)
        self.channel.set_dds(17, 100 * MHz, -0.25, 0.1)
        self.channel.set_iir(17, 6, -0.1, -300.0)
        self.channel.set_y(17, 0.5)
        self.channel.set(1, 0, 0, 17)
        self.suservo0.set_config(1)
        delay(20 * us)
        self.suservo0.set_config(0)
        delay(20 * us)
        self.core.wait_until_mu(now_mu())
