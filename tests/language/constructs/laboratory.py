"""Objects of experiments: groups of devices, some of them absent, settings, inheritance; clean-up after exceptions."""

from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from kairos.language import TInt32, kernel, portable, rpc

from .marks import Marks


class Lamp:
    def __init__(self, core, name, pin):
        self.core, self.name, self.pin, self.count = core, name, pin, 0

    @kernel
    def pulse(self, times=1):
        self.count += times
        return self.pin * 10 + times


class GroupsOfDevices(Marks):
    def build(self):
        lamps = [Lamp(self.core, f"l{n}", n) for n in range(4)]
        self.groups = [[lamps[0], lamps[1]], [lamps[2]], [lamps[3], lamps[0]]]
        self.pairs = [(lamps[0], 2), (lamps[3], 5)]

    @kernel
    def run(self):
        for number, group in enumerate(self.groups):
            for lamp in group:
                self.mark(number, lamp.name, lamp.pulse(number))
        for lamp, times in self.pairs:
            self.mark(lamp.pulse(times=times), lamp.count)
        self.mark([lamp.count for lamp in self.groups[0]])


class NestedAttributes(Marks):
    class Inner:
        def __init__(self):
            self.count, self.values, self.name = 1, [1, 2], "inner"

    def build(self):
        self.outer = self.Inner()
        self.outer.inner = self.Inner()
        self.outer.inner.deep = self.Inner()

    @kernel
    def run(self):
        self.outer.inner.deep.count += 4
        self.outer.inner.deep.values[1] = 7
        inner = self.outer.inner
        inner.count = inner.deep.count * 2
        self.mark(self.outer.inner.count, self.outer.inner.deep.values, inner.deep.name)


class HostOnlyAttributes(Marks):
    def build(self):
        self.figure = object()
        self.lookup = {"a": 1, 2: [3]}
        self.function = print
        self.generator = (x for x in range(3))
        self.used = 4
        self.complex = 1 + 2j
        self.set = {1, 2}

    @property
    def expensive(self):
        raise RuntimeError("not to be read")

    @rpc
    def host(self, lookup, values) -> TInt32:
        return lookup["a"] + len(values)

    @kernel
    def run(self):
        self.used += 1
        self.mark(self.used, self.host(self.lookup, self.set))


class Base:
    gain = 1
    kernel_invariants = {"gain"}

    @portable
    def scaled(self, x):
        return x * self.gain

    @kernel
    def prepare(self, x):
        return self.hook(x) + 1

    @kernel
    def hook(self, x):
        return x


class Left(Base):
    @kernel
    def hook(self, x):
        return super().hook(x) * 2


class Right(Base):
    gain = 5

    @kernel
    def hook(self, x):
        return super().hook(x) + 100


class Diamonds(Left, Right, Marks):
    kernel_invariants = {"core", "offset"}

    def build(self):
        self.offset = 3

    @kernel
    def hook(self, x):
        return super().hook(x) + self.offset

    @kernel
    def run(self):
        self.mark(self.prepare(1), self.scaled(2), self.gain, Base.hook(self, 7))


class Color(Enum):
    RED = 1
    BLUE = 2


class Level(IntEnum):
    LOW = 3
    HIGH = 7


Point = namedtuple("Point", "x y")


@dataclass
class Settings:
    time: float = 1.5
    count: int = 3
    names: list = field(default_factory=lambda: ["a", "b"])

    @portable
    def total(self):
        return self.time * self.count


class ObjectsOfTheHost(Marks):
    def build(self):
        self.settings = Settings(count=4)
        self.color = Color.BLUE
        self.level = Level.HIGH
        self.point = Point(1, 2.5)

    @kernel
    def run(self):
        self.mark(self.settings.total(), self.settings.names, self.settings.count)
        self.mark(self.color.value, Color.RED.value, self.point[0] + self.point[1])
        self.settings.time = 2.0
        self.mark(self.settings.total())


