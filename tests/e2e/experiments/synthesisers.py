"""A Mirny with its synthesisers and an Almazny: set by the drivers, with the card's reports."""

from artiq.experiment import *


class Mirny(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.mirny = self.get_device("mirny0_cpld")
        self.channel = self.get_device("mirny0_ch1")
        self.almazny = self.get_device("almazny0")

    @kernel
    def run(self):
        self.core.reset()
        self.mirny.init()
        self.channel.init()
        self.channel.set_att(11.5)
        self.channel.sw.on()
        self.channel.set_output_power_mu(3)
        self.channel.enable_output()
        self.channel.set_frequency(1.2345678e9)
        self.core.break_realtime()
        early = self.channel.read_muxout()
        self.core.break_realtime()
        delay(1 * ms)
        late = self.channel.read_muxout()
        self.core.break_realtime()
        self.almazny.init()
        self.core.break_realtime()
        self.almazny.output_toggle(True)
        self.almazny.set_att(2, 10.5)
        self.set_dataset("locked", [early, late])
        self.core.break_realtime()
        delay(1 * ms)
        self.channel.sw.off()
        self.core.wait_until_mu(now_mu())


class Almazny(EnvExperiment):
    """An Almazny of revision 1.2."""

    def build(self):
        self.setattr_device("core")
        self.mirny = self.get_device("mirny0_cpld")
        self.channel = self.get_device("almazny0_ch3")

    @kernel
    def run(self):
        self.core.reset()
        self.mirny.init()
        self.channel.set(31.5, True, True)
        delay(1 * ms)
        self.core.wait_until_mu(now_mu())


class Refused(EnvExperiment):
    """Each error of the drivers, selected by `what`."""

    def build(self):
        self.setattr_device("core")
        self.mirny = self.get_device("mirny0_cpld")
        self.channel = self.get_device("mirny0_ch1")
        self.almazny = self.get_device("almazny0")
        self.what = self.get_argument("what", StringValue("init"))

    def run(self):
        getattr(self, self.what)()

    @kernel
    def card(self):
        self.core.reset()
        self.mirny.init()

    @kernel
    def init(self):
        self.core.reset()
        self.channel.init()

    @kernel
    def frequency(self):
        self.core.reset()
        self.channel.set_frequency(7e9)

    @kernel
    def power(self):
        self.core.reset()
        self.channel.set_output_power_mu(4)

    @kernel
    def attenuation(self):
        self.core.reset()
        self.channel.set_att(32.0)

    @kernel
    def on_top(self):
        self.core.reset()
        self.almazny.set_att(0, 32.0)


class Unlocked(EnvExperiment):
    """A frequency without a reference, and a message of the wrong length."""

    def build(self):
        self.setattr_device("core")
        self.mirny = self.get_device("mirny0_cpld")
        self.channel = self.get_device("mirny0_ch1")

    @kernel
    def run(self):
        self.core.reset()
        self.mirny.init()
        self.channel.init(blind=True)
        self.channel.set_frequency(1e9)
        delay(1 * ms)
        self.mirny.write_ext(5, 31, 0)
        delay(1 * ms)
        self.core.wait_until_mu(now_mu())
