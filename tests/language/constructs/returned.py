"""Returned values: new ones belong to the caller; returned arguments keep their identity."""

import numpy as np

from kairos.language import TInt32, TList, TStr, kernel, portable, rpc

from .marks import Marks


@portable
def numbers(n):
    made = [n, n + 1]
    return made


@portable
def collected(n):
    if n == 0:
        return [0]
    return collected(n - 1) + [n]


@portable
def either(given, same):
    if same:
        return given
    return [7, 8]


@portable
def nested(n):
    first = numbers(n)
    second = numbers(10 * n)
    return [first, second], (len(first), "of " + "two")


@portable
def at_last(n):
    try:
        return numbers(n)
    finally:
        numbers(99)


@portable
def found(lists, wanted):
    for i in range(len(lists)):
        part = [x * 2 for x in lists[i]]
        if part[0] == wanted:
            return part
    raise ValueError("none")


class ReturnedLists(Marks):
    def build(self):
        self.own = [3, 4]
        self.passes = 200_000

    @kernel
    def run(self):
        a, b = numbers(1), numbers(10)
        self.mark(a, b, numbers(numbers(5)[1]), collected(6), at_last(2))
        c, d = either(a, True), either(a, False)
        c[0], d[0] = 20, 30
        self.mark(a, c, d, a is c, a is d)
        either(self.own, True)[0] = 40
        lists, text = nested(4)
        again = nested(5)
        self.mark(self.own, lists, text, again[0], [numbers(i) for i in range(3)])
        self.mark(found([numbers(1), numbers(2), numbers(3)], 4))
        try:
            self.mark(found([a], -1))
        except ValueError:
            self.mark("none", a)
        total = 0
        for i in range(self.passes):
            total += numbers(i)[1] - i
        self.mark(total)


@portable
def arrays(n):
    return np.full((2, n), 1.5), np.arange(n)[::2], np.array([[n, 2], [3, 4]]).T


class ReturnedArrays(Marks):
    @kernel
    def column(self, a):
        doubled = a * 2
        return doubled[:, 0]

    @kernel
    def run(self):
        a, b, c = arrays(3)
        d, e, f = arrays(5)
        self.mark(a, b, c, d, e, f, self.column(c), self.column(f))


class Pair:
    def __init__(self, first, second):
        self.first = first
        self.second = second

    @portable
    def total(self):
        return self.first + self.second


@portable
def pair(n):
    return Pair(n, 10 * n)


class ReturnedObjects(Marks):
    @kernel
    def run(self):
        a, b = pair(1), pair(2)
        a.first = 5
        total = b.total
        self.mark(a.total(), b.total(), pair(3).total(), total())


class ReturnedFromTheHost(Marks):
    @rpc
    def text(self, n) -> TStr:
        return f"text {n}"

    @rpc
    def list(self, n) -> TList(TInt32):
        return [n] * n

    @kernel
    def get_text(self, n):
        return self.text(n)

    @kernel
    def get_more(self, n):
        return self.get_text(n) + "!", self.list(n)

    @kernel
    def run(self):
        a, b = self.get_text(1), self.get_text(22)
        (c, d), (e, f) = self.get_more(3), self.get_more(2)
        self.mark(a, b, c, d, e, f)


class ReturnedToTheHost(Marks):
    @kernel
    def lists(self, n):
        return [[n], numbers(n)], "a" + "b", np.arange(n) * 0.5

    def run(self):
        self.mark(*self.lists(2))
