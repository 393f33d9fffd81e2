"""Active feedback on a count: the ion is put into a superposition and measured; where it is found dark, a pulse of half
a turn follows at once, 10 us behind the decision. A second measurement finds it bright, whatever the first one was: the
bars of the first are half and half, those of the second are not."""

from artiq.experiment import *
from trap import THRESHOLD, Trap, draw


class Feedback(Trap, EnvExperiment):
    """A pulse that depends on a count"""

    def build(self):
        self.build_trap()

    @kernel
    def run(self):
        self.setup()
        first, second = 0, 0
        for _ in range(self.shots):
            self.core.break_realtime()
            self.cool()
            self.qubit.sw.pulse(5 * us)
            delay(2 * us)
            dark = self.detect() < THRESHOLD
            if dark:
                first += 1
                delay(10 * us)
                self.qubit.sw.pulse(10 * us)
                delay(2 * us)
            if self.detect() < THRESHOLD:
                second += 1
        self.set_dataset("feedback.dark", [first / self.shots, second / self.shots])
        self.core.wait_until_mu(now_mu())

    def analyze(self):
        first, second = self.get_dataset("feedback.dark")
        print(f"dark before the feedback {first:.0%}, behind it {second:.0%}")
        if self.figure:
            bars = [
                (f"{name} measurement", [at - 0.3, at - 0.3, at + 0.3, at + 0.3], [0, dark, dark, 0], None)
                for name, at, dark in (("first", 1, first), ("second", 2, second))
            ]
            draw(self.figure, bars, "measurement", "part of the shots found dark", "Feedback on a count")
