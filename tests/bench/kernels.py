"""Experiments for measurements."""

from types import SimpleNamespace

import numpy as np
from artiq.coredevice.rtio import rtio_output
from artiq.coredevice.ttl import TTLClockGen
from artiq.experiment import *


class Outputs(EnvExperiment):
    """A loop of TTL outputs with ample slack: the cost of one output."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        delay(1 * ms)
        for _ in range(200):
            self.ttl4.on()
            delay_mu(2000)
            self.ttl4.off()
            delay_mu(2000)


class WaitOneSecond(EnvExperiment):
    """Waits for 1 s of device time."""

    def build(self):
        self.setattr_device("core")

    @kernel
    def run(self):
        self.core.reset()
        delay(1 * s)
        self.core.wait_until_mu(now_mu())


class Compute(EnvExperiment):
    """Integer and list arithmetic on the kernel core, with an occasional asynchronous RPC for the
    comms core."""

    def build(self):
        self.setattr_device("core")
        self.reports = 0
        self.cells = [0] * 64

    @rpc(flags={"async"})
    def report(self, value):
        self.reports += 1

    @kernel
    def run(self):
        cells = self.cells
        state = 12345
        for i in range(6000000):
            state = state * 1103515245 + 12345
            cells[i & 63] = cells[(i + 7) & 63] ^ state
            if i % 20000 == 0:
                self.report(state)


class InputReads(EnvExperiment):
    """Reads events that are already available: samples of a TTL."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl0")

    @kernel
    def read(self, number) -> TInt64:
        self.core.reset()
        self.ttl0.input()
        delay(10 * us)
        for _ in range(number):
            self.ttl0.sample_input()
            delay(1 * us)
        end = now_mu()
        self.core.wait_until_mu(end)
        found = 0
        start = self.core.get_rtio_counter_mu()
        for _ in range(number):
            if self.ttl0.timestamp_mu(end) >= 0:
                found += 1
        stop = self.core.get_rtio_counter_mu()
        if found != number:
            raise ValueError("events are missing")
        return stop - start


class Code(EnvExperiment):
    """Loops of plain code; tests/kernels/code.c is the same in C."""

    def build(self):
        self.setattr_device("core")
        self.number = 0

    def how_often(self) -> TInt32:
        return self.number

    @kernel
    def primes(self):
        limit = self.how_often()
        count = 0
        for n in range(2, limit):
            divisor = 2
            while divisor * divisor <= n and n % divisor != 0:
                divisor += 1
            if divisor * divisor > n:
                count += 1
        return count

    @kernel
    def float_loop(self):
        count = self.how_often()
        level, total = 1.0, 0.0
        for k in range(count):
            level = level * 0.75 + k * 0.125
            if level > 100.0:
                level -= 90.0
            total += level / (total + 3.0)
        return int(total * 1e6)


class Drivers(EnvExperiment):
    """Loops around a driver method, `number` times; the kernels obtain the number from the host, so
    that the compiler cannot know it."""

    kernel_invariants = {"clock"}

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl0")
        self.setattr_device("ttl4")
        # On an output channel, which accepts the same events.
        self.clock = TTLClockGen(SimpleNamespace(get=self.get_device), 5)
        self.number = 0

    def how_often(self) -> TInt32:
        return self.number

    def how_fast(self) -> TFloat:
        return 10 * MHz

    @kernel
    def ttl_on(self):
        number = self.how_often()
        self.core.reset()
        for _ in range(number):
            self.ttl4.on()
            delay_mu(1000)

    @kernel
    def ttl_pulse(self):
        number = self.how_often()
        self.core.reset()
        for _ in range(number):
            self.ttl4.pulse(2 * us)
            delay_mu(1000)

    @kernel
    def clockgen_set(self):
        number, frequency = self.how_often(), self.how_fast()
        self.core.reset()
        for _ in range(number):
            self.clock.set(frequency)
            delay_mu(1000)

    @kernel
    def gate_rising(self):
        number = self.how_often()
        self.core.reset()
        for _ in range(number):
            self.ttl0.gate_rising(1 * us)
            delay_mu(1000)

    @kernel
    def edges(self):
        """Record `number` edges, at most as many as a channel keeps."""
        number = self.how_often()
        self.core.reset()
        self.ttl0.output()
        delay(1 * us)
        rtio_output(self.ttl0.channel << 8 | 2, 1)
        for _ in range(number):
            delay_mu(500)
            self.ttl0.on()
            delay_mu(500)
            self.ttl0.off()
        delay_mu(500)
        rtio_output(self.ttl0.channel << 8 | 2, 0)
        self.core.wait_until_mu(now_mu() + 1000)

    @kernel
    def count(self):
        """As `edges`, and count them."""
        self.edges()
        if self.ttl0.count(now_mu()) != self.how_often():
            raise ValueError("edges are missing")

    @kernel
    def count_none(self):
        self.edges()
        self.how_often()