class EnumComparisons(Marks):
    def build(self):
        self.color, self.level = Color.BLUE, Level.HIGH
        self.lamps = [Lamp(self.core, "a", 0), Lamp(self.core, "b", 1)]

    @kernel
    def run(self):
        self.mark(self.color is Color.BLUE, self.color is Color.RED, self.color == Color.BLUE, self.color != Color.RED)
        self.mark(self.level == Level.HIGH, self.level == Level.LOW, self.level.value == 7)
        self.mark(self.color in (Color.RED, Color.BLUE), self.color not in (Color.RED,))
        if self.color == Color.RED:
            self.mark("red")
        elif self.color == Color.BLUE:
            self.mark("blue")
        for lamp in self.lamps:
            self.mark(lamp == self.lamps[0], lamp != self.lamps[1])


class NoneAndOptions(Marks):
    """Devices that a laboratory may not have: what would use them is not compiled."""

    def build(self):
        self.device, self.count, self.other, self.list = None, None, 5, [1]
        self.lamp, self.seen = Lamp(self.core, "a", 1), None

    @kernel
    def optional(self, device, times=None):
        if device is None:
            return 0
        return device.pulse(3)

    @kernel
    def chosen(self, level=None):
        return 7 if level is None else level + 1

    @kernel
    def run(self):
        if self.device is not None:
            self.device.pulse(3)
        if self.device:
            self.device.pulse(3)
        else:
            self.mark("none")
        if not self.device or self.device.pulse(1) > 0:
            self.mark("neither")
        if self.lamp is not None and self.lamp.pulse(2) > 0:
            self.mark("lamp")
        if None is self.lamp:
            self.lamp.missing()
        self.mark(self.device is None, self.other is not None, self.count == None, None != self.list)  # noqa: E711
        self.mark(5 if self.device is None else self.device.level, self.chosen())
        self.mark(self.lamp is None, self.lamp != None, self.list is None, self.list[:] is None, None is None)  # noqa: E711
        self.mark([self.lamp is None, self.other is None], (self.other is None) == (self.list is None))

    def host(self):
        self.mark("host")


class NoneOfOneDevice(NoneAndOptions):
    @kernel
    def run(self):
        self.mark(self.optional(self.lamp), self.lamp.count)
        if self.host() is None:
            self.mark("after the host")


class NoneOfTheOtherDevice(NoneAndOptions):
    @kernel
    def run(self):
        self.mark(self.optional(self.device))
        if self.host():
            self.mark("never")
        while self.device:
            self.device.pulse(1)
        else:
            self.mark("nothing to wait for")
        while self.lamp is None and self.lamp.missing():
            self.mark(self.lamp.missing())
        assert self.device is None, "no device"


class NamesThatShadow(Marks):
    @kernel
    def run(self):
        max = 3
        sum = 0
        list = [4, 5]
        for range in list:
            sum += range
        len = sum + max
        self.mark(max, sum, list, len)
        self.mark([min for min in (1, 2)][0])


class Many(Marks):
    @kernel
    def run(self):
        for n in range(700):
            self.mark(n)
        self.mark([float(n) for n in range(3000)])
        self.mark("last")


class ExceptionsAndCleanUp(Marks):
    @kernel
    def step(self, n):
        try:
            if n == 1:
                raise ValueError("one")
            if n == 2:
                return 20
            if n == 3:
                raise KeyError("three")
            self.mark("body", n)
        except ValueError:
            self.mark("caught")
        else:
            self.mark("else", n)
        finally:
            self.mark("finally", n)
        return n

    @kernel
    def run(self):
        for n in range(5):
            try:
                self.mark(self.step(n))
                if n == 0:
                    continue
                self.mark("after", n)
            except KeyError:
                self.mark("key", n)
                break
            finally:
                self.mark("end", n)
        else:
            self.mark("never")


class Escalation(Exception):
    pass


class ExceptionsInExceptions(Marks):
    @kernel
    def run(self):
        try:
            try:
                raise ValueError("first")
            except ValueError:
                try:
                    raise Escalation("second")
                finally:
                    self.mark("inner finally")
        except Escalation:
            self.mark("escalated")
        try:
            try:
                [1, 2][self.host(5)]
            except IndexError:
                self.mark("index")
                raise
        except LookupError:
            self.mark("lookup")
        try:
            1 // self.host(0)
        except (ValueError, ArithmeticError):
            self.mark("arithmetic")

    def host(self, n) -> TInt32:
        return n
