"""Values that go between host and kernels, and the time cursor around that."""

import numpy as np
from numpy import int64

from kairos.language import *  # noqa: F403
from kairos.language import (
    TArray,
    TBool,
    TBytes,
    TFloat,
    TInt32,
    TInt64,
    TList,
    TStr,
    TTuple,
    at_mu,
    delay,
    delay_mu,
    interleave,
    kernel,
    now_mu,
    parallel,
    portable,
    sequential,
)

from .marks import Marks


class Custom(Exception):
    def __init__(self, channel, level):
        super().__init__(f"channel {channel} at {level}")
        self.channel, self.level = channel, level


class ReturnedByTheHost(Marks):
    def pairs(self) -> TList(TTuple([TInt32, TFloat])):
        return [(1, 0.5), (2, 1.5)]

    def nested(self) -> TList(TList(TInt32)):
        return [[1], [], [2, 3]]

    def matrix(self) -> TArray(TFloat, 2):
        return np.arange(6.0).reshape(2, 3)

    def flags(self) -> TArray(TBool):
        return np.array([True, False])

    def names(self) -> TList(TStr):
        return ["a", "", "é日本"]

    def mixed(self) -> TTuple([TStr, TInt64, TBool, TList(TFloat)]):
        return ("x", 2**40, True, [1.0])

    def nothing(self) -> TList(TInt32):
        return []

    def bytes(self) -> TBytes:
        return b"\x00\xff"

    def wide(self) -> TList(TInt64):
        return [1, 2**50]

    @kernel
    def run(self):
        self.mark(self.pairs(), self.nested(), self.matrix(), self.flags(), self.names())
        self.mark(self.mixed(), self.nothing(), self.bytes(), self.wide())
        for name in self.names():
            self.mark(name, len(name))
        a, b = self.pairs()[1]
        self.mark(a, b, self.matrix()[1, 2], len(self.nothing()), self.matrix().shape)
        self.mark([len(row) for row in self.nested()])


class SentToTheHost(Marks):
    def build(self):
        self.m = np.array([[1, 2], [3, 4]])

    @kernel
    def run(self):
        self.mark([(1, "a"), (2, "b")], [[1.5], []], self.m, self.m[0], [self.m[1]], (self.m[:, 1], 5))
        self.mark(range(3), None, True, b"xy", bytearray(b"z"), ((1, 2), (3, (4.5, "q"))))
        self.mark([True, False], [int64(1) << 40], int64(3), [""], [()])
        self.mark(np.array([True, False]), np.array([1.5]), self.m > 2)


class HostExceptions(Marks):
    def fail(self, kind) -> TInt32:
        if kind == 0:
            raise Custom(3, 0.5)
        if kind == 1:
            raise OSError(2, "no such file")
        if kind == 2:
            raise KeyError("missing")
        if kind == 3:
            raise UnicodeDecodeError("utf-8", b"x", 0, 1, "bad")
        if kind == 4:
            raise TimeoutError
        return kind

    @kernel
    def run(self):
        for kind in range(6):
            try:
                self.mark(self.fail(kind))
            except Custom:
                self.mark("custom")
            except KeyError:
                self.mark("key")
            except TimeoutError:
                self.mark("timeout")
            except OSError:
                self.mark("os")
            except ValueError:
                self.mark("value")
            finally:
                self.mark("finally", kind)
        self.fail(0)


class AttributesOfEveryKind(Marks):
    def build(self):
        self.a, self.b, self.c, self.d = 1, 2.5, "s", True
        self.e, self.f, self.g = [1, 2], [[1.0], [2.0, 3.0]], (1, "t")
        self.h, self.i, self.j = np.int64(2**40), np.float64(0.5), np.arange(3)
        self.k, self.l = b"abc", ["x", "y"]
        self.n = [(1, True), (2, False)]
        self.o = range(2, 8, 3)

    @kernel
    def run(self):
        self.a += 5
        self.b = self.b / 2
        self.c = "u"
        self.d = not self.d
        self.e[0] = 9
        self.f[1][0] += 0.5
        self.g = (7, "u")
        self.h += 1
        self.j[2] = 10
        self.l[1] = "z"
        self.n[0] = (5, False)
        self.mark(self.a, self.b, self.c, self.d, self.e, self.f, self.g, self.h, self.i, self.j, self.k, self.l)
        self.mark(self.n, self.o, [x for x in self.o])
        self.after()

    def after(self):
        pass


