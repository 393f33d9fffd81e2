"""Everyday Python: assignments within expressions, members of enumerations, named tuples, comprehensions, arguments by
name only, texts as sequences, values in messages."""

from collections import namedtuple
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import NamedTuple

import numpy as np

from kairos.language import TInt32, TStr, kernel, portable, rpc

from .marks import Marks


class AssignmentsWithinExpressions(Marks):
    def build(self):
        self.values = [3, 8, 1, 9]

    @rpc
    def fetch(self, count) -> TInt32:
        return count - 1

    @kernel
    def run(self):
        left = 4
        while (left := self.fetch(left)) > 0:
            self.mark("left", left)
        if (n := len(self.values)) > 3 and (last := self.values[n - 1]) == 9:
            self.mark(n, last)
        if not ((a := n * 2) > 3 and (b := a + 1) > 0):
            self.mark("never")
        else:
            self.mark(a, b)
        print_of = [c := 5, c * 2, (d := c + 1) * d]
        self.mark(print_of, d, (t := (1, 2.5))[1], t[0])
        square, found = 0, 0
        self.mark([square for x in self.values if (square := x * x) > 10], square)
        self.mark(any((found := x) > 5 for x in self.values), found)
        texts = [""]
        for _ in range(3):
            texts = [text := texts[0] + "ab", text]
        self.mark(texts, (lambda x: (y := x + 1) * y)(2), 1 < (e := 2) < 3, e)
        while len(rest := self.values[left:]) > 1:
            left += 1
        self.mark(rest, "end" if (f := left > 2) else "none", f)


class Mode(IntEnum):
    SLOW = 2
    FAST = 5

    @property
    def frequency(self):
        return self.value * 1.5

    @portable
    def doubled(self):
        return 7


class Flags(IntFlag):
    A = 1
    B = 4


class Channel(int):
    pass


class MembersAsNumbers(Marks):
    def build(self):
        self.mode, self.modes, self.channel = Mode.FAST, [Mode.SLOW, Mode.FAST], Channel(3)
        self.table = [10, 20, 30, 40, 50, 60]
        self.kept = Mode.SLOW

    @kernel
    def scaled(self, factor: TInt32, mode=Mode.SLOW) -> TInt32:
        return factor * mode

    @kernel
    def work(self):
        self.mark(Mode.FAST + 1, self.mode * 2, self.table[Mode.FAST], self.table[self.channel], -Mode.SLOW)
        self.mark(self.mode == Mode.FAST, self.mode is Mode.FAST, Mode.SLOW < self.mode, self.mode in (1, 5))
        self.mark(int(Flags.A | Flags.B), bool(self.mode & Flags.A), 1 << Mode.SLOW, float(Mode.FAST), f"{Mode.FAST}")
        self.mark([mode + 1 for mode in self.modes], self.scaled(Mode.FAST), self.scaled(3, mode=self.mode))
        self.mark(self.mode.value, self.mode.name, Mode.SLOW.name, self.mode.frequency, Mode.SLOW.frequency)
        self.mark(self.mode.doubled(), [i for i in range(Mode.SLOW)], np.int64(Mode.FAST) << 33)
        self.kept = Mode.FAST

    def run(self):
        self.work()
        self.mark(self.kept.name, isinstance(self.kept, Mode))


class Range(NamedTuple):
    start: float
    stop: float
    points: int = 3


Pulse = namedtuple("Pulse", "channel time")


class FieldsByName(Marks):
    def build(self):
        self.range = Range(0.5, 2.5)
        self.pulses = [Pulse(1, 2.0), Pulse(4, 0.25)]
        self.nested = (Pulse(7, 1.0), Range(1.0, 2.0, 5))

    @portable
    def width(self, range):
        return range.stop - range.start

    @kernel
    def run(self):
        self.mark(self.range.points, self.width(self.range), self.width(self.nested[1]), self.nested[0].channel)
        for number, pulse in enumerate(self.pulses):
            self.mark(number, pulse.channel, pulse.time, pulse[0])
        last = self.pulses[-1]
        self.mark(
            last.time, sum(pulse.channel for pulse in self.pulses), [p.time for p in self.pulses if p.channel > 1]
        )
        start, stop, points = self.range
        self.mark(start, stop, points, self.range == (0.5, 2.5, 3))


class DivModAndPow(Marks):
    def build(self):
        self.numbers = [7, -7, 0, 3, -3]
        self.wide = np.int64(2**40 + 5)

    @kernel
    def seen(self, n):
        self.mark("seen", n)
        return n

    @kernel
    def run(self):
        for a in self.numbers:
            for b in [2, -2, 5]:
                quotient, rest = divmod(a, b)
                self.mark(quotient, rest)
        self.mark(divmod(self.wide, 1000), divmod(self.seen(9), self.seen(4)), divmod(True, 2), pow(2, 10), pow(2, 40))
        self.mark(pow(self.numbers[3], 4), pow(self.numbers[4], 3), pow(1.5, 2.0), pow(self.wide, 1), pow(2, 3) ** 2)
        try:
            self.mark(divmod(1, self.numbers[2]))
        except ZeroDivisionError:
            self.mark("zero")