class Arrays(EnvExperiment):
    """Functions and operations on arrays, `number` times; an element of each result goes to the
    host, so that none is optimised away."""

    def build(self):
        self.setattr_device("core")
        self.number = 0

    def prepare_arrays(self, kind):
        """Create arrays of the NumPy type `kind`."""
        random = np.random.default_rng(1)
        limit = 10.0 if kind == "float64" else 2**31
        self.wide = random.uniform(-limit, limit, 10_000).astype(kind)
        self.unit = random.uniform(-1, 1, 10_000)
        self.positive = random.uniform(0, 100, 10_000)
        self.a, self.b = self.wide[:4096].copy(), self.wide[4096:8192].copy()
        self.m, self.n = self.a.reshape(64, 64), self.b.reshape(64, 64)

    def how_often(self) -> TInt32:
        return self.number

    @kernel
    def sin(self):
        number = self.how_often()
        total = 0.0
        for k in range(number):
            y = np.sin(self.wide)
            total += y[k]
        return total

    @kernel
    def cos(self):
        number = self.how_often()
        total = 0.0
        for k in range(number):
            y = np.cos(self.wide)
            total += y[k]
        return total

    @kernel
    def tan(self):
        number = self.how_often()
        total = 0.0
        for k in range(number):
            y = np.tan(self.wide)
            total += y[k]
        return total

    @kernel
    def asin(self):
        number = self.how_often()
        total = 0.0
        for k in range(number):
            y = np.arcsin(self.unit)
            total += y[k]
        return total

    @kernel
    def acos(self):
        number = self.how_often()
        total = 0.0
        for k in range(number):
            y = np.arccos(self.unit)
            total += y[k]
        return total

    @kernel
    def atan(self):
        number = self.how_often()
        total = 0.0
        for k in range(number):
            y = np.arctan(self.wide)
            total += y[k]
        return total

    @kernel
    def exp(self):
        number = self.how_often()
        total = 0.0
        for k in range(number):
            y = np.exp(self.wide)
            total += y[k]
        return total

    @kernel
    def log(self):
        number = self.how_often()
        total = 0.0
        for k in range(number):
            y = np.log(self.positive)
            total += y[k]
        return total

    @kernel
    def sqrt(self):
        number = self.how_often()
        total = 0.0
        for k in range(number):
            y = np.sqrt(self.positive)
            total += y[k]
        return total

    @kernel
    def add(self):
        number = self.how_often()
        total = self.a[0]
        for k in range(number):
            y = self.a + self.b
            total += y[k]
        return total

    @kernel
    def dot(self):
        number = self.how_often()
        total = self.a[0]
        for _ in range(number):
            y = self.a @ self.b
            total += y
        return total

    @kernel
    def matmul(self):
        number = self.how_often()
        total = self.a[0]
        for k in range(number):
            y = self.m @ self.n
            total += y[k, k]
        return total


class Waits(EnvExperiment):
    """Waiting times of a user: calls of the host, printing, kernels, pin events."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.numbers = [0]
        self.array = np.zeros(1, np.int32)

    def answer(self, number) -> TInt32:
        return number

    @kernel
    def newest(self) -> TInt32:
        return self.numbers[-1]

    @kernel
    def newest_of_array(self) -> TInt32:
        return self.array[len(self.array) - 1]

    @kernel
    def calls(self, number):
        for i in range(number):
            self.answer(i)

    @kernel
    def prints(self, number):
        for i in range(number):
            print(i)

    @kernel
    def small(self, number):
        self.core.break_realtime()
        for _ in range(number % 4):
            self.ttl4.pulse(1 * us)
            delay(1 * us)

    @kernel
    def pulses(self, number):
        self.core.reset()
        for _ in range(number):
            self.ttl4.pulse(1 * us)
            delay(1 * us)
        self.core.wait_until_mu(now_mu())


class Clocked(EnvExperiment):
    """Calls of the host and pulses while a clock generator runs."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("ttl12")

    def answer(self, number) -> TInt32:
        return number

    @kernel
    def start(self, frequency: TFloat):
        self.core.reset()
        self.ttl12.set(frequency)
        delay(10 * us)
        self.core.wait_until_mu(now_mu())

    @kernel
    def stop(self):
        self.core.break_realtime()
        self.ttl12.stop()
        self.core.wait_until_mu(now_mu())

    @kernel
    def blink(self):
        for i in range(200):
            self.answer(i)
            self.core.break_realtime()
            for _ in range(10):
                self.ttl4.pulse(1 * us)
                delay(1 * us)
        self.core.wait_until_mu(now_mu())
