"""Functions: nested, anonymous and recursive."""

import numpy as np  # noqa: F401 (in an annotation)

from kairos.language import kernel, portable

from .marks import Marks


class FunctionInside(Marks):
    def build(self):
        self.base = 100

    @kernel
    def run(self):
        offset = 1

        def plus(x, y=10):
            return self.base + offset + x + y

        self.mark(plus(1), plus(1, 2), plus(y=3, x=4))
        offset = 1000
        self.mark(plus(1))


class FunctionThatChangesOuterVariables(Marks):
    @kernel
    def run(self):
        count = 0
        text = "a"

        def up(by):
            nonlocal count
            count += by

        def twice(by):
            def once():
                nonlocal text
                up(by)
                text = "b"

            once()
            once()

        up(1)
        twice(10)
        self.mark(count, text)


class RecursionInside(Marks):
    @kernel
    def run(self):
        def even(n):
            if n == 0:
                return True
            return odd(n - 1)

        def odd(n):
            if n == 0:
                return False
            return even(n - 1)

        def factorial(n):
            return 1 if n < 2 else n * factorial(n - 1)

        self.mark(even(10), odd(7), even(3), factorial(10))


class Lambdas(Marks):
    @kernel
    def apply(self, function, x):
        return function(x) + function(x + 1)

    @kernel
    def run(self):
        k = 3
        triple = lambda x: k * x  # noqa: E731
        self.mark(triple(5), (lambda x, y=1: x + y)(1), (lambda: 7)(), self.apply(triple, 10))
        k = 4
        self.mark(triple(5), [(lambda y: x * y)(2) for x in [1, 2, 3]])


class DefaultsAreThoseOfTheDefinition(Marks):
    @kernel
    def run(self):
        total = 0
        for i in range(3):

            def f(a, b=i):
                return 10 * a + b

            i = 9
            total = 100 * total + f(1)
        self.mark(total)


class ExceptionsLeaveInnerFunctions(Marks):
    @kernel
    def run(self):
        done = 0

        def fail(n):
            nonlocal done
            try:
                if n > 1:
                    raise ValueError("n")
                done += 1
            finally:
                done += 10

        for n in range(4):
            try:
                fail(n)
            except ValueError:
                self.mark(n, done)
        self.mark(done)


class UncalledInnerFunction(Marks):
    @kernel
    def run(self):
        def never(x):
            return x.whatever

        self.mark(1)


class Recursion(Marks):
    @kernel
    def fib(self, n):
        if n < 2:
            return n
        return self.fib(n - 1) + self.fib(n - 2)

    @kernel
    def ackermann(self, m, n):
        if m == 0:
            return n + 1
        return self.ackermann(m - 1, 1 if n == 0 else self.ackermann(m, n - 1))

    @kernel
    def run(self):
        self.mark(self.fib(15), self.ackermann(2, 3))


@portable
def collatz(n):
    return 0 if n == 1 else 1 + (other(n // 2) if n % 2 == 0 else other(3 * n + 1))


@portable
def other(n):
    return collatz(n)


class MutualRecursion(Marks):
    @kernel
    def run(self):
        self.mark(collatz(27))


class StaticMethods(Marks):
    @staticmethod
    @kernel
    def decorated(x):
        return x + 1

    @staticmethod
    @portable
    def double(x):
        return 2 * x

    @staticmethod
    def on_the_host(x) -> "np.int32":
        return x * x

    @kernel
    def run(self):
        self.mark(self.double(4), StaticMethods.double(5), self.on_the_host(6))


class FunctionsThatNothingCalls(Marks):
    """Their types may be unknown, and their names too, as in Python."""

    @kernel
    def never(self, x):
        return x.nothing()

    @kernel
    def run(self):
        n = 1
        rest = []

        def deep(x):
            def deeper(y):
                return y.value + x

            return deeper(x)

        def wrong(x):
            nonlocal n
            n = x
            return self.never(x) + not_a_name + self.not_an_attribute  # noqa: F821

        def calls_wrong(x):
            return wrong(x)

        def filling():
            return [rest[0] for _ in range(3)]

        def one(x):
            return x + n

        def with_default(x, y=None):
            return y.member[x]

        pick = lambda x: x.chosen(deep)  # noqa: E731, F841
        self.mark(one(2), n, len(rest))

        def late(f):
            return f(3)

        def square(x):
            return x * x

        self.mark(late(square))
