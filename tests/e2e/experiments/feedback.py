"""A servo in the kernel: timestamps of a signal's edges, a proportional-integral loop with limits, and a
clock generator that it controls. The signal is a pulse on the input's own pin, delayed by the error
that the loop has not corrected.
"""

from artiq.experiment import *
from numpy import int64


class PIController(HasEnvironment):
    """One loop; state and gains are attributes, which are written back to the host."""

    kernel_invariants = {"kp", "ki", "limit"}

    def build(self, kp=0.5, ki=0.25, limit=1000.0):
        self.kp = kp
        self.ki = ki
        self.limit = limit
        self.integral = 0.0
        self.steps = 0

    @portable
    def update(self, error: TFloat) -> TFloat:
        self.steps += 1
        self.integral = min(max(self.integral + self.ki * error, -self.limit), self.limit)
        return self.kp * error + self.integral


class Feedback(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.signal = self.get_device("ttl1")
        self.clock = self.get_device("ttl12")
        self.controller = PIController(self, ki=0.125)
        self.reference = PIController(self, ki=0.125)
        self.delays = [0.0 for _ in range(12)]

    @kernel
    def measure(self, late_mu):
        """Return the time of the signal's edge after the start of the gate, in machine units."""
        start = now_mu()
        with parallel:
            self.signal.gate_rising(5 * us)
            with sequential:
                delay_mu(1000 + int64(round(late_mu)))
                self.signal.pulse(200 * ns)
        return self.signal.timestamp_mu(now_mu()) - start

    @kernel
    def run(self):
        self.core.reset()
        self.signal.output()
        delay(1 * us)
        late = 640.0
        for i in range(len(self.delays)):
            error = float(self.measure(late) - 1000)
            self.delays[i] = error
            late -= self.controller.update(error)
            self.core.break_realtime()
        self.clock.set(10 * MHz)
        delay(1 * us)
        self.clock.stop()
        delay(100 * ns)

    def analyze(self):
        late, expected = 640.0, []
        for _ in range(len(self.delays)):
            expected.append(float(int(late + 0.5) if late > 0 else -int(-late + 0.5)))
            late -= self.reference.update(expected[-1])
        print("as computed on the host:", list(self.delays) == expected, self.controller.steps, self.delays[:4])
        print("same integral:", self.controller.integral == self.reference.integral)
