"""NumPy functions and array methods: same results as NumPy on the host."""

import numpy as np

from kairos.language import kernel, portable

from .marks import Marks


class Filled(Marks):
    @kernel
    def run(self):
        self.mark(np.zeros(3), np.zeros((2, 3)), np.zeros(2, dtype=np.int32), np.zeros(2, np.int64), np.zeros((2, 0)))
        self.mark(np.ones(2), np.ones((2, 2), dtype=bool), np.full((2, 2), 1.5), np.full(2, 7, dtype=float))
        self.mark(np.empty((3, 2)).shape, np.empty(0, dtype=np.int32), np.full(shape=3, fill_value=4))
        a = np.array([[1, 2], [3, 4]])
        self.mark(np.zeros_like(a), np.ones_like(a, dtype=float), np.full_like(a, 9), np.empty_like(a).shape)
        try:
            self.mark(np.zeros(len(a) - 3))
        except ValueError:
            self.mark("negative")


class Counted(Marks):
    def build(self):
        self.zero = 0
        self.last = 7
        self.step = 0.1

    @kernel
    def run(self):
        self.mark(np.arange(5), np.arange(2, self.last), np.arange(7, 0, -3), np.arange(5, 0), np.arange(0, 5, 2))
        self.mark(np.arange(1.0, 2.0, self.step), np.arange(0.0, 1.0, 1 / 3), np.arange(3.5), np.arange(2, 3.0, 0.25))
        self.mark(np.arange(3, dtype=float), np.arange(3, dtype=np.int64), np.arange(1 << 40, (1 << 40) + 2))
        try:
            self.mark(np.arange(0, 5, self.zero))
        except ZeroDivisionError:
            self.mark("no step")
        try:
            self.mark(np.arange(0.0, 5.0, float(self.zero)))
        except ZeroDivisionError:
            self.mark("no step")


class Spaced(Marks):
    def build(self):
        self.number = 7

    @kernel
    def run(self):
        self.mark(np.linspace(0.0, 1.0, self.number), np.linspace(-1, 3, num=5), np.linspace(2.0, 2.0, 3))
        self.mark(np.linspace(0.0, 0.7, 7, endpoint=False), np.linspace(1.0, 2.0, 1), np.linspace(1.0, 2.0, 0))
        self.mark(len(np.linspace(0.0, 1.0)), np.linspace(5.0, 1.0, 4), np.linspace(0.0, 5e-324, 4))
        try:
            self.mark(np.linspace(0.0, 1.0, self.number - 8))
        except ValueError:
            self.mark("negative")


class Diagonals(Marks):
    @kernel
    def run(self):
        self.mark(np.eye(2), np.eye(2, 3, 1), np.eye(3, k=-1, dtype=np.int32), np.eye(2, None), np.identity(2))
        self.mark(np.eye(2, M=4), np.identity(3, dtype=bool), np.eye(0), np.eye(2, k=5))


class Reduced(Marks):
    @kernel
    def run(self):
        a = np.array([[3.5, -1.0, 2.0], [0.25, 8.0, -6.0]])
        self.mark(np.sum(a), a.sum(), np.mean(a), a.mean(), np.min(a), a.min(), np.max(a), a.max(), np.prod(a))
        self.mark(np.argmin(a), a.argmin(), np.argmax(a), a.argmax(), a.size, a.ndim, a.shape)
        self.mark(np.sum(a, axis=0), a.sum(1), np.mean(a, axis=-1), a.min(axis=0), np.max(a, axis=1), a.prod(axis=0))
        self.mark(np.argmin(a, axis=0), a.argmax(axis=1), np.sum(a, axis=None))
        b = np.array([2000000000, 2000000000, -7])
        self.mark(np.sum(b), np.mean(b), np.min(b), np.max(b), b.argmin(), b.argmax(), np.prod(b))
        c = np.array([True, False, True])
        self.mark(np.sum(c), np.mean(c), np.min(c), np.max(c), np.any(c), np.all(c), c.any(), c.all(), c.argmin())


class ReducedInThreeDimensions(Marks):
    @kernel
    def run(self):
        a = np.arange(24).reshape(2, 3, 4)
        self.mark(a.sum(axis=0), a.sum(axis=1), a.sum(axis=2), a.max(axis=1), a.argmin(axis=2), np.any(a, axis=1))
        b = a * 0.1
        self.mark(b.sum(axis=0), b.sum(axis=1), b.sum(axis=2), b.mean(axis=1), b.sum())


class ReducedNothing(Marks):
    @kernel
    def run(self):
        a = np.zeros(0)
        b = np.zeros((0, 2))
        self.mark(np.sum(a), np.prod(a), np.any(a), np.all(a), np.sum(b, axis=0), np.min(b, axis=1), np.max(b, axis=1))
        try:
            self.mark(np.min(a))
        except ValueError:
            self.mark("min")
        try:
            self.mark(a.max())
        except ValueError:
            self.mark("max")
        try:
            self.mark(np.argmin(a))
        except ValueError:
            self.mark("argmin")
        try:
            self.mark(b.argmax(axis=0))
        except ValueError:
            self.mark("argmax")
        try:
            self.mark(b.min(axis=0))
        except ValueError:
            self.mark("min of none")


