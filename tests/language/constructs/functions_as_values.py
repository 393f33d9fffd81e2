"""Functions as values: in lists, tuples, variables, attributes and arguments, with several alternatives."""

import numpy as np

from kairos.language import TInt32, kernel, portable, rpc

from .marks import Marks


@portable
def double(x):
    return 2 * x


@portable
def square(x):
    return x * x


class Device:
    def __init__(self, number):
        self.number = number

    @portable
    def times(self, x):
        return self.number * x


class Other:
    def __init__(self, offset):
        self.offset = offset

    @portable
    def plus(self, x):
        return self.offset + x


class FunctionsInLists(Marks):
    def build(self):
        self.functions = [double, square]
        self.devices = [Device(3), Device(5)]
        self.other = Other(100)
        self.actions = [self.devices[0].times, self.other.plus, double]

    @kernel
    def run(self):
        for f in [double, square]:
            self.mark(f(7))
        for f in self.functions:
            self.mark(f(11))
        for f in self.actions:
            self.mark(f(13))
        self.actions[0], self.actions[1] = self.actions[1], self.actions[0]
        self.mark(self.actions[0](1), self.actions[-1](1))
        self.mark([f(2) for f in [self.devices[0].times, self.devices[1].times, self.other.plus]])


class FunctionChosen(Marks):
    @kernel
    def plus(self, x, y=10):
        return x + y

    @kernel
    def minus(self, x, y=1):
        return x - y

    @kernel
    def run(self):
        for flag in [True, False]:
            f = self.plus if flag else self.minus
            self.mark(f(5), f(5, 2), f(x=1, y=3))
        g = double
        self.mark(g(4))
        for i in range(3):
            if i == 1:
                g = square
            self.mark(g(5))


class Step:
    """Holds a function, which differs between objects of the class."""

    def __init__(self, call):
        self.call = call

    @portable
    def again(self, x):
        return self.call(self.call(x))


class Sequence:
    def __init__(self, first, *steps):
        self.first = first
        self.steps = list(steps)

    @portable
    def run(self, x):
        for step in self.steps:
            x = step.call(x)
        return self.first.again(x)


@portable
def nothing():
    return -1


class FunctionsOfObjectsInLists(Marks):
    def build(self):
        steps = [Step(Device(3).times), Step(Device(5).times), Step(Other(100).plus), Step(double), Step(square)]
        self.steps = steps
        self.spare = Step(Other(7).plus)
        self.alone = Step(nothing)
        self.pairs = [(1, Step(double)), (2, Step(square))]

    @kernel
    def run(self):
        for step in self.steps:
            self.mark(step.call(7), step.again(2))
        for flag in [True, False]:
            step = self.steps[-1] if flag else self.spare
            f = step.call
            self.mark(step.call(3), f(4))
        self.mark(self.alone.call())
        for number, step in self.pairs:
            self.mark(step.call(number + 10))


class FunctionsOfObjectsOfObjects(Marks):
    def build(self):
        steps = [Step(f) for f in (double, square, Device(3).times, Other(10).plus)]
        self.sequences = [Sequence(steps[0], steps[1]), Sequence(steps[2], *steps), Sequence(steps[3], steps[2])]
        self.short = Sequence(Step(double), Step(double))

    @kernel
    def run(self):
        for sequence in self.sequences:
            self.mark(sequence.run(3), sequence.first.call(5), sequence.steps[-1].again(2))
        self.mark(self.short.run(1))


class FunctionPassed(Marks):
    def build(self):
        self.device = Device(4)

    @kernel
    def twice(self, f, x):
        return f(f(x))

    @kernel
    def pick(self, flag):
        if flag:
            return double
        return square

    @kernel
    def run(self):
        base = 1000

        def shift(x):
            return base + x

        self.mark(self.twice(double, 3), self.twice(square, 3), self.twice(self.device.times, 3))
        self.mark(self.twice(shift, 1), self.twice(lambda x: x - base, 1))
        base = 2000
        self.mark(self.twice(shift, 1), self.pick(True)(9), self.pick(False)(9))
        pair = (double, square)
        self.mark(pair[0](6), pair[1](6))


class HostFunctionsAmongOthers(Marks):
    """Some of the alternative functions run on the host, one raises."""

    def build(self):
        self.calls = []

    @rpc
    def remote(self, x) -> TInt32:
        self.calls.append(x)
        return np.int32(x + 1)

    @kernel
    def local(self, x):
        if x > 2:
            raise ValueError("too large")
        return x

    @kernel
    def run(self):
        for x in range(4):
            for f in [self.remote, self.local]:
                try:
                    self.mark(f(x))
                except ValueError:
                    self.mark("caught", x)


class InnerFunctionsInLists(Marks):
    @kernel
    def run(self):
        count = 0

        def up():
            nonlocal count
            count += 1

        def down(by=2):
            nonlocal count
            count -= by

        for step in [up, up, down, up]:
            step()
            self.mark(count)
        handlers = [up, down]
        handlers[1]()
        self.mark(count)
