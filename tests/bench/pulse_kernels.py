"""What the pulse core's figures on the emulated device are measured with."""

from artiq.coredevice.exceptions import RTIOUnderflow
from artiq.experiment import *
from numpy import int64

from kairos.contracts.pulse import Parameter
from kairos.pulse import Adjustable, Pulse

A0 = int(Parameter.A0)


def gates():
    """A gate with one adjustable parameter, one with eight, and one that keeps all engines busy."""
    eight = {name: Adjustable(1.0) for name in ("freq0", "amp0", "phase0", "freq1", "amp1", "phase1")}
    frames = {"framerot0": Adjustable(1.0), "framerot1": Adjustable(1.0), "forward": (1, 2)}
    moving = {name: (0.0, 50.0 + n, 90.0, 10.0) for n, name in enumerate(eight)}
    return {
        "one": [Pulse(channel=0, cycles=100, amp0=Adjustable(1.0))],
        "eight": [Pulse(channel=0, cycles=100, **eight, **frames)],
        "busy": [Pulse(channel=c, cycles=200, framerot0=(0, 5, 20), framerot1=7.0, **moving) for c in (0, 1)],
    }


class Updates(EnvExperiment):
    """A changed parameter, or eight, and the gate that has them."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        self.program = self.pulse0.define(gates())
        self.one, self.eight = self.program["one"], self.program["eight"]
        self.busy = self.program.sequence(["busy"] * 2000)

    @kernel
    def load(self):
        self.core.reset()
        delay(100 * us)
        self.pulse0.load(self.program)

    @kernel
    def attempt(self, gate, count, value, ahead, apart) -> TInt64:
        """Change `count` parameters to `value` and have the gate played, each change `apart` machine units from the one
        before, the first `ahead` of the call. Returns the time of the call, or -1 if that is too soon."""
        self.core.break_realtime()
        self.pulse0.prepare(gate)
        self.core.wait_until_mu(now_mu() + 10000)
        begin = self.core.get_rtio_counter_mu()
        at_mu(begin + ahead)
        try:
            for parameter in range(1, count):
                self.pulse0.update(gate, (A0 + parameter) % 8, value)
                delay_mu(apart - 8)
            self.pulse0.play_changed(gate, A0, value)
        except RTIOUnderflow:
            begin = int64(-1)
        self.core.break_realtime()
        self.pulse0.wait_armed()
        self.core.wait_until_mu(now_mu() + 10000)
        return begin

    @kernel
    def play_busy(self):
        self.core.break_realtime()
        delay(1 * ms)
        self.pulse0.play_sequence(self.busy)
        self.pulse0.wait_armed()
        self.pulse0.check()

    @kernel
    def start(self) -> TInt64:
        """The time of a trigger."""
        self.core.break_realtime()
        self.pulse0.send(self.one.words)
        delay(5 * us)
        begin = now_mu()
        self.pulse0.trigger()
        delay(20 * us)
        self.core.wait_until_mu(now_mu())
        return begin