class ReducedWithNaN(Marks):
    @kernel
    def run(self):
        nan = np.nan
        a = np.array([1.0, nan, -3.0, nan])
        self.mark(
            np.isnan(np.min(a)), np.isnan(a.max()), np.argmin(a), a.argmax(), np.isnan(np.sum(a)), np.any(a), np.all(a)
        )
        b = np.array([2.0, 1.0, 1.0, 2.0])
        self.mark(b.argmin(), b.argmax())
        self.mark(np.isnan(a), np.isfinite(a), np.isinf(np.array([np.inf, 1.0, -np.inf])), np.isnan(nan), np.isinf(1.0))
        self.mark(np.isnan(np.maximum(a, 0.0)), np.maximum(b, 1.5), np.minimum(b, np.array([0.0, 1.0, 2.0, 3.0])))


class Products(Marks):
    @kernel
    def run(self):
        a = np.array([[1, 2, 3], [4, 5, 6]])
        v = np.array([1, -1, 2])
        w = np.array([3, 4])
        self.mark(
            np.dot(v, v), np.dot(a, v), np.dot(w, a), np.dot(a, a.transpose()), v.dot(v), np.dot(2, v), np.dot(3, 4)
        )
        self.mark(np.matmul(a, v), a @ v, v @ v, w @ a, np.matmul(np.transpose(a), a))
        self.mark(np.array([0.5, 1.5]) @ np.array([2.0, 4.0]), a @ np.array([0.5, 0.5, 1.0]))
        try:
            self.mark(np.dot(v, w))
        except ValueError:
            self.mark("lengths")


class Chosen(Marks):
    @kernel
    def run(self):
        a = np.array([1, 5, -2, 7])
        b = np.array([10, 20, 30, 40])
        self.mark(np.where(a > 2, a, b), np.where(a > 2, 1, 0), np.where(a > 2, 0.5, b), np.where(a, 1, 2))
        self.mark(np.clip(a, 0, 5), a.clip(0, 5), np.clip(a, 3, 2), np.clip(a, None, 5), np.clip(a, 0, None))
        self.mark(np.clip(a, 0, 2.5), np.clip(a * 1.5, -1.0, 2.0), np.clip(a, b - 12, b), np.clip(9, 0, 5))
        self.mark(np.maximum(a, 3), np.minimum(a, b), np.maximum(2, 3), np.abs(a), abs(a), np.abs(-1.5), abs(a * -0.5))


class Compared(Marks):
    @kernel
    def run(self):
        a = np.array([1, 2, 3])
        b = np.array([3, 2, 1])
        self.mark(a == b, a != b, a < b, a <= b, a > b, a >= b, a == 2, 2 < a, a < 2.5)
        self.mark(np.any(a == b), np.all(a == b), (a == b).any(), (a > 0).all(), np.sum(a > 1))
        self.mark((a > 1) & (a < 3), (a == 1) | (b == 1), (a > 1) ^ (b > 1), ~(a > 1))
        self.mark(
            np.logical_and(a > 1, b > 1), np.logical_or(a, b), np.logical_not(a - 1), np.logical_xor(a > 1, b > 1)
        )
        m = a > 1
        m &= b > 1
        m |= a == 1
        self.mark(m, np.array([[1, 2], [3, 4]]) > 2, np.array([1.0, np.nan]) == np.array([1.0, np.nan]))
        try:
            self.mark(a == np.array([1, 2]))
        except ValueError:
            self.mark("shapes")


class InPlace(Marks):
    @kernel
    def run(self):
        a = np.arange(6).reshape(2, 3)
        a += 1
        a *= a
        a -= np.full((2, 3), 4)
        a //= 3
        a %= 5
        a **= 2
        f = np.linspace(0.0, 1.0, 5)
        f /= 4
        f[1:] *= f[:-1]
        self.mark(a, f)


class Reshaped(Marks):
    def build(self):
        self.four = 4

    @kernel
    def run(self):
        a = np.arange(6)
        b = a.reshape(2, 3)
        b[0, 1] = 9
        self.mark(a, b, a.reshape((3, 2)), np.reshape(a, (3, -1)), a.reshape(-1), b.reshape(6), np.reshape(a, 6))
        self.mark(np.zeros((0, 3)).reshape(3, -1), a.reshape(1, 2, 3).shape)
        try:
            self.mark(a.reshape(self.four, 2))
        except ValueError:
            self.mark("size")
        try:
            self.mark(a.reshape(self.four, -1))
        except ValueError:
            self.mark("parts")
        try:
            self.mark(a.reshape(-1, self.four - 5))
        except ValueError:
            self.mark("two open")


