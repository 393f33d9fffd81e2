"""Exercises the language on the device: exceptions, remote calls with values in both directions,
write-back."""

from artiq.experiment import *
from numpy import int64


class Exc(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.n = 0
        self.data = [1, 2, 3]
        self.f = 1.5

    def boom(self) -> TInt32:
        raise KeyError("host says no")

    def names(self) -> TList(TFloat):
        return [1.0, 2.5]

    def greet(self) -> TStr:
        return "héllo"

    def trip(self) -> TTuple([TInt32, TFloat, TStr]):
        return (4, 2.5, "x")

    @kernel
    def inner(self, i):
        return self.data[i]

    @kernel
    def deep(self, k):
        if k == 0:
            raise ValueError("deep {0}", 42)
        self.deep(k - 1)

    @kernel
    def fin(self):
        for i in range(3):
            try:
                if i == 1:
                    return i
            finally:
                print("finally", i)
        return 9

    @kernel
    def nest(self):
        try:
            try:
                self.deep(2)
            except IndexError:
                print("wrong")
            finally:
                print("fin inner")
        except ValueError as e:
            print("outer caught")
            try:
                raise e
            except ValueError:
                print("again")

    @kernel
    def run(self):
        self.core.reset()
        try:
            self.inner(7)
        except IndexError:
            print("caught index")
        try:
            self.boom()
        except Exception:
            print("caught all")
        try:
            self.deep(3)
        except IndexError:
            print("no")
        except ValueError:
            print("caught value")
        else:
            print("else?")
        self.nest()
        print(self.fin())
        for x in self.names():
            self.f += x
        print(self.f, self.greet(), self.trip(), self.data)
        self.data[1] = 20
        self.n += 5
        try:
            y = 1 // (self.n - 5)
            print(y)
        except ZeroDivisionError:
            print("zero div")
        print(7 // self.n, -7 % self.n, int64(1) << (self.n * 8), 2.0**self.f, round(self.f))
        self.last()

    @kernel
    def last(self):
        try:
            self.inner(self.n)
        finally:
            print("cleanup")
