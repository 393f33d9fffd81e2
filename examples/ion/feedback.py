"""Active feedback on a count: the ion is put into a superposition and measured; if it is dark, a
pulse of half a turn follows 10 us after the decision. A second measurement finds it bright
regardless of the first result: the bar of the first is at one half, that of the second at zero."""

import numpy as np
from artiq.experiment import *
from trap import THRESHOLD, Trap, binomial_errors

from kairos.pictures import COLORS, FONT, drawing, save


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
            with drawing(**FONT) as pyplot:
                figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
                dark = np.array([first, second])
                errors = binomial_errors(dark, self.shots)
                axes.bar(
                    ["first measurement", "second measurement"],
                    dark,
                    width=0.5,
                    yerr=errors,
                    capsize=4,
                    color=COLORS[:2],
                )
                axes.set(ylabel="part of the shots found dark", title="Feedback on a count", ylim=(0, 1))
                save(figure, self.figure, dpi=120)
            print(f"wrote {self.figure}")