class Copied(Marks):
    @kernel
    def run(self):
        a = np.array([[1, 2, 3], [4, 5, 6]])
        b = a.copy()
        c = np.copy(a)
        b[0, 0] = 9
        c[1] = np.array([0, 0, 0])
        self.mark(a, b, c, np.transpose(a), a.transpose(), np.arange(24).reshape(2, 3, 4).transpose())
        self.mark(a.astype(float), (a * 1.75).astype(np.int32), (a - 1).astype(bool), (a > 2).astype(np.int64))


class ElementTypes(Marks):
    @kernel
    def run(self):
        self.mark(np.array([1, 2], dtype=float), np.array([1.5, 2.5], dtype=np.int32), np.array([0, 2], bool))
        self.mark(np.array([1, 2], dtype=np.float64), np.zeros(1, dtype=np.bool_), np.ones(2, dtype=int))


class PartsOfMatrices(Marks):
    def build(self):
        self.one = 1

    @kernel
    def run(self):
        a = np.arange(20).reshape(4, 5)
        self.mark(a[1:3, ::2], a[:, 1], a[self.one, 1:], a[1:, 1:], a[:, :2], a[::2], a[::-1], a[:, ::-1], a[-1, -3:])
        self.mark(a[1:3, :], a[:, self.one : 9], a[3:1:-1, 0:5:2], a[9:, 0], a[1:1, 1:])
        self.mark(a[:, 1].shape, len(a[:, 1]), a[::2, 1:3].shape, a[:, 1].size, a[::2, ::2].ndim)
        self.mark(a[:, 1] + a[:, 2], a[:, 1] * 2, -a[::2, 1], a[:, 1].sum(), a[1:, ::2].max(axis=0), a[:, 1] @ a[:, 2])
        self.mark(a[:, 1] > 5, 11 in a[:, 1], np.sqrt(a[:2, ::2].astype(float)), np.where(a[:, 0] > 5, a[:, 1], 0))
        self.mark([x for x in a[:, 1]], list(a[::2, 3]), np.array(a[:, 1]), a[:, 1].copy(), a[::2][1], a[::2][1, 2:])
        b = np.arange(24).reshape(2, 3, 4)
        self.mark(b[0, :, 1], b[:, 1], b[:, 1, :], b[1, 1:, ::2], b[:, :, 0], b[self.one, self.one, 1:], b[:, 0][0, 1])
        try:
            self.mark(a[:, self.one + 9])
        except IndexError:
            self.mark("index")


class PartsAreViews(Marks):
    @kernel
    def run(self):
        a = np.arange(20).reshape(4, 5)
        column = a[:, 1]
        column[0] = 99
        a[1, 1] = 98
        self.mark(a, column, column[1])
        part = a[::2, 1:4]
        part += 100
        part[1][0] = -1
        turned = a.T
        turned[0, 1] = 1000
        self.mark(a, part, turned, turned.shape, a[:, :2].T, turned[1:, 2], column.T)
        for row in a[:, ::2]:
            row[0] = 7
        self.mark(a)
        fill(a[:, 3])
        self.mark(a)


@portable
def fill(part):
    for i in range(len(part)):
        part[i] = i


class PartsAsTargets(Marks):
    def build(self):
        self.one = 1

    @kernel
    def run(self):
        a = np.arange(20).reshape(4, 5)
        a[:, 1] = np.array([5, 6, 7, 8])
        a[1:3, ::2] = np.zeros((2, 3), dtype=np.int32)
        a[self.one, 1:] += 10
        a[::2] *= 2
        a[:, -1] -= a[:, 0]
        self.mark(a)
        a[0] = 3
        a[2:, :2] = -1
        a[:, 4] = a[:, 3]
        a[::-1, 0] = a[:, 1]
        self.mark(a)
        a[:, 1:] = a[:, :-1]
        a[1:, ::2] += a[:-1, ::2]
        b = np.arange(9.0).reshape(3, 3)
        b += b.T
        b[:] = 0.5 * b.T
        c = np.arange(6)
        c[::2], c[1] = c[1::2], 9
        self.mark(a, b, c)
        try:
            a[:, 0] = np.array([1, 2])
        except ValueError:
            self.mark("shape")


class PartsAsTargetsOfLoops(Marks):
    """Contiguous and non-contiguous rows, copied into parts of both kinds."""

    def build(self):
        self.m = np.array([[1, 2], [3, 4]])
        self.long = np.array([[5, 6, 7], [8, 9, 10]])

    @kernel
    def run(self):
        a = np.zeros((2, 2), np.int64)
        for a[0] in self.m:
            self.mark(a)
        for a[1] in self.m.T:
            self.mark(a)
        for a[:, 0] in self.m:
            self.mark(a)
        for a[:, 1] in self.m.T:
            self.mark(a)
        for a[0] in self.long[:, ::2]:
            self.mark(a)
        for i, a[1] in enumerate(self.m.T):
            self.mark(i, a)
        for a[0], a[:, 1] in zip(self.m.T, self.m, strict=True):
            self.mark(a)
        for a[0, 1] in self.m[1]:
            self.mark(a)
