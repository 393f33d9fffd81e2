import numpy as np
from artiq.coredevice.exceptions import SubkernelError
from artiq.experiment import *


class Strange(Exception):
    pass


class Odd(Strange):
    pass


class Subkernels(EnvExperiment):
    """Communication between kernels of two boards."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("sat_ttl4")
        self.factor = 3
        self.values = [1.0, 2.5]

    @subkernel(destination=1)
    def pulse(self):
        self.sat_ttl4.pulse(3 * us)

    @subkernel(destination=1)
    def scaled(self, count: TInt32, values: TList(TFloat), name: TStr = "default") -> TList(TFloat):
        print("scaling", count, name)
        result = [0.0 for _ in range(len(values))]
        for i in range(len(values)):
            result[i] = values[i] * count * self.factor
        return result

    @subkernel(destination=1)
    def conversation(self) -> TInt64:
        total = np.int64(0)
        for _ in range(3):
            total += subkernel_recv("number", TInt32)
            subkernel_send(0, "sum", total)
        pair = subkernel_recv("pair", TTuple([TInt32, TStr]))
        return total + pair[0]

    @subkernel(destination=1)
    def fails(self, how: TInt32):
        self.inner(how)

    @portable
    def inner(self, how):
        if how == 0:
            raise ValueError("wrong by {0}", 7)
        elif how == 1:
            raise Odd("odd")
        else:
            self.sat_ttl4.pulse(1 * us)
            at_mu(0)
            self.sat_ttl4.pulse(1 * us)

    @subkernel(destination=1)
    def waits(self):
        number = subkernel_recv("never", TInt32)
        print(number)

    @subkernel(destination=1)
    def says(self) -> TInt32:
        subkernel_send(0, "said", 8)
        return 9

    @kernel
    def waits_for_missing_message(self):
        """Messages that are never sent: these calls would wait forever."""
        self.says()
        print("without a limit", subkernel_await(self.says, 0), subkernel_recv("said", TInt32))
        try:
            subkernel_await(self.says)
        except SubkernelError:
            print("it has ended")
        self.says()
        print(subkernel_recv("said", TInt32))
        try:
            subkernel_recv("said", TInt32)
        except SubkernelError:
            print("nobody sends more")
        print(subkernel_await(self.says))

    @kernel
    def run(self):
        self.core.reset()
        delay(10 * ms)
        subkernel_preload(self.pulse)
        self.ttl4.pulse(2 * us)
        self.pulse()
        subkernel_await(self.pulse)
        # Its data are reset each time
        for n in range(2):
            self.scaled(n + 1, self.values)
            print(subkernel_await(self.scaled))
        self.scaled(1, [0.5], name="named")
        print(subkernel_await(self.scaled, 10000))
        self.conversation()
        for n in range(3):
            subkernel_send(1, "number", 10 + n)
            print("sum", subkernel_recv("sum", TInt64, 10000))
        subkernel_send(1, "pair", (7, "seven"))
        print("result", subkernel_await(self.conversation))
        for how in range(2):
            try:
                self.fails(how)
                subkernel_await(self.fails)
            except ValueError:
                print("ValueError")
            except Strange:  # its subclass Odd comes from the other board
                print("Odd")
        try:
            subkernel_await(self.pulse)
        except SubkernelError:
            print("not running")
        self.waits()
        try:
            subkernel_await(self.waits, 20)
        except SubkernelError:
            print("timed out")
        try:
            self.pulse()
        except SubkernelError:
            print("another one runs")
        try:
            self.waits()
        except SubkernelError:
            print("it runs already")
        try:
            print(subkernel_recv("sum", TInt64, 1))
        except SubkernelError:
            print("no message")
        subkernel_send(1, "never", 5)
        subkernel_await(self.waits)
        self.waits_for_missing_message()
        self.core.break_realtime()
        self.fails(2)
        subkernel_await(self.fails)


class Floods(EnvExperiment):
    """More messages than boards have room for, to kernels that wait for something else."""

    def build(self):
        self.setattr_device("core")

    @subkernel(destination=1)
    def receives(self) -> TInt32:
        try:
            subkernel_recv("never", TInt32)
        except SubkernelError:
            return len(subkernel_recv("down", TList(TInt32))) + len(subkernel_recv("down", TList(TInt32)))
        return 0

    @subkernel(destination=1)
    def sends(self):
        values = [0 for _ in range(30000)]
        for _ in range(3):
            subkernel_send(0, "up", values)

    @kernel
    def run(self):
        self.core.reset()
        self.receives()
        values = [0 for _ in range(30000)]
        for _ in range(3):
            subkernel_send(1, "down", values)
        print(subkernel_await(self.receives))
        subkernel_send(1, "never", 0)
        self.sends()
        try:
            subkernel_await(self.sends)
        except SubkernelError:
            print("full")
        for _ in range(3):
            print(len(subkernel_recv("up", TList(TInt32))))
        subkernel_await(self.sends)
