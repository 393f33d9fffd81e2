"""Violations of the data sheets, each as in a kernel; the comment after a line is part of the text reported for it.

A line may have two of them, separated by `;`.
"""

from artiq.coredevice.chips.ad9910 import CFR1, CFR3, RAMP_LIMIT, RAMP_RATE
from artiq.coredevice.chips.ad9912 import N_DIVIDER, PLL
from artiq.coredevice.spi2 import SPI_CLK_PHASE, SPI_CLK_POLARITY, SPI_CS_POLARITY, SPI_END
from artiq.experiment import *
from numpy import int64

BREATH = 20 * us


class Violations(EnvExperiment):
    def build(self):
        self.setattr_device("core")

    @kernel
    def finish(self):
        delay(100 * us)
        self.core.wait_until_mu(now_mu())


def clock(vco=5, times=32):
    """The word of an AD9910's clock register that its driver writes, but for oscillator and multiplier."""
    return CFR3.encode(refclk_divider_bypass=1, icp=7, pll_enable=1) & ~(7 << 24 | 0x7F << 1) | vco << 24 | times << 1


class Urukul(Violations):
    def build(self):
        super().build()
        self.cpld = self.get_device("urukul0_cpld")
        self.dds = self.get_device("urukul0_ch1")
        self.bus = self.get_device("spi_urukul0")
        self.clocks = [clock(vco=0), clock(vco=6), clock(times=10), clock()]

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()
        delay(BREATH)
        self.dds.write32(0x1F, 0)  # ch1: there is no register 0x1f
        self.cpld.io_rst()  # ch1: a message ended after 24 of the 32 bits for its register CFR1
        delay(BREATH)
        self.bus.set_config_mu(SPI_END | SPI_CS_POLARITY, 20, 8, 5)
        self.bus.write(0)  # ch1: a message ended after 12 of the 32 bits for its register CFR1
        delay(BREATH)
        self.bus.set_config_mu(SPI_END | SPI_CS_POLARITY, 16, 8, 0)
        self.bus.write(0)  # a message without a chip select (cs is 0)
        delay(BREATH)
        self.cpld.cfg_mask_nu_all(0xF)
        delay(BREATH)
        self.bus.set_config_mu(SPI_END | SPI_CS_POLARITY, 16, 8, 3)
        self.bus.write(0)  # a message to chip select 3, the chips of mask_nu, which selects none
        delay(BREATH)
        self.cpld.cfg_mask_nu_all(0)
        delay(BREATH)
        self.bus.set_config_mu(SPI_END | SPI_CS_POLARITY, 24, 8, 1)
        self.bus.write(0)  # a configuration of 24 bits: one of protocol revision 9 has 52 (proto_rev)
        delay(BREATH)
        self.bus.set_config_mu(SPI_END | SPI_CS_POLARITY, 8, 8, 2)
        self.bus.write(0)  # 8 bits for the attenuators: they have 32
        delay(BREATH)
        self.cpld.sync.set_mu(3)
        delay(BREATH)
        self.dds.set_sync(0, 0)
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)  # ch1: SYNC_IN has a period of
        delay(BREATH)
        self.cpld.sync.stop()  # ch1: it is set to follow its SYNC_IN, which has no clock
        delay(BREATH)
        self.dds.write32(CFR1.address, 3)
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)  # ch1: its serial port is LSB first
        delay(BREATH)
        self.finish()


