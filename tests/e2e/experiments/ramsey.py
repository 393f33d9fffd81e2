"""Ramsey fringes: two pulses of a DDS, the second with a scanned phase, then detection. The laser is a DDS
with an RF switch; the ion is a second TTL output, which the script switches on in place of
fluorescence.
"""

from artiq.experiment import *
from numpy import int32


class Ramsey(EnvExperiment):
    """Ramsey scan"""

    kernel_invariants = {"t_pi2", "t_wait", "detuning"}

    def build(self):
        self.setattr_device("core")
        self.setattr_device("urukul0_cpld")
        self.setattr_device("urukul0_ch0")
        self.laser = self.get_device("urukul0_ch0")
        self.detection = self.get_device("ttl4")
        self.setattr_argument("phases", Scannable(default=RangeScan(0.0, 0.75, 4)))
        self.t_pi2 = 2.5 * us
        self.t_wait = 10 * us
        self.detuning = 1.5 * kHz

    def prepare(self):
        self.points = [phase for phase in self.phases]
        self.words = [0] * len(self.points)
        self.set_dataset("ramsey.phase", self.points, broadcast=True)
        self.set_dataset("ramsey.word", [int32(0)] * len(self.points))

    @kernel
    def init(self):
        self.core.reset()
        self.urukul0_cpld.init()
        self.laser.init()
        self.laser.sw.off()
        delay(10 * us)

    @kernel
    def set_laser(self, phase):
        """Set the second pulse in phase with a clock running since time 0, plus an offset."""
        return self.laser.set(80 * MHz + self.detuning, phase=phase, amplitude=0.5)

    @kernel
    def pulse(self):
        self.laser.sw.pulse(self.t_pi2)

    @kernel
    def shot(self, phase):
        self.set_laser(0.0)
        self.pulse()
        delay(self.t_wait / 2)
        word = self.set_laser(phase)
        delay(self.t_wait / 2)
        self.pulse()
        with parallel:
            self.detection.pulse(5 * us)
            delay(7 * us)
        return word

    @kernel
    def run(self):
        self.init()
        for i in range(len(self.points)):
            self.core.break_realtime()
            self.words[i] = self.laser.turns_to_pow(self.shot(self.points[i]))
            self.mutate_dataset("ramsey.word", i, self.words[i])
        self.core.wait_until_mu(now_mu())

    def analyze(self):
        print(self.words, [int(word) for word in self.get_dataset("ramsey.word")])
