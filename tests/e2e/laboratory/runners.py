"""Scans whose loop runs on the core device, as in frameworks of fragments (ndscan and the like):
points are transferred in chunks as a tuple of lists of several types, whose annotation is created
for each scan; parameters report whether they have changed; a point with an underflow, or a lost
ion, is repeated; a scan is part of another one, with loops of one class that differ in types; and
the scheduler may interrupt all of it.
"""

from enum import Enum

import numpy as np
from artiq.coredevice.exceptions import RTIOUnderflow
from artiq.language import *

from tests.e2e.laboratory import Laboratory, expect


class IonLost(Exception):
    """A point cannot be taken at present."""


class ReloadIon(IonLost):
    """The kernel has to end, and to be restarted with the same point."""


class _Floats:
    """The value of a parameter set by a scan."""

    def __init__(self, value):
        self.value, self.fresh = float(value), True

    @portable
    def use(self) -> TFloat:
        self.fresh = False
        return self.value

    @portable
    def set(self, value: TFloat):
        self.fresh = self.fresh or value != self.value
        self.value = value


class _Integers:
    """As `_Floats`, of the other type: a class has one type per attribute."""

    def __init__(self, value):
        self.value, self.fresh = np.int32(value), True

    @portable
    def use(self) -> TInt32:
        self.fresh = False
        return self.value

    @portable
    def set(self, value: TInt32):
        self.fresh = self.fresh or value != self.value
        self.value = value


class _Length:
    """A part's reference to its parameter: its object may be replaced."""

    def __init__(self, stored):
        self.stored = stored

    @portable
    def use(self) -> TFloat:
        return self.stored.use()

    @portable
    def is_fresh(self) -> TBool:
        return self.stored.fresh


class _Number:
    def __init__(self, stored):
        self.stored = stored

    @portable
    def use(self) -> TInt32:
        return self.stored.use()


class _Axis:
    def __init__(self, handle, points, kind=TFloat):
        self.points, self.kind = list(points), kind
        self.setter = handle.stored.set


class _Loop(HasEnvironment):
    """Runs a part for the points of some axes, on the core device."""

    chunk = 2
    tries = 2

    def build(self, part, axes):
        self.setattr_device("core")
        self.setattr_device("scheduler")
        self.part, self.axes = part, axes
        self.interruptions = 0
        self.rewind()
        type(self).fetch.__annotations__ = {"return": TTuple([TList(axis.kind) for axis in axes])}
        for place, axis in enumerate(axes):
            setattr(self, f"set_{place}", axis.setter)
        names = [f"points{place}" for place in range(len(axes))]
        code = [f"({' '.join(name + ',' for name in names)}) = self.fetch()", "if not points0:", "    return self.DONE"]
        code += ["for at in range(len(points0)):"]
        code += [f"    self.set_{place}({name}[at])" for place, name in enumerate(names)]
        code += ["    if self.take_point():", "        return self.INTERRUPTED", "return self.MORE"]
        self.take_chunk = kernel_from_string(["self"], "\n".join(code))

    MORE, INTERRUPTED, DONE = 0, 1, 2

    def rewind(self):
        grid = np.meshgrid(*(axis.points for axis in self.axes), indexing="ij")
        self.left = list(zip(*(list(row.flatten()) for row in grid), strict=True))
        self.taken = 0

    def fetch(self):
        """Return the next points to be done: a list per axis."""
        chunk = self.left[: self.chunk]
        columns = list(zip(*chunk, strict=True)) or [()] * len(self.axes)
        kinds = [float if axis.kind is TFloat else int for axis in self.axes]
        return tuple([kind(value) for value in column] for kind, column in zip(kinds, columns, strict=True))

    @rpc(flags={"async"})
    def point_is_done(self):
        self.left.pop(0)
        self.taken += 1

    @rpc(flags={"async"})
    def begin(self):
        self.running = True

    @rpc(flags={"async"})
    def end(self):
        self.running = False

    @kernel
    def take_point(self) -> TBool:
        underflows = 0
        losses = 0
        while True:
            if self.scheduler.check_pause():
                return True
            try:
                self.part.device_setup()
                self.part.run_once()
                break
            except RTIOUnderflow:
                if underflows >= self.tries:
                    raise
                underflows += 1
                print("underflow", underflows)
            except ReloadIon:
                print("reload")
                return True
            except IonLost:
                if losses >= self.tries:
                    raise
                losses += 1
                print("lost", losses)
        self.point_is_done()
        return False

    @kernel
    def acquire(self) -> TBool:
        self.begin()
        try:
            while True:
                result = self.take_chunk(self)
                if result == self.INTERRUPTED:
                    return False
                if result == self.DONE:
                    return True
                assert result == self.MORE
        finally:
            self.end()
            self.part.device_cleanup()
        assert False, "a loop ends inside"  # noqa: B011
        return True


def loop(parent, part, *axes):
    """Create a loop with its own class, because its points have their own types."""

    class Loop(_Loop):
        @rpc
        def fetch(self):
            return _Loop.fetch(self)

    return Loop(parent, part, axes)


class _Part(HasEnvironment):
    def build(self, *arguments):
        self.setattr_device("core")
        self.assemble(*arguments)
        calls = [f"self.{name}.device_setup()" for name in getattr(self, "parts", [])]
        self.setup_parts = kernel_from_string(["self"], "\n".join(calls) or "pass", portable)

    @portable
    def device_setup(self):
        self.setup_parts(self)

    @portable
    def device_cleanup(self):
        pass


class Line(Enum):
    """Pins, by the lasers they switch."""

    blue = 4
    red = 6


