"""Kernels of satellites that start kernels of other satellites: values, messages, times, exceptions."""

from artiq.coredevice.exceptions import SubkernelError
from artiq.experiment import *
from numpy import int64


class Nested(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl4")

    @subkernel(destination=2)
    def scaled(self, a: TInt32) -> TInt32:
        return a * subkernel_recv("factor", TInt32)

    @subkernel(destination=2)
    def raises(self, odd: TInt32):
        if odd % 2:
            raise ValueError("odd: {0}", int64(odd))

    @subkernel(destination=2)
    def waits(self):
        subkernel_recv("never", TInt32)

    @subkernel(destination=1)
    def calls(self, a: TInt32) -> TInt32:
        self.scaled(a)
        subkernel_send(2, "factor", 3)
        return subkernel_await(self.scaled) + 1

    @subkernel(destination=1)
    def doubled(self, a: TInt32) -> TInt32:
        return 2 * a

    @subkernel(destination=2)
    def calls_upwards(self, a: TInt32) -> TInt32:
        self.doubled(a)
        return subkernel_await(self.doubled) + 1

    @subkernel(destination=1)
    def catches(self) -> TInt32:
        caught = 0
        for n in range(4):
            try:
                self.raises(n)
                subkernel_await(self.raises)
            except ValueError:
                caught += 1
        return caught

    @subkernel(destination=1)
    def is_impatient(self) -> TInt32:
        errors = 0
        try:
            subkernel_await(self.waits)
        except SubkernelError:
            errors += 1
        self.waits()
        try:
            subkernel_await(self.waits, 20)
        except SubkernelError:
            errors += 10
        try:
            self.raises(0)
        except SubkernelError:
            errors += 100
        subkernel_send(2, "never", 5)
        subkernel_await(self.waits)
        return errors

    @subkernel(destination=1)
    def passes_on(self):
        self.raises(7)
        subkernel_await(self.raises)

    @kernel
    def run(self):
        self.core.reset()
        for n in range(3):
            self.calls(n)
            print("calls", subkernel_await(self.calls))
        self.calls_upwards(20)
        print("upwards", subkernel_await(self.calls_upwards))
        self.catches()
        print("caught", subkernel_await(self.catches))
        self.is_impatient()
        print("errors", subkernel_await(self.is_impatient, 10000))
        # Both boards are free again
        self.scaled(6)
        subkernel_send(2, "factor", 7)
        print("directly", subkernel_await(self.scaled))
        self.passes_on()
        subkernel_await(self.passes_on)