class WrittenBack(AttributesOfEveryKind):
    @kernel
    def change(self):
        self.a += 5
        self.b = self.b / 2
        self.c = "u"
        self.d = not self.d
        self.e[0] = 9
        self.f[1][0] += 0.5
        self.g = (7, "u")
        self.h += 1
        self.j[2] = 10
        self.l[1] = "z"
        self.n[0] = (5, False)

    def run(self):
        for _ in range(3):
            self.change()
            self.mark(
                self.a, self.b, self.c, self.d, self.e, self.f, self.g, int(self.h), self.j.tolist(), self.l, self.n
            )


class CalledByTheHost(Marks):
    @kernel
    def scan(self, values, scale=1.0, offset=0, name="x"):
        total = 0.0
        for value in values:
            total += value * scale
        return total + offset, name

    @kernel
    def matrix(self, m, k):
        return m[k, 0] + m.shape[1]

    @kernel
    def same(self, x):
        return x

    def run(self):
        self.mark(self.scan([1.0, 2.0]), self.scan([1.0], scale=2.0), self.scan(np.array([1.5, 2.5]), offset=3))
        self.mark(self.scan(values=[1.0], name="é"), self.scan((1.0, 2.0)))
        self.mark(self.matrix(np.ones((2, 3)), 1), self.matrix(np.ones((3, 2), dtype=int), k=-1))
        for value in (
            1,
            1.5,
            "a",
            True,
            None,
            [1, 2],
            ["a"],
            (1, 2.0),
            b"b",
            2**40,
            np.int64(3),
            np.arange(2),
            [],
            [[1], [2]],
        ):
            self.mark(self.same(value))


class LoopOverChangedAttributes(Marks):
    def build(self):
        self.time, self.count, self.name, self.list = 0.0, 0, "", [0.0]

    @kernel
    def shot(self):
        return self.time * self.count, self.name, len(self.list)

    def run(self):
        for n in range(6):
            self.time, self.count, self.name, self.list = n / 2, n, "n" * n, [0.0] * n + [1.0]
            self.mark(*self.shot())


class HostInsideKernel(Marks):
    def build(self):
        self.count = 1

    def change(self):
        self.count = 50
        self.mark("host", self.count)

    @kernel
    def run(self):
        self.count += 1
        self.mark(self.count)


class PortableOnBoth(Marks):
    def build(self):
        self.level = 2
        self.table = [self.convert(x) for x in (0.5, 1.5)]

    @portable
    def convert(self, x, bits=8):
        if x < 0.0 or x > 2.0:
            raise ValueError("out of range")
        return int(round(x * (1 << bits))) + self.level

    @staticmethod
    @portable
    def double(x):
        return x + x

    @kernel
    def run(self):
        self.mark(self.table, [self.convert(x) for x in (0.5, 1.5)], self.convert(1.0, bits=4), self.double("a"))
        try:
            self.convert(3.0)
        except ValueError:
            self.mark("refused")


class Timeline(Marks):
    def host(self) -> TInt32:
        return 7

    @kernel
    def run(self):
        at_mu(1_000_000)
        n = self.host()
        self.mark(now_mu(), n)
        delay_mu(int64(n))
        t = now_mu()
        with parallel:
            delay_mu(10)
            with sequential:
                delay(5 * us)  # noqa: F405
                delay_mu(3)
            self.mark(now_mu() - t)
        self.mark(now_mu() - t)
        try:
            with parallel:
                delay_mu(100)
                if n > 5:
                    raise ValueError("x")
        except ValueError:
            self.mark(now_mu() - t)
        for step in range(3):
            with parallel:
                for _ in range(step):
                    delay_mu(7)
                delay_mu(5)
        self.mark(now_mu() - t)
        delay(-1 * us)  # noqa: F405
        self.mark(now_mu() - t)
        with interleave:
            with sequential:
                delay_mu(3)
                self.mark("a", now_mu() - t)
            with sequential:
                delay_mu(1)
                self.mark("b", now_mu() - t)

    EXPECTED = [
        (1000000, 7),
        (0,),
        (5003,),
        (5103,),
        (5103 + 5 + 7 + 14,),
        (5129 - 1000,),
        ("b", 4130),
        ("a", 4132),
    ]