class _Pulse(_Part):
    """A pulse whose length and number are parameters; its setup is indicated on another pin."""

    def assemble(self, line):
        self.pin = self.get_device(f"ttl{line.value}")
        self.mark = self.get_device("ttl5")
        self.line = line
        self.length, self.number = _Length(_Floats(100 * ns)), _Number(_Integers(1))
        self.set_length = 0.0
        self.sent = []
        self.faults = {}

    @rpc(flags={"async"})
    def push(self, length, number, line):
        self.sent.append((round(length / ns), number, line))

    def fault(self) -> TInt32:
        """Return this point's fault, once."""
        return self.faults.pop(len(self.sent), 0)

    @kernel
    def device_setup(self):
        self.core.break_realtime()
        if self.length.is_fresh():
            self.set_length = self.length.use()
            self.mark.pulse(8 * ns)
            delay(92 * ns)

    @kernel
    def run_once(self):
        number = self.number.use()
        wrong = self.fault()
        if wrong == 1:
            delay(-100 * ms)
        elif wrong == 2:
            raise IonLost("dark")
        elif wrong == 3:
            raise ReloadIon("dark for long")
        else:
            self.core.break_realtime()
        for _ in range(number):
            self.pin.pulse(self.set_length)
            delay(100 * ns)
        self.push(self.set_length, number, self.line.name)


class _Inner(_Part):
    """A part that scans another part."""

    def assemble(self, part, *axes):
        self.inner = part
        self.loop = loop(self, part, *axes)
        self.rounds = []

    @rpc(flags={"async"})
    def collect(self):
        self.rounds.append(self.loop.taken)
        self.loop.rewind()

    @kernel
    def run_once(self):
        if not self.loop.acquire():
            raise ReloadIon("interrupted")
        self.collect()


class _Runner(Laboratory):
    def run(self):
        self.starts = 0
        while True:
            self.starts += 1
            if self.loop.acquire():
                break
            self.core.comm.close()
        self.sent = self.pulse.sent
        assert not self.loop.running


@expect(
    pins={"ttl4": None, "ttl5": None},
    values={
        "starts": 1,
        "sent": [(100, 1, "blue"), (100, 2, "blue"), (200, 1, "blue"), (200, 2, "blue")],
    },
)
class TwoAxesOfTwoTypes(_Runner):
    """A chunk has a list of floats and one of integers."""

    def more(self):
        self.pulse = _Pulse(self, Line.blue)
        axes = _Axis(self.pulse.length, [100 * ns, 200 * ns]), _Axis(self.pulse.number, [1, 2], TInt32)
        self.loop = loop(self, self.pulse, *axes)


@expect(
    pins={"ttl6": None, "ttl5": None},
    printed=["underflow 1", "lost 1", "reload"],
    values={"starts": 2, "sent": [(8, 1, "red"), (16, 1, "red"), (24, 1, "red"), (32, 1, "red")]},
)
class PointsAreRepeated(_Runner):
    """After an underflow and a lost ion immediately, after a reload in a new kernel; no point is
    missing or duplicated."""

    def more(self):
        self.pulse = _Pulse(self, Line.red)
        self.pulse.faults = {0: 1, 1: 2, 2: 3}
        self.loop = loop(self, self.pulse, _Axis(self.pulse.length, [8 * ns, 16 * ns, 24 * ns, 32 * ns]))


@expect(pins={"ttl5": None}, printed=["lost 1", "lost 2"], raises="IonLost")
class TooManyLosses(_Runner):
    def more(self):
        self.pulse = _Pulse(self, Line.red)
        self.pulse.fault = self.lost
        self.loop = loop(self, self.pulse, _Axis(self.pulse.length, [8 * ns]))

    def lost(self) -> TInt32:
        return 2


@expect(
    pins={"ttl4": None, "ttl5": None, "ttl6": None},
    values={
        "starts": 1,
        "sent": [(length, number, "blue") for number in (1, 2) for length in (50, 100, 150)],
        "rounds": [3, 3],
        "reds": [(100, 1, "red"), (100, 2, "red"), (100, 1, "red"), (100, 2, "red")],
    },
)
class ScansWithinAScan(_Runner):
    """Two loops of one class, over floats and over integers, in a third one."""

    def more(self):
        self.pulse, self.other = _Pulse(self, Line.blue), _Pulse(self, Line.red)
        self.lengths = _Inner(self, self.pulse, _Axis(self.pulse.length, [50 * ns, 100 * ns, 150 * ns]))
        self.numbers = _Inner(self, self.other, _Axis(self.other.number, [1, 2], TInt32))
        self.both = _Both(self, self.lengths, self.numbers)
        self.loop = loop(self, self.both, _Axis(self.pulse.number, [1, 2], TInt32))

    def run(self):
        super().run()
        self.rounds, self.reds = self.lengths.rounds, self.other.sent


class _Both(_Part):
    def assemble(self, first, second):
        self.first, self.second = first, second
        self.parts = ["first", "second"]

    @kernel
    def run_once(self):
        self.first.run_once()
        self.second.run_once()


@expect(
    pins={"ttl4": None, "ttl5": None},
    printed=["reload", "reload"],
    values={"starts": 2, "sent": [(50, 1, "blue"), (100, 1, "blue")] * 2},
)
class AnInterruptedInnerScanGoesOn(_Runner):
    """A point of the inner scan ends both loops and the kernel; the next kernel resumes with that
    point."""

    def more(self):
        self.pulse = _Pulse(self, Line.blue)
        self.pulse.faults = {1: 3}
        self.lengths = _Inner(self, self.pulse, _Axis(self.pulse.length, [50 * ns, 100 * ns]))
        self.loop = loop(self, self.lengths, _Axis(_Length(_Floats(0.0)), [1.0, 2.0]))
