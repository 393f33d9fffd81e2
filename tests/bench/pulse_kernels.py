"""Kernels for the pulse core's figures on the emulated device."""

from artiq.coredevice.exceptions import RTIOUnderflow
from artiq.experiment import *
from numpy import int64

from kairos.contracts.pulse import Parameter
from kairos.pulse import Adjustable, Pulse

A0 = int(Parameter.A0)


def gates():
    """Return gates with one adjustable parameter, a number or a shape, with eight, and one that
    keeps all engines busy."""
    eight = {name: Adjustable(1.0) for name in ("freq0", "amp0", "phase0", "freq1", "amp1", "phase1")}
    frames = {"framerot0": Adjustable(1.0), "framerot1": Adjustable(1.0), "forward": (1, 2)}
    moving = {name: (0.0, 50.0 + n, 90.0, 10.0) for n, name in enumerate(eight)}
    return {
        "shape": [Pulse(channel=0, cycles=100, amp0=Adjustable((0, 20, 30, 0)))],
        "one": [Pulse(channel=0, cycles=100, amp0=Adjustable(1.0))],
        "eight": [Pulse(channel=0, cycles=100, **eight, **frames)],
        "busy": [Pulse(channel=c, cycles=200, framerot0=(0, 5, 20), framerot1=7.0, **moving) for c in (0, 1)],
    }


class Updates(EnvExperiment):
    """Changes one or eight parameters of a gate and plays it."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        self.program = self.pulse0.define(gates())
        self.one, self.eight, self.shape = (self.program[name] for name in ("one", "eight", "shape"))
        self.number = 0
        self.busy = self.program.sequence(["busy"] * 2000)

    def rounds(self) -> TInt32:
        return self.number

    @kernel
    def load(self):
        self.core.reset()
        delay(100 * us)
        self.pulse0.load(self.program)

    @kernel
    def attempt(self, gate, count, value, ahead) -> TInt64:
        """Change the first `count` parameters (1 or 8) to `value` and play the gate, with the first
        event `ahead` of the call. Returns the time of the call, or -1 after an underflow."""
        parameters = [(A0 + n) % 8 for n in range(8)]
        values = [value for _ in range(8)]
        self.core.break_realtime()
        self.pulse0.prepare(gate)
        self.core.wait_until_mu(now_mu() + 10000)
        begin = self.core.get_rtio_counter_mu()
        at_mu(begin + ahead)
        try:
            if count == 1:
                self.pulse0.play_changed(gate, A0, value)
            else:
                self.pulse0.play_all_changed(gate, parameters, values)
        except RTIOUnderflow:
            begin = int64(-1)
        self.core.break_realtime()
        self.pulse0.wait_armed()
        self.core.wait_until_mu(now_mu() + 10000)
        return begin

    @kernel
    def update_number(self):
        self.core.break_realtime()
        delay(1 * ms)
        for n in range(self.rounds()):
            self.pulse0.update(self.one, A0, 1.0 + n)
            delay(10 * us)

    @kernel
    def update_shape(self):
        self.core.break_realtime()
        delay(1 * ms)
        for n in range(self.rounds()):
            self.pulse0.update(self.shape, A0, 1.0 + 0.01 * n)
            delay(10 * us)

    @kernel
    def update_spline(self):
        knots = [0.0, 20.0, 30.0, 0.0]
        self.core.break_realtime()
        delay(1 * ms)
        for n in range(self.rounds()):
            knots[1] = 1.0 + n
            self.pulse0.update_course(self.shape, A0, knots)
            delay(10 * us)

    @kernel
    def update_gate(self):
        parameters = [(A0 + n) % 8 for n in range(8)]
        self.core.break_realtime()
        delay(1 * ms)
        for n in range(self.rounds()):
            self.pulse0.update_all(self.eight, parameters, [1.0 + n for _ in range(8)])
            delay(10 * us)

    @kernel
    def play_busy(self):
        self.core.break_realtime()
        delay(1 * ms)
        self.pulse0.play_sequence(self.busy)
        self.pulse0.wait_armed()
        self.pulse0.check()

    @kernel
    def start(self) -> TInt64:
        """Return the time of a trigger."""
        self.core.break_realtime()
        self.pulse0.send(self.one.words)
        delay(5 * us)
        begin = now_mu()
        self.pulse0.trigger()
        delay(20 * us)
        self.core.wait_until_mu(now_mu())
        return begin
