"""Classes: `super()`, and `isinstance` decided at compile time."""

import numpy as np

from kairos.language import TFloat, TInt32, kernel, portable, rpc

from .marks import Marks


class Device:
    def __init__(self, name):
        self.name = name

    @portable
    def describe(self, x):
        return x + 1

    @portable
    def only_here(self):
        return self.name

    @rpc
    def on_the_host(self) -> TInt32:
        return len(self.name)

    @staticmethod
    @portable
    def fixed(x):
        return 3 * x


class Middle(Device):
    @portable
    def describe(self, x, y=10):
        return 100 * super().describe(x) + y


class Mixin(Device):
    @portable
    def describe(self, x):
        return -super().describe(x)


class Last(Middle, Mixin):
    def __init__(self, name, factor):
        super().__init__(name)
        self.factor = factor

    @portable
    def describe(self, x):
        return self.factor * super().describe(x, y=5) + super(Middle, self).describe(x) + Device.describe(self, 0)

    @portable
    def only_here(self):
        above = super()
        return above.only_here()

    @rpc
    def on_the_host(self) -> TInt32:
        return -1

    @portable
    def more(self):
        return super().on_the_host() + self.on_the_host() + super().fixed(7)


class Super(Marks):
    def build(self):
        self.plain, self.middle, self.last = Device("plain"), Middle("middle"), Last("last", 1000)

    @kernel
    def run(self):
        self.mark(self.plain.describe(1), self.middle.describe(1), self.last.describe(1))
        self.mark(self.last.only_here(), self.middle.only_here(), self.last.more())


class Base(Marks):
    def build(self):
        self.count = 0

    @kernel
    def step(self):
        self.count += 1
        return self.count


class SuperInTheProgramItself(Base):
    @kernel
    def step(self):
        first = super().step()
        return 100 * first + super().step()

    @kernel
    def run(self):
        self.mark(self.step(), self.step(), self.count)


class Counter:
    def __init__(self):
        self.value = 7

    @portable
    def read(self):
        return self.value


class Gauge:
    def __init__(self):
        self.level = 2.5

    @portable
    def read_level(self):
        return self.level


class Wide(Gauge):
    pass


class Reader:
    """The class of `source` differs between objects of this class."""

    def __init__(self, source):
        self.source = source

    @portable
    def read(self) -> TFloat:
        if isinstance(self.source, Counter):
            return float(self.source.read())
        elif isinstance(self.source, (Gauge, str)):
            level = self.source.read_level()
        else:
            level = self.source * 2.0
        return level

    @portable
    def early(self) -> TFloat:
        if not isinstance(self.source, Gauge):
            return -1.0
        return self.source.read_level()

    @portable
    def short(self):
        return isinstance(self.source, Gauge) and self.source.level > 2.0

    @portable
    def chosen(self):
        return self.source.level if isinstance(self.source, Gauge) else -1.5


class IsInstanceDecides(Marks):
    def build(self):
        self.counter, self.gauge, self.wide = Reader(Counter()), Reader(Gauge()), Reader(Wide())
        self.number = Reader(0.25)

    @kernel
    def run(self):
        self.mark(self.counter.read(), self.gauge.read(), self.wide.read(), self.number.read())
        self.mark(self.counter.early(), self.gauge.early(), self.wide.early(), self.number.early())
        self.mark(self.counter.short(), self.gauge.short(), self.number.short())
        self.mark(self.counter.chosen(), self.gauge.chosen(), self.number.chosen())


class IsInstanceOfTypesOfTheLanguage(Marks):
    def build(self):
        self.vector = np.array([1.0])
        self.wide = np.int64(5)
        self.none = None

    @kernel
    def run(self):
        self.mark(isinstance(1, int), isinstance(1, float), isinstance(1.5, float), isinstance(True, int))
        self.mark(isinstance(1, bool), isinstance("a", str), isinstance("a", (int, float)), isinstance(1, (str, int)))
        self.mark(isinstance([1], list), isinstance((1,), tuple), isinstance((1,), list), isinstance(range(3), range))
        self.mark(isinstance(self.vector, np.ndarray), isinstance(self.vector, list), isinstance(self.wide, np.int64))
        self.mark(isinstance(self.wide, np.int32), isinstance(self.wide, np.integer), isinstance(self, Marks))
        self.mark(isinstance(self.none, str), isinstance(self, (Device, object)), isinstance(1.0, ValueError))


class WhatIsInstanceLeavesOutIsNotCompiled(Marks):
    @kernel
    def run(self):
        x = 1.5
        if isinstance(x, str):
            for c in x:
                y = c.missing()
        else:
            y = 2 * x
        self.mark(y)
        while not isinstance(x, int):
            x += 1.0
            if isinstance(x, float) and x > 4.0:
                break
        self.mark(x if isinstance(x, float) or x.missing else 0.0)


class ArgumentsOfIsInstanceAreEvaluated(Marks):
    @kernel
    def counted(self):
        self.mark("given")
        return 1.0

    @kernel
    def run(self):
        if isinstance(self.counted(), int):
            self.mark("int")
        elif isinstance(self.counted(), float):
            self.mark("float")


class InstancesOfTypes(Marks):
    """Tests a value of every type against every type of the language."""

    def build(self):
        self.bytes = b"a"
        self.changed = bytearray(b"a")
        self.array = np.array([1, 2, 3])

    @kernel
    def run(self):
        self.mark(isinstance(self.bytes, bytes), isinstance(self.changed, bytes), isinstance("a", bytes))
        self.mark(isinstance(self.bytes, bytearray), isinstance(self.changed, bytearray), isinstance("a", str))
        self.mark(isinstance(self.bytes, (str, bytes)), isinstance(self.changed, object), isinstance((), tuple))
        self.mark(isinstance(self.array, np.ndarray), isinstance(self.array[::2], np.ndarray))
        self.mark(isinstance([1], list), isinstance(range(2), range), isinstance(True, int), isinstance(1, bool))
        self.mark(isinstance(1.0, float), isinstance(1, float))
