"""Parallel timelines: nested parallel and sequential blocks, with loops and calls in them, zero-length
pulses, jumps of the cursor, a context manager and a multiplexed list of channels.
"""

from artiq.experiment import *


class Window:
    """Keeps a gate open for the statements in its block."""

    kernel_invariants = {"core", "gate"}

    def __init__(self, core, gate, margin):
        self.core = core
        self.gate = gate
        self.margin = margin

    @kernel
    def __enter__(self):
        self.gate.on()
        delay(self.margin)

    @kernel
    def __exit__(self, type, value, traceback):
        delay(self.margin)
        self.gate.off()


class Sequences(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.outputs = [self.get_device(f"ttl{i}") for i in (4, 5, 6)]
        self.ttl4, self.ttl5, self.ttl6 = self.outputs
        self.gate = self.get_device("ttl7")
        self.window = Window(self.core, self.gate, 50 * ns)
        self.pattern = [(0, 100), (1, 200), (2, 50)]

    @kernel
    def staggered(self):
        with parallel:
            for ttl in self.outputs:
                ttl.pulse(100 * ns)
            with sequential:
                delay(50 * ns)
                with parallel:
                    self.gate.pulse(20 * ns)
                    delay(60 * ns)
                self.gate.pulse(20 * ns)

    @kernel
    def simultaneous(self, pattern):
        start = now_mu()
        end = start
        for index, length in pattern:
            at_mu(start)
            self.outputs[index].pulse_mu(length)
            end = max(end, now_mu())
        at_mu(end)

    @kernel
    def run(self):
        self.core.reset()
        self.outputs[0].pulse(1 * us)
        delay(1 * us)
        self.staggered()
        delay(1 * us)
        self.simultaneous([(index, int64(length)) for index, length in self.pattern])
        delay(1 * us)
        with self.window:
            self.ttl4.pulse(80 * ns)
            try:
                delay_mu(20)
                raise ValueError
            except ValueError:
                self.ttl6.pulse_mu(8)
        self.core.wait_until_mu(now_mu())
