"""Lists without elements, whose element type nothing determines."""

import numpy as np

from kairos.language import TInt32, kernel, portable, rpc

from .marks import Marks


class LoopsThatNeverRun(Marks):
    def build(self):
        self.sensors = []
        self.pairs = [[], []]
        self.number = 0

    @rpc
    def called(self) -> TInt32:
        self.trace.append("called")
        return 4

    @kernel
    def none(self):
        self.mark("evaluated")
        return []

    @kernel
    def measure(self, sensor):
        sensor.prepare()
        return sensor.measure() + self.called()

    @kernel
    def total(self, sensors):
        n = 0
        for sensor in sensors:
            n += self.measure(sensor)
        else:
            self.mark("else")
        return n

    @kernel
    def run(self):
        for s in []:
            s.measure()
        for s in self.sensors:
            self.mark(s.measure())
            self.number += s.count
        self.mark(self.total(self.sensors), self.total([]))
        for s in self.none():
            s.measure()
        for i, s in enumerate(self.sensors):
            s.place = i
        for s, n in zip(self.sensors, [1, 2]):  # noqa: B905
            s.add(n)
        for s in reversed(self.sensors):
            s.off()
        for row in self.pairs:
            for s in row:
                s.off()
            self.mark(len(row))
        values = [s.value() for s in self.sensors]
        self.mark(len(values), sum([s.value() for s in []]), sum(s.value() for s in self.sensors))
        self.mark(any(s.is_on for s in self.sensors), all(s.is_on for s in []))
        for value in values:
            value.show()
        unused = []
        self.mark(len(unused), unused == [], self.number)
        try:
            self.mark(max(s.value() for s in self.sensors))
        except ValueError:
            self.mark("empty")


class Sensor:
    def __init__(self, value):
        self.value = value

    @portable
    def measure(self):
        return self.value


class EmptyForOneObjectOnly(Marks):
    def build(self):
        self.groups = [Group([]), Group([Sensor(3), Sensor(4)])]

    @kernel
    def run(self):
        for group in self.groups:
            self.mark(group.total())
        self.mark(np.sum(np.array([1, 2])))


class Group:
    def __init__(self, sensors):
        self.sensors = sensors

    @portable
    def total(self):
        n = 0
        for sensor in self.sensors:
            n += sensor.measure()
        return n


class TruthValues(Marks):
    def build(self):
        self.number = 0

    @kernel
    def run(self):
        for x in range(2):
            self.mark(1 if x else 2, 1.5 if [0] * x else 2.5, 1 if "a"[x:] else 0, 3 if 0.0 else 4)
            self.mark(5 if None else 6, 7 if (x,) else 8, 9 if range(x) else 10, 11 if b"" else 12)
            try:
                assert x
                assert "a"[: x + 1], "text"
                assert [x][x:], "list"
                self.mark("not reached")
            except AssertionError:
                self.mark("assertion", x)


class ViewsSentToTheHost(Marks):
    def build(self):
        self.array = np.arange(12).reshape(3, 4)
        self.floats = np.array([1.5, 2.5, 3.5])

    @rpc
    def keep(self, *values, **named):
        self.trace.append([value.tolist() for value in values[0]])
        self.trace.append({name: [part.tolist() for part in value] for name, value in named.items()})

    @kernel
    def result(self):
        return self.array[:, 1], 5

    @kernel
    def say(self):
        a = self.array
        self.mark(a[:, 1], (a[::2], 1), [a[:, 0], a[:, 2]], ((self.floats[::-1], a.T), 2))
        self.mark([(1, a[::-1, 0]), (2, a[:, 3])])
        self.keep((a[:, ::2], self.floats[::2]), named=(a[1, ::-1],))
        print((a[:, 1], 1), [self.floats[::-2]])

    def run(self):
        self.say()
        pair = self.result()
        self.mark(pair[0], pair[1])