class Ad9910(Urukul):
    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.read32(CFR3.address)  # ch1: it is read, but its data output pin is disabled
        self.core.break_realtime()
        self.dds.init()
        delay(BREATH)
        self.dds.set_mu(-0x40000000)  # ch1: its frequency, 750.000 MHz, is above half of its clock
        delay(BREATH)
        self.dds.set_mu(1 << 28)
        self.dds.set_ftw(1)
        delay(BREATH)
        # Both edges within one coarse cycle would collide.
        at_mu((now_mu() & ~int64(7)) + 15)
        self.dds.io_update.pulse_mu(2)  # ch1: an update of 2 ns: it must last longer than a period of SYNC_CLK
        delay(BREATH)
        self.dds.write32(CFR3.address, self.clocks[0])
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)  # ch1: its PLL cannot lock: 1000 MHz is outside the range of its oscillator
        delay(BREATH)
        self.dds.write32(CFR3.address, self.clocks[1])
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)  # ch1: its PLL has no oscillator selected (vco_sel)
        delay(BREATH)
        self.dds.write32(CFR3.address, self.clocks[2])
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)  # ch1: its PLL multiplies by 12 to 127, not by 10 (pll_n)
        delay(BREATH)
        self.dds.write32(CFR3.address, self.clocks[3])
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)
        delay(BREATH)
        delay(2 * ms)
        self.cpld.cfg_write(self.cpld.cfg_reg | int64(1) << 45)  # ch1: its PLL takes at most 60 MHz, not 125 MHz
        delay(BREATH)
        self.cpld.cfg_write(self.cpld.cfg_reg & ~(int64(1) << 45))
        delay(2 * ms)
        self.dds.write64(RAMP_LIMIT.address, 5, 5)
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)
        delay(BREATH)
        self.dds.write32(RAMP_RATE.address, 0)
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)
        delay(BREATH)
        self.dds.set_cfr2(drg_enable=1)
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)  # ch1: the upper limit of its ramp, 0x5; a rate of its ramp is 0
        delay(BREATH)
        self.dds.write64(RAMP_LIMIT.address, 6, 5)
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)  # ch1: a rate of its ramp is 0: at least 1
        delay(BREATH)
        self.dds.set_cfr2()
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)
        delay(BREATH)
        self.dds.set_profile_ram(10, 5, profile=7, mode=1)
        self.dds.set_cfr1(ram_enable=1)
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)  # ch1: profile 7 of its RAM ends at word 5, before its first, 10
        delay(BREATH)
        self.dds.set_profile_ram(5, 10, step=0, profile=7, mode=1)
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)  # ch1: profile 7 of its RAM has steps of 0 cycles
        delay(BREATH)
        self.dds.set_profile_ram(5, 10, profile=7, mode=7)
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)  # ch1: profile 7 of its RAM has the mode 7, which does not exist
        delay(BREATH)
        self.dds.set_profile_ram(5, 10, profile=7, mode=1)
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)
        delay(BREATH)
        self.dds.write_ram([1, 2])  # ch1: its RAM is written or read while it plays (ram_enable)
        delay(BREATH)
        self.dds.set_cfr1()
        delay(BREATH)
        self.dds.io_update.pulse_mu(16)
        delay(BREATH)
        self.finish()


class Ad9912(Violations):
    def build(self):
        super().build()
        self.cpld = self.get_device("light")
        self.dds = self.get_device("beam")

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.read(0x003, 2)  # ch2: it is read, but its data output pin is disabled
        self.core.break_realtime()
        self.dds.init()
        delay(BREATH)
        self.dds.set_mu(int64(3) << 46)  # ch2: its frequency, 750.000 MHz, is above half of its clock
        delay(BREATH)
        self.dds.write(N_DIVIDER.address, 4, 1)
        self.dds.io_update.pulse(2 * us)
        self.dds.set_mu(int64(1) << 40)  # ch2: its PLL cannot lock: 1500 MHz is outside the range of its oscillator
        delay(BREATH)
        self.dds.write(N_DIVIDER.address, 2, 1)
        self.dds.io_update.pulse(2 * us)
        self.dds.set_mu(int64(1) << 40)
        delay(BREATH)
        self.dds.write(PLL.address, 0x06, 1)
        self.dds.io_update.pulse(2 * us)
        self.dds.set_mu(int64(1) << 40)  # ch2: its PLL cannot lock: its charge pump is off
        delay(BREATH)
        self.dds.write(PLL.address, 0x0D, 1)
        self.dds.io_update.pulse(2 * us)
        self.dds.set_mu(int64(1) << 40)  # ch2: its PLL takes 6 to 100 MHz with the doubler, not 125 MHz
        delay(BREATH)
        self.dds.write(PLL.address, 0x05, 1)
        self.dds.io_update.pulse(2 * us)
        self.dds.set_mu(int64(1) << 40)
        delay(BREATH)
        self.dds.write(0x700, 0, 1)  # ch2: there is no register 0x700; ch2: a message ended within its instruction
        self.finish()


class Dac(Violations):
    def build(self):
        super().build()
        self.bus = self.get_device("dio_spi0")

    @kernel
    def run(self):
        self.core.reset()
        self.bus.set_config_mu(SPI_CLK_PHASE | SPI_END, 16, 4, 1)
        self.bus.write(0 << 8)  # a transfer of 16 bits instead of 24: ignored
        delay(BREATH)
        self.bus.set_config_mu(SPI_CLK_PHASE | SPI_END, 24, 2, 1)
        self.bus.write(0xC80000 << 8)  # a clock faster than its minimum period of 20 ns
        delay(BREATH)
        self.bus.set_config_mu(SPI_CLK_PHASE | SPI_END, 24, 4, 1)
        self.bus.write(0xFF0000 << 8)  # there is no channel at the address 63
        delay(BREATH)
        self.bus.set_config_mu(SPI_CLK_PHASE | SPI_END, 24, 4, 1)
        self.bus.write(0x0A0000 << 8)  # the special function 10 is not modelled
        delay(BREATH)
        self.bus.set_config_mu(SPI_CLK_PHASE | SPI_END, 24, 4, 1)
        self.bus.write(0x05FF80 << 8)  # there is no readable register at 0xff80
        delay(BREATH)
        self.finish()


