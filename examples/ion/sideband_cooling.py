"""Sideband cooling: pulses on the red sideband, each followed by repumping and optical pumping,
remove one quantum of motion each. The plot shows both sidebands after Doppler cooling, nearly of
equal height, and after sideband cooling, where the red one has vanished: there is no quantum left
to remove. Requires the bench of crystal.toml."""

import numpy as np
from artiq.experiment import *
from trap import THRESHOLD, Trap, binomial_errors

from kairos.pictures import COLORS, FONT, drawing, save

MODE = 3 * MHz


class SidebandCooling(Trap, EnvExperiment):
    """Quanta of a mode, before and after"""

    def build(self):
        self.build_trap()
        self.sigma = self.get_device("urukul0_ch3")
        self.setattr_argument("cycles", NumberValue(40, precision=0, step=1, type="int"))
        self.setattr_argument("points", NumberValue(9, precision=0, step=2, type="int"))

    def prepare(self):
        beside = np.linspace(-12 * kHz, 12 * kHz, self.points) if self.points > 1 else np.zeros(1)
        self.detunings = [float(d) for side in (-MODE, MODE) for d in side + beside]
        # A pulse that is a whole turn for some number of quanta does not remove any, so the lengths
        # vary.
        self.lengths = [float(length) for length in np.linspace(28 * us, 62 * us, max(self.cycles, 1))[::-1]]
        self.set_dataset("sidebands.excitation", np.full(2 * len(self.detunings), np.nan))

    @kernel
    def pump(self):
        """Pumps back to the lower state of the qubit."""
        with parallel:
            self.repump.sw.pulse(8 * us)
            self.sigma.sw.pulse(8 * us)
        delay(2 * us)

    @kernel
    def shot(self, detuning, cooled) -> TInt32:
        with parallel:
            self.cooling.sw.pulse(400 * us)
            self.repump.sw.pulse(400 * us)
        delay(2 * us)
        self.pump()
        if cooled:
            self.qubit.set(80 * MHz - MODE)
            for length in self.lengths:
                self.qubit.sw.pulse(length)
                delay(2 * us)
                self.pump()
        self.qubit.set(80 * MHz + detuning)
        self.qubit.sw.pulse(60 * us)
        delay(2 * us)
        return self.detect()

    @kernel
    def run(self):
        self.setup()
        self.sigma.init()
        self.sigma.sw.off()
        self.sigma.set_att(0.0)
        self.sigma.set(110 * MHz)
        for cooled in range(2):
            for point in range(len(self.detunings)):
                dark = 0
                for _ in range(self.shots):
                    self.core.break_realtime()
                    if self.shot(self.detunings[point], cooled == 1) < THRESHOLD:
                        dark += 1
                self.record(cooled * len(self.detunings) + point, dark)
        self.core.wait_until_mu(now_mu())

    @rpc(flags={"async"})
    def record(self, point, dark):
        self.mutate_dataset("sidebands.excitation", point, dark / self.shots)

    def analyze(self):
        excitation = self.get_dataset("sidebands.excitation").reshape(2, -1)
        quanta = []
        for row in excitation:
            red, blue = row[: self.points].max(), row[self.points :].max()
            quanta.append(red / (blue - red) if blue > red else np.inf)
        self.set_dataset("sidebands.quanta", quanta)
        print(f"mean quanta from both sidebands: {quanta[0]:.1f} behind Doppler cooling, {quanta[1]:.2f} behind more")
        if self.figure:
            self.draw(excitation, f"{quanta[1]:.2f} quanta are left")
            print(f"wrote {self.figure}")

    def draw(self, excitation, title):
        """Draws both sidebands side by side."""
        beside = (np.array(self.detunings[: self.points]) + MODE) / kHz
        with drawing(**FONT) as pyplot:
            figure, panels = pyplot.subplots(1, 2, figsize=(7, 4), sharey=True, layout="constrained")
            for number, (axes, side) in enumerate(zip(panels, ("red", "blue"), strict=True)):
                for color, name, row in zip(COLORS, ("Doppler cooling", "sideband cooling"), excitation, strict=False):
                    shown = row[number * self.points : (number + 1) * self.points]
                    points = {"fmt": "o", "markersize": 4, "capsize": 2, "color": color, "label": name}
                    axes.errorbar(beside, shown, binomial_errors(shown, self.shots), **points)
                axes.set(xlabel=f"detuning from the {side} sideband (kHz)")
                axes.grid(alpha=0.3)
            panels[0].set_ylabel("excitation")
            panels[0].legend()
            figure.suptitle(title)
            save(figure, self.figure, dpi=120)