class GlobalsAndModules(Marks):
    @kernel
    def run(self):
        self.mark(np.pi, TABLE[1], LIMIT, np.sqrt(LIMIT * 1.0), us * 3, MHz / kHz)  # noqa: F405
        limit = LIMIT
        limit += 1
        self.mark(limit, LIMIT, Constants.TIMES, Constants.Inner.LEVEL)


TABLE = [1, 2, 3]


LIMIT = 4


class Constants:
    TIMES = (1, 2)

    class Inner:
        LEVEL = 0.25


class NumericCorners(Marks):
    def build(self):
        self.one = 1
        self.big = 2**31 - 1
        self.wide = np.int64(2**62)
        self.nan = float("nan")
        self.inf = float("inf")

    @kernel
    def run(self):
        self.mark(int64(self.big) + self.one, self.wide // 2, int64(1) << 40, -int64(self.big) - 1)
        self.mark(self.nan == self.nan, self.nan < 1.0, max(1.0, 2.0), self.inf > 1e300, -self.inf)
        self.mark(5 % -3, -5 % 3, 5.5 % -2.0, -7 // 2, 7.5 // -2.0, 2**10, 2.0**0.5, (-2) ** 3)
        self.mark(1 / 3, 1e-320, 0.1 + 0.2, 3 * 0.1, float(self.big), int(1e9), round(2.675 * 100))
        self.mark(True + self.one, not self.one, 3 and 5, 0 or 7, 1 < 2 < 3, 3 > 2 > 2)


class ArraysOfNumPy(Marks):
    def build(self):
        self.a = np.array([1.0, -2.0, 3.0])
        self.m = np.arange(6.0).reshape(2, 3)
        self.n = np.array([3, 1, 2])

    @kernel
    def run(self):
        self.mark(self.a * 2.0 + 1.0, self.a**2, -self.a, abs(self.a))
        self.mark(np.abs(self.a), np.sin(self.m), np.where(self.a > 0.0, self.a, 0.0))


class ArraysOfNumPyToo(Marks):
    def build(self):
        self.a = np.array([1.0, -2.0, 3.0])
        self.m = np.arange(6.0).reshape(2, 3)
        self.n = np.array([3, 1, 2])

    @kernel
    def run(self):
        self.mark(self.a * 2.0 + 1.0, self.a**2, -self.a)
        self.mark(np.abs(self.a), np.zeros(3), np.ones((2, 2)), np.arange(4), np.linspace(0.0, 1.0, 5), np.full(2, 7))
        self.mark(np.dot(self.a, self.a), self.m @ self.a)
        self.mark(self.m.T @ self.m, self.m.reshape(3, 2), self.m.sum(), self.n.max(), self.n.astype(float))
        self.mark(np.mean(self.a), np.any(self.a > 2.0), np.all(self.n > 0))


class ListsInTime(Marks):
    @kernel
    def run(self):
        edges = [int64(0)] * 5
        for i in range(len(edges)):
            edges[i] = int64(i) * 1000
        gaps = [b - a for a, b in zip(edges, edges[1:], strict=False)]
        self.mark(edges, gaps)


class Bubble(Marks):
    def build(self):
        self.data = [5, 3, 9, 1, 7]

    @kernel
    def run(self):
        data = self.data
        for i in range(len(data)):
            for j in range(len(data) - 1 - i):
                if data[j] > data[j + 1]:
                    data[j], data[j + 1] = data[j + 1], data[j]
        self.mark(data, self.data)
        histogram = [0] * 10
        for value in data:
            histogram[value] += 1
        self.mark(histogram)
