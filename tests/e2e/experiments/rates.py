"""Loops of 400 outputs with ample slack, each on different channels or in a different style."""

from artiq.experiment import *

from kairos.language import TInt32, TList, TNone, syscall


@syscall(flags={"nowrite"})
def rtio_output(target: TInt32, data: TInt32) -> TNone:
    raise NotImplementedError


@syscall(flags={"nowrite"})
def rtio_output_wide(target: TInt32, data: TList(TInt32)) -> TNone:
    raise NotImplementedError


class Rate(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("ttl5")
        self.ttls = [self.ttl4, self.ttl5]
        self.data = [1, 0, 1, 0, 1, 0, 1, 0]

    @kernel
    def run(self):
        self.core.reset()
        delay(1 * ms)
        self.outputs()


class TwoInTurn(Rate):
    @kernel
    def outputs(self):
        for _ in range(100):
            self.ttl4.on()
            delay_mu(2000)
            self.ttl5.on()
            delay_mu(2000)
            self.ttl4.off()
            delay_mu(2000)
            self.ttl5.off()
            delay_mu(2000)


class Pulses(Rate):
    """Their duration in seconds is converted at run time."""

    @kernel
    def outputs(self):
        for _ in range(200):
            self.ttl4.pulse(2 * us)
            delay(2 * us)


class ComputedTimes(Rate):
    @kernel
    def outputs(self):
        start = now_mu()
        for i in range(400):
            at_mu(start + i * 2000)
            self.ttl4.set_o(i & 1 == 0)


class RegisterWrites(Rate):
    """Bursts of eight, as for a DDS."""

    @kernel
    def outputs(self):
        for i in range(400):
            rtio_output(4 << 8, i & 1)
            delay_mu(24)
            if i % 8 == 7:
                delay_mu(20000)


class ListOfChannels(Rate):
    @kernel
    def outputs(self):
        for _ in range(100):
            for ttl in self.ttls:
                ttl.pulse_mu(1000)
                delay_mu(1000)


class Parallel(Rate):
    """The second pulse moves back in time."""

    @kernel
    def outputs(self):
        for _ in range(100):
            with parallel:
                self.ttl4.pulse_mu(1000)
                self.ttl5.pulse_mu(1500)
            delay_mu(2000)


class Wide(Rate):
    """Eight words each."""

    @kernel
    def outputs(self):
        for _ in range(400):
            rtio_output_wide(4 << 8, self.data)
            delay_mu(2000)