class Adc(Violations):
    def build(self):
        super().build()
        self.adc = self.get_device("sampler0")
        self.codes = self.get_device("spi_sampler0_adc")
        self.gains = self.get_device("spi_sampler0_pgia")
        self.cnv = self.get_device("ttl_sampler0_cnv")

    @kernel
    def run(self):
        self.core.reset()
        self.adc.init()
        self.codes.write(0)  # the ADC is read, but has not converted anything (CNV)
        delay(BREATH)
        self.cnv.pulse(16 * ns)  # CNV is high for 16 ns: it samples for at least 30 ns
        delay(BREATH)
        self.cnv.pulse(32 * ns)
        delay(400 * ns)
        self.cnv.pulse(32 * ns)  # conversions must be at least 667 ns apart
        delay(BREATH)
        self.cnv.pulse(32 * ns)
        delay(104 * ns)
        self.codes.write(0)  # a conversion takes up to 450 ns
        delay(BREATH)
        self.gains.set_config_mu(SPI_END, 12, 8, 1)
        self.gains.write(0)  # 12 bits for the amplifiers: they have 16
        delay(BREATH)
        self.gains.set_config_mu(SPI_END, 16, 8, 0)
        self.gains.write(0)  # a message without a chip select
        self.finish()


class Mirny(Violations):
    def build(self):
        super().build()
        self.mirny = self.get_device("mirny0_cpld")
        self.tone = self.get_device("mirny0_ch1")

    @kernel
    def run(self):
        self.core.reset()
        self.mirny.init()
        self.tone.init()
        self.tone.set_frequency(4 * GHz)
        self.core.break_realtime()
        tune, reference = self.tone.regs[0], self.tone.regs[4]
        self.tone.write(reference & ~(0x3FF << 15))
        delay(BREATH)
        self.tone.write(tune & ~(1 << 21))  # ch1: its reference divider is 0: at least 1 (r_counter)
        delay(BREATH)
        self.tone.write(reference | 1 << 26)
        delay(BREATH)
        self.tone.write(tune & ~(1 << 21))  # ch1: its phase detector runs at 200; 4/5; cannot lock
        delay(BREATH)
        self.tone.write(reference)
        delay(BREATH)
        self.tone.write(self.tone.regs[9] & 0xFFFFFF)
        delay(BREATH)
        self.tone.write(tune | 1 << 21)  # ch1: the divider of its band; ch1: it is calibrated with 100
        delay(BREATH)
        self.tone.write(self.tone.regs[9])
        delay(BREATH)
        self.tone.write(2 | 5 << 18 | 4 << 4)
        delay(BREATH)
        self.tone.write(tune & ~(1 << 21))  # ch1: its second fraction is 5/4: it must be less than 1
        delay(BREATH)
        self.tone.write(self.tone.regs[2])
        delay(BREATH)
        self.tone.write(20 << 4)  # ch1: the integer part of its divider is 20; ch1: it cannot lock: 2000.0
        delay(BREATH)
        self.tone.write(62 << 4)  # ch1: the prescaler 4/5 is for up to 6 GHz, not 6200.0
        delay(BREATH)
        self.tone.write(1 << 20 | 40 << 4)  # ch1: the integer part of its divider is 40: its prescaler needs
        delay(BREATH)
        self.tone.write(14)  # ch1: there is no register 14
        delay(BREATH)
        self.mirny.write_ext(5, 31, 0)  # a message of 39 bits for number 5, which takes 40: ignored
        delay(BREATH)
        self.mirny.write_ext(12, 8, 0)  # a message for channel 0 of an Almazny, which is not present
        delay(BREATH)
        self.mirny.write_reg(0, 0)  # its register 0 cannot be written
        delay(BREATH)
        self.mirny.write_reg(1, 3 << 4)
        delay(BREATH)
        self.tone.write(tune)  # ch1: it has no reference: check clk_sel
        delay(BREATH)
        self.finish()


