"""A camera that observes ions, a photodiode and a mains trigger."""

from artiq.coredevice.grabber import GrabberTimeoutException, OutOfSyncException
from artiq.experiment import *
from numpy import int64


class Beams(EnvExperiment):
    """The cooling beam is channel 1, the qubits' beam channel 0."""

    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("urukul0_cpld")
        self.qubit = self.get_device("urukul0_ch0")
        self.cooling = self.get_device("urukul0_ch1")
        self.grabber = self.get_device("grabber0")
        self.sampler = self.get_device("sampler0")
        self.setattr_device("ttl4")
        self.setattr_device("ttl0")

    @kernel
    def begin(self):
        self.core.reset()
        self.cpld.init()
        self.qubit.init()
        self.cooling.init()
        self.qubit.set_att(0.0)
        self.cooling.set_att(0.0)
        self.qubit.sw.off()
        self.cooling.sw.off()
        self.qubit.set(80 * MHz)
        self.cooling.set(110 * MHz)
        self.core.break_realtime()


class TwoRegions(Beams):
    """Regions around two ions: a frame in the dark, one in the light, one after a pulse on ion 1."""

    @kernel
    def frame(self, sums):
        self.core.break_realtime()
        self.ttl4.pulse(1 * us)
        delay(10 * us)
        self.grabber.input_mu(sums, now_mu() + int64(3_000_000))

    @kernel
    def run(self):
        self.begin()
        self.grabber.setup_roi(0, 0, 0, 8, 12)
        self.grabber.setup_roi(1, 8, 0, 16, 12)
        self.grabber.gate_roi(0b11)
        sums = [0, 0]
        self.frame(sums)
        self.set_dataset("dark", [sums[0], sums[1]])
        self.core.break_realtime()
        self.cooling.sw.on()
        self.frame(sums)
        self.set_dataset("bright", [sums[0], sums[1]])
        self.core.break_realtime()
        self.cooling.sw.off()
        delay(10 * us)
        self.qubit.sw.pulse(10 * us)
        delay(10 * us)
        self.cooling.sw.on()
        self.frame(sums)
        self.set_dataset("flipped", [sums[0], sums[1]])


class Errors(Beams):
    """No frame arrives in time; then the expected number of regions is wrong."""

    @kernel
    def run(self):
        self.core.reset()
        self.grabber.setup_roi(0, 0, 0, 8, 12)
        self.grabber.setup_roi(1, 8, 0, 16, 12)
        self.grabber.gate_roi(0b11)
        late, wrong = False, False
        sums = [0]
        try:
            self.grabber.input_mu(sums, now_mu() + int64(100_000))
        except GrabberTimeoutException:
            late = True
        for _ in range(2):
            self.core.break_realtime()
            self.ttl4.pulse(1 * us)
            try:
                self.grabber.input_mu(sums, now_mu() + int64(3_000_000))
            except OutOfSyncException:
                wrong = True
        self.set_dataset("raised", [late, wrong])
        self.core.break_realtime()
        delay(3 * ms)
        self.core.wait_until_mu(now_mu())


class Diode(Beams):
    """Volts of the photodiode without light, with full light, and with the tone 6 dB weaker."""

    @kernel
    def run(self):
        self.begin()
        self.sampler.init()
        volts = [0.0] * 8
        found = [0.0] * 3
        for n in range(3):
            self.core.break_realtime()
            if n == 1:
                self.cooling.sw.on()
            if n == 2:
                self.cooling.set_att(6.0)
            delay(10 * us)
            self.sampler.sample(volts)
            found[n] = volts[2]
        self.set_dataset("volts", found)


class Mains(Beams):
    """Times of some edges of the mains trigger."""

    @kernel
    def run(self):
        self.core.reset()
        times = [int64(0)] * 4
        for n in range(4):
            end = self.ttl0.gate_rising(25 * ms)
            times[n] = self.ttl0.timestamp_mu(end)
            # The gate is longer than a period, so it may contain a second edge.
            self.ttl0.count(end)
            at_mu(end)
            delay(5 * ms)
        self.set_dataset("times", times)
