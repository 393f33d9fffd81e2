"""What writes registers on the device: a kernel per kind of card or chip, with its drivers as attributes.

Each begins with slack, leaves time between words, and ends when its last output was made.
"""

from ..coredevice.chips.ad9910 import CFR1 as AD9910_CFR1
from ..coredevice.chips.ad9910 import CFR3 as AD9910_CFR3
from ..coredevice.chips.mirny import CONTROL as MIRNY_CONTROL
from ..language import TBool, TInt32, TInt64, TList, delay, kernel, ms, us
from ..selftest.kernels import Kernels as TestKernels

__all__ = ["Kernels"]


class Kernels(TestKernels):
    """The core device, and those that the kernels in use need, by role."""

    # Urukul

    @kernel
    def urukul(self, attenuators: TInt32):
        """Initialise `cpld`, whose `cfg_reg` has the switches open, and set its attenuators. ValueError if it does
        not answer."""
        self.begin()
        self.cpld.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.cpld.set_all_att_mu(attenuators)
        self.finish()

    @kernel
    def configuration(self, word: TInt64):
        """Write the configuration of `cpld`: the last, since it closes switches."""
        self.begin()
        self.cpld.cfg_write(word)
        self.finish()

    @kernel
    def ad9910(self, cfr1: TInt32, clock: TInt32, locks: TBool, short, words: TList(TInt32), wide: TList(TInt32)):
        """Write the registers of `device`, an AD9910, with the clock started anew. `short`: the address and the word of
        that of 16 bits; `words`: those of 32 bits; `wide`: those of 64 bits, as address, upper and lower word.
        ValueError if its PLL does not lock."""
        self.begin()
        self.device.write32(AD9910_CFR1.address, cfr1)
        self.device.io_update.pulse(1 * us)
        delay(1 * ms)
        self.device.write32(AD9910_CFR3.address, AD9910_CFR3.pfd_reset.put(clock, 1))
        self.device.io_update.pulse(1 * us)
        self.device.write32(AD9910_CFR3.address, clock)
        self.device.io_update.pulse(1 * us)
        if locks:
            if not self.device.becomes_ready(self.device.channel, 100, 1 * ms):
                raise ValueError("the PLL of an AD9910 does not lock")
        self.core.break_realtime()
        delay(1 * ms)
        self.device.write16(short[0], short[1])
        for n in range(len(words) // 2):
            self.device.write32(words[2 * n], words[2 * n + 1])
            delay(10 * us)
        for n in range(len(wide) // 3):
            self.device.write64(wide[3 * n], wide[3 * n + 1], wide[3 * n + 2])
            delay(10 * us)
        self.device.io_update.pulse(1 * us)
        self.finish()

    @kernel
    def ad9910_ram(self, words: TList(TInt32), wide: TList(TInt32), cfr1: TInt32):
        """Write the RAM of `device`, an AD9910 whose profiles have the whole of it, from its last address downwards;
        then its profiles, as address, upper and lower word, and the register that makes it play."""
        self.begin()
        delay(10 * ms)  # longer than the words take the processor
        self.device.write_ram(words)
        delay(10 * us)
        for n in range(len(wide) // 3):
            self.device.write64(wide[3 * n], wide[3 * n + 1], wide[3 * n + 2])
            delay(10 * us)
        self.device.write32(AD9910_CFR1.address, cfr1)
        self.device.io_update.pulse(1 * us)
        self.finish()

    @kernel
    def ad9912(self, words: TList(TInt32)):
        """Write the registers of `device`, an AD9912, given as address, word and number of bytes."""
        self.begin()
        for n in range(len(words) // 3):
            self.device.write(words[3 * n], words[3 * n + 1], words[3 * n + 2])
            delay(10 * us)
            self.device.io_update.pulse(2 * us)
            delay(10 * us)
        delay(1 * ms)
        self.finish()

    # Mirny

    @kernel
    def mirny(self, control: TInt32, attenuators: TList(TInt32)):
        """Initialise `cpld`, and write its control register and attenuators. ValueError if it does not answer."""
        self.begin()
        self.cpld.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.cpld.write_reg(MIRNY_CONTROL.address, control)
        delay(1 * ms)
        for n in range(len(attenuators)):
            self.cpld.set_att_mu(n, attenuators[n])
            delay(10 * us)
        self.finish()

    @kernel
    def almazny(self, first: TInt32, length: TInt32, divider: TInt32, words: TList(TInt32)):
        """Write the shift registers of the Almazny on `cpld`, from destination `first` on."""
        self.begin()
        for n in range(len(words)):
            self.cpld.write_ext(first + n, length, words[n], divider)
            delay(50 * us)
        self.finish()

    @kernel
    def adf5356(self):
        """Write `regs` of `device`, an ADF5356, and calibrate its oscillator."""
        self.begin()
        self.device.sync()
        self.finish()

    # Converters

    @kernel
    def ad53xx(self, words: TList(TInt32)):
        """Send words to `device`, an AD53xx, and load its outputs. ValueError if it does not answer."""
        self.begin()
        self.device.ldac.on()
        self.device.clr.on()
        self.device.word.prepare()
        self.device._check_before()
        self.core.break_realtime()
        delay(1 * ms)
        for word in words:
            self.device._send(word)
            delay(2 * us)
        delay(5 * us)
        self.device.load()
        self.finish()

    @kernel
    def leds(self, leds: TInt32):
        """Light the LEDs of `device`, a Zotino."""
        self.begin()
        self.device.set_leds(leds)
        self.finish()

    @kernel
    def fastino(self, writes: TList(TInt32)):
        """Write registers of `device`, a Fastino, given as address and word, each in a frame of its own."""
        self.begin()
        self.device.set_hold(0)
        delay(10 * us)
        self.device.set_continuous(0)
        delay(10 * us)
        for n in range(len(writes) // 2):
            self.device.write(writes[2 * n], writes[2 * n + 1])
            delay(10 * us)
        self.finish()

    @kernel
    def fastino_group(self, dac: TInt32, codes: TList(TInt32)):
        """Write the codes of a group of DACs of `device`, two per word."""
        self.begin()
        self.device.set_group_mu(dac, codes)
        delay(10 * us)
        self.finish()

    @kernel
    def gains(self, gains: TList(TInt32)):
        """Set the gains of `device`, a Sampler that was initialised, or a Novogorny."""
        self.begin()
        for channel in range(len(gains)):
            self.device.set_gain_mu(channel, gains[channel])
            delay(50 * us)
        self.finish()

    # Single chips

    @kernel
    def hmc542b(self, setting: TInt32):
        """Set `device`, an attenuator."""
        self.begin()
        self.device.set_att_mu(setting)
        self.finish()

    @kernel
    def ad9834(self, frequencies: TList(TInt32), phases: TList(TInt32), control: TInt32):
        """Write the registers of `device`, an AD9834, the control register last."""
        self.begin()
        self.device.init()
        delay(10 * us)
        for n in range(2):
            self.device.set_frequency_reg(n, frequencies[n])
            delay(10 * us)
            self.device.set_phase_reg(n, phases[n])
            delay(10 * us)
        self.device._control(control)
        self.finish()

    @kernel
    def ad9914_reset(self):
        """Reset all chips of the bus of `device`, an AD9914."""
        self.begin()
        self.device.reset_all()
        self.finish()

    @kernel
    def ad9914(self, words: TList(TInt32)):
        """Initialise `device`, an AD9914, and write its registers, given as number and word."""
        self.begin()
        self.device.init()
        delay(1 * ms)
        self.device._select()
        for n in range(len(words) // 2):
            self.device._put_both(words[2 * n], words[2 * n + 1])
            delay(5 * us)
        self.device._apply()
        self.finish()