class Comprehensions(Marks):
    def build(self):
        self.list, self.none = list(range(40)), [0][1:]
        self.matrix = np.array([[1, 2], [3, 4]])
        self.names = ["ab", "", "c"]

    @kernel
    def seen(self, n):
        self.mark("seen", n)
        return n % 2 == 0

    @kernel
    def run(self):
        x = 1000
        self.mark([x for x in self.list if x % 3 == 0 if x > 5], x, [x for x in [1, 2, 3] if self.seen(x)])
        self.mark([a * 10 + b for a in [1, 2] for b in range(a)], [y for row in self.matrix for y in row if y != 2])
        self.mark([(i, c) for i, name in enumerate(self.names) for c in name], [c for c in self.names if c])
        self.mark(
            [[b for b in range(a) if b] for a in range(4) if a != 1], len([0 for _ in range(50) for _ in range(50)])
        )
        self.mark(
            [1 for _ in self.none for _ in [1]], [1.5 for _ in range(3) if False], [b for b in range(2000) if b > 1996]
        )
        total, kept = 0, [0]
        for i in range(200):
            kept = [n for n in self.list if n > i]
            total += len(kept)
        self.mark(total, [n + m for n in kept for m in kept], sorted([-n for n in self.list if n > 36]))


@portable
def scaled(x, *, factor=3, offset):
    return x * factor + offset


class ByNameOnly(Marks):
    @kernel
    def pulse(self, channel, *, time: TInt32 = 5, wait):
        return channel * 100 + time * 10 + wait

    @kernel
    def run(self):
        self.mark(scaled(2, offset=1), scaled(2, offset=1, factor=7), scaled(offset=4, x=1))
        self.mark(self.pulse(1, wait=2), self.pulse(1, time=3, wait=2))

        def inner(a, b=2, *, c, d=4):
            return a * 1000 + b * 100 + c * 10 + d

        self.mark(inner(1, c=3), inner(1, 5, c=6), inner(1, d=9, c=8), (lambda x, *, y=2: x - y)(7, y=3))


@dataclass
class Settings:
    time: float = 1.5
    count: int = 3
    name: str = "scan"
    values: list = field(default_factory=lambda: [1, 2])
    mode: Mode = Mode.SLOW

    @portable
    def total(self):
        return self.time * self.count


@dataclass(frozen=True, slots=True)
class Fixed:
    level: int
    inner: Settings


class DataClasses(Marks):
    def build(self):
        self.settings, self.all = Settings(count=4), [Settings(), Settings(time=0.5, values=[3])]
        self.fixed = Fixed(2, self.settings)

    @kernel
    def work(self):
        self.mark(self.settings.total(), self.settings.name, self.settings.values, self.settings.mode + 1)
        for one in self.all:
            one.count += 1
            self.mark(one.total(), one.count, len(one.values))
        self.fixed.inner.time = 3.0
        self.fixed.inner.values[1] = 9
        self.mark(self.fixed.level, self.settings.time)

    def run(self):
        self.work()
        self.mark(self.settings.time, self.settings.values, [one.count for one in self.all])


class TextsAsSequences(Marks):
    def build(self):
        self.texts = ["", "a", "µs 日本", "kernel"]

    @kernel
    def last_of(self, text):
        last = ""
        for character in text:
            last = character
        return last

    @rpc
    def fetch(self) -> TStr:
        return "aµb"

    @kernel
    def run(self):
        for text in self.texts:
            self.mark(len(text), [c for c in text], self.last_of(text), text > "b", "s" in text, text in "kernels")
            for i, c in enumerate(reversed(text)):
                self.mark(i, c, c == text[-1 - i], c in "aeiou")
            try:
                self.mark(text[2], text[-3])
            except IndexError:
                self.mark("short")
        made = "x" + self.texts[2]
        self.mark(made[1], made[0:2][1], list(self.fetch()), sorted(self.fetch() + "A"), "" in "", "ab" not in "aab")
        self.mark(
            sum(1 for c in made if c != " "),
            [a + b for a, b in zip("abc", "xyz", strict=True)],
            any(c == "本" for c in made),
        )
        self.mark(min(len(c) for c in made), "日本" in made, "日x" in made, made[3] == " ")


class MinAndMaxWithDefault(Marks):
    def build(self):
        self.list, self.none, self.floats = [3, 1, 2], [1][1:], [1.5][1:]

    @kernel
    def run(self):
        self.mark(min(self.list, default=9), max(self.none, default=-1), max(self.floats, default=0.5))
        self.mark(max((x for x in self.list if x > 5), default=7), min((x for x in self.list if x > 1), default=7))
        self.mark(max(range(0), default=self.list[0]), max([len(self.list)], default=0))


class Fault(Exception):
    pass


class ValuesInMessages(Marks):
    def build(self):
        self.name, self.time = "laser {1}", 1.25

    @kernel
    def fail(self, way):
        if way == 0:
            raise ValueError(f"channel {way + 3} of {self.name}: {self.time} s")
        if way == 1:
            raise Fault("level {0} of {name:>6} in {0!r}".format(way, name="ab"))  # noqa: UP032
        if way == 2:
            text = "made " + self.name
            raise IndexError(text)
        if way == 3:
            assert way == 2, f"{way} is not {2} {{}}"

    @kernel
    def deeper(self, way):
        local = f"at {way}"
        try:
            self.fail(way)
        finally:
            self.mark(local)

    def run(self):
        for way in range(4):
            try:
                self.work(way)
            except Exception as error:
                self.mark(type(error).__name__, str(error))

    @kernel
    def work(self, way):
        try:
            self.deeper(way)
        except KeyError:
            self.mark("never")
        except IndexError as error:
            try:
                self.fail(0)
            except ValueError:
                self.mark("inner")
            raise error
