"""Two ions entangled by a Mølmer-Sørensen gate of the pulse core: parity as a function of the phase
of a pulse after the gate, and the resulting fidelity with a Bell state.

Both tones of one output drive the red and the blue sideband for 50 us, detuned outwards by 20 kHz:
one circle in the motion's phase space. The plot shows the parity with its standard errors, and the
fit, which has two periods per turn (Sackett et al., Nature 404, 256 (2000)).
The fit needs SciPy: pip install 'kairos[analysis]'.
"""

import numpy as np
from artiq.experiment import *
from beams import Beams, binomial_errors, draw
from scipy.linalg import lstsq

from kairos.pulse import Adjustable, Pulse

CARRIER = 80 * MHz
MODE = 2 * MHz
DETUNING = 20 * kHz
"""Detuning of the tones from the sidebands, away from the carrier."""
RABI = 200 * kHz
"""Rabi frequency of the carrier for each tone; it matches `DETUNING` for the bench's Lamb-Dicke
parameter."""
AMPLITUDE = 96.0
"""Amplitude of each tone, at which the modulator diffracts most."""
PHASE0 = 2
"""Number of the parameter `phase0`."""
ONE, TWO = 9, 56
"""Minimum counts for one ion, and for both, to be considered bright: 38 are expected from each."""


def terms(phase):
    """Terms of the parity at phases in degrees, which oscillates twice a turn: offset, cosine and sine."""
    angle = 2 * np.radians(phase)
    return np.stack([np.ones_like(angle), np.cos(angle), np.sin(angle)], axis=-1)


class Entangling(Beams, EnvExperiment):
    """Parity oscillation behind a Mølmer-Sørensen gate"""

    def build(self):
        self.build_beams(points=16, shots=50)
        self.setattr_device("pumping")

    def prepare(self):
        sidebands = {"freq0": CARRIER - MODE - DETUNING, "freq1": CARRIER + MODE + DETUNING, "sync": 0b11}
        carrier = {"freq0": CARRIER, "amp0": AMPLITUDE, "phase0": Adjustable(0.0), "sync": 0b01}
        gates = {
            "ms": [Pulse(channel=0, duration=1 / DETUNING, amp0=AMPLITUDE, amp1=AMPLITUDE, enable=0b11, **sidebands)],
            "turn": [Pulse(channel=0, cycles=round(125e6 / (4 * RABI)), enable=0b01, **carrier)],
        }
        self.gates = self.pulse0.define(gates)
        self.gate, self.turn = self.gates["ms"], self.gates["turn"]
        self.phases = np.linspace(0, 360, self.points, endpoint=False)
        # Neither, one, both bright: without the analysis pulse, then for each of its phases
        self.set_dataset("populations", np.full((self.points + 1, 3), np.nan), broadcast=True)

    @kernel
    def shot(self, turned) -> TInt32:
        """Prepares, entangles, applies the analysis pulse if `turned`, detects; returns the photons
        counted."""
        self.cool()
        with parallel:
            self.pumping.pulse(20 * us)
            self.repump.pulse(20 * us)
        delay(5 * us)
        self.pulse0.play(self.gate)
        if turned:
            delay(1 * us)
            self.pulse0.play(self.turn)
        return self.detect()

    @kernel
    def measure(self, point, turned):
        none, one = 0, 0
        for _ in range(self.shots):
            counted = self.shot(turned)
            if counted < ONE:
                none += 1
            elif counted < TWO:
                one += 1
        self.record(point, none, one)

    @rpc(flags={"async"})
    def record(self, point, none, one):
        self.mutate_dataset("populations", point, np.array([none, one, self.shots - none - one]) / self.shots)

    @kernel
    def run(self):
        self.core.reset()
        self.pulse0.load(self.gates)
        self.core.break_realtime()
        self.measure(0, False)
        for point in range(self.points):
            self.core.break_realtime()
            self.pulse0.update(self.turn, PHASE0, self.phases[point])
            delay(20 * us)
            self.measure(point + 1, True)
        self.pulse0.check()
        self.core.wait_until_mu(now_mu())

    def analyze(self):
        none, one, both = self.get_dataset("populations").T
        parity = (none + both - one)[1:]
        found = lstsq(terms(self.phases), parity)[0]
        contrast = np.hypot(*found[1:])
        fidelity = (none[0] + both[0] + contrast) / 2
        self.set_dataset("contrast", contrast)
        self.set_dataset("fidelity", fidelity)
        print(f"none or both bright: {none[0] + both[0]:.2f}, contrast {contrast:.2f}: fidelity {fidelity:.2f}")
        if self.figure:
            fine = np.linspace(0, 360, 400)
            # Errors of the parity, whose range is twice that of a probability
            errors = 2 * binomial_errors((1 + parity) / 2, self.shots)
            draw(
                self.figure,
                ("fit", fine, terms(fine) @ found),
                (f"{self.shots} shots each", self.phases, parity, errors),
                title=f"Bell state by a Mølmer-Sørensen gate, fidelity {fidelity:.2f}",
                xlabel="phase of the pulse behind the gate (°)",
                ylabel="parity",
                ylim=(-1.15, 1.5),
            )