class AD9834(Violations):
    def build(self):
        super().build()
        self.dds = self.get_device("chip")
        self.bus = self.get_device("dio_spi0")

    @kernel
    def run(self):
        self.core.reset()
        self.dds.word.send(0x4001)  # it is started without a reset since power-up; its clock is at most 75 MHz, not 80
        delay(BREATH)
        self.dds.init()
        delay(BREATH)
        b28, reset = 0x2000, 0x100
        self.dds.word.send(b28 | reset)
        delay(BREATH)
        self.dds.word.send(0x4000)
        delay(BREATH)
        self.dds.word.send(0x6001)  # the frequency in register 0, 40.005 MHz, is above half of its clock
        delay(BREATH)
        self.dds.word.send(0x4000)
        delay(BREATH)
        self.dds.word.send(0x4001)  # frequency register 0 is written in full twice in a row
        delay(BREATH)
        self.dds.word.send(0x8000)
        delay(BREATH)
        self.dds.word.send(0x2100)  # for frequency register 1 is missing (b28): another word came
        delay(BREATH)
        self.dds.word.send(0x2122)  # its pin SIGN BIT OUT is on with a triangle
        delay(BREATH)
        self.dds.word.send(0x2130)  # its pin SIGN BIT OUT shows the comparator divided by two
        delay(BREATH)
        self.dds.word.send(0x2100)
        delay(BREATH)
        self.bus.set_config_mu(SPI_END | SPI_CLK_POLARITY, 9, 12, 1)
        self.bus.write(0)  # a message ended after 9 of the 16 bits of a word
        delay(BREATH)
        self.bus.set_config_mu(SPI_END | SPI_CLK_POLARITY, 16, 2, 1)
        self.bus.write(0x21000000)  # a clock of 16 ns: the minimum period is 25 ns
        delay(BREATH)
        self.bus.set_config_mu(SPI_END, 16, 12, 1)
        delay(BREATH)
        # Bits are taken as the next ones come.
        self.bus.write(0x10800000)  # its clock is low when it is selected: it must be high
        delay(BREATH)
        self.bus.set_config_mu(SPI_END | SPI_CLK_POLARITY, 16, 12, 0)
        self.bus.write(0)  # a message without a chip select
        delay(BREATH)
        self.dds.word.send(0x8000)  # for frequency register 1 is missing (b28)
        delay(BREATH)
        self.finish()


class HMC542B(Violations):
    def build(self):
        super().build()
        self.bus = self.get_device("dio_spi0")

    @kernel
    def run(self):
        self.core.reset()
        self.bus.set_config_mu(SPI_END, 12, 5, 1)
        self.bus.write(0)  # 12 bits for the attenuator: it has 8
        delay(BREATH)
        self.bus.set_config_mu(SPI_END, 8, 5, 0)
        self.bus.write(0)  # a message without a chip select
        self.finish()


class Novogorny(Violations):
    def build(self):
        super().build()
        self.adc = self.get_device("adc")
        self.bus = self.get_device("dio_spi0")
        self.cnv = self.get_device("ttl16")
        self.words = [0x8F] * 17

    @kernel
    def run(self):
        self.core.reset()
        self.bus.set_config_mu(SPI_END, 24, 8, 1)
        self.bus.write(0)  # the ADC is read, but has not converted anything (CNV)
        delay(BREATH)
        self.cnv.pulse(24 * ns)  # CNV is high for 24 ns: at least 40 ns
        delay(BREATH)
        self.cnv.pulse(40 * ns)
        delay(700 * ns)
        self.cnv.pulse(40 * ns)  # conversions must be at least 1000 ns apart
        delay(BREATH)
        self.cnv.pulse(40 * ns)
        delay(400 * ns)
        self.bus.write(0)  # a conversion takes up to 580 ns
        delay(BREATH)
        # The clock falls for the last time some 80 ns before the end of the transfer.
        self.bus.write(0)
        delay(-64 * ns)
        self.cnv.pulse(40 * ns)  # CNV rises 12 ns after the ADC's clock changed: the minimum is 20 ns
        delay(BREATH)
        self.bus.set_config_mu(SPI_END, 5, 8, 1)
        self.bus.write(0)  # a control word of the ADC ended after 5 of its 8 bits
        delay(BREATH)
        self.adc.configure(self.words)  # the ADC takes at most 16 control words: the others are ignored
        delay(BREATH)
        self.bus.set_config_mu(SPI_END, 12, 8, 2)
        self.bus.write(0)  # 12 bits for the amplifiers: they have 16
        delay(BREATH)
        self.bus.set_config_mu(SPI_END, 8, 8, 0)
        self.bus.write(0)  # a message without a chip select
        self.finish()
