"""One kernel drives pins of three boards in a chain together; subkernels of both satellites."""

from artiq.experiment import *
from numpy import int64


class Chain(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl4")
        self.outputs = [self.get_device(name) for name in ("ttl4", "relay_ttl4", "sat_ttl4")]
        self.inputs = [self.get_device(name) for name in ("ttl0", "relay_ttl0", "sat_ttl0")]

    @subkernel(destination=1)
    def near(self, a: TInt32) -> TInt32:
        return a + subkernel_recv("more", TInt32)

    @subkernel(destination=2)
    def far(self, values: TList(TFloat)) -> TFloat:
        total = 0.0
        for value in values:
            total += value
        return total

    @subkernel(destination=2)
    def fails(self):
        self.sat_ttl4.pulse(1 * us)
        at_mu(0)
        self.sat_ttl4.pulse(1 * us)

    @kernel
    def pins(self):
        for line in self.inputs:
            line.output()
        delay(20 * us)
        for length in range(1, 4):
            for output in self.outputs:
                output.on()
            delay_mu(int64(1000 * length + 3))
            for output in self.outputs:
                output.off()
            delay(2 * us)
        for line in self.inputs:
            self.core.break_realtime()
            end = line.gate_rising(2 * us)
            at_mu(end - 1500)
            rising = now_mu()
            line.pulse(100 * ns)
            print(line.timestamp_mu(end) - rising)

    @kernel
    def run(self):
        self.core.reset()
        self.pins()
        # Both run at the same time
        self.near(40)
        self.far([1.5, 2.0, 4.0])
        subkernel_send(1, "more", 2)
        print(subkernel_await(self.far), subkernel_await(self.near))
        self.core.break_realtime()
        self.fails()
        subkernel_await(self.fails)
