"""Host objects that kernels change: afterwards they are as Python would have left them, also if the
kernel ended in an exception."""

import numpy as np

from kairos.language import TArray, TByteArray, TFloat, TInt32, TList, kernel, rpc

from .marks import Marks

SHARED = [10, 20, 30]
"""A global list that kernels change."""


class Device:
    def __init__(self, buffer):
        self.buffer = buffer
        self.count = 0

    def __repr__(self):
        return f"Device({self.buffer}, {self.count})"


class Identity(Marks):
    """Marks which attributes are the same object, and their values."""

    def same(self):
        names = sorted(
            name for name in vars(self) if isinstance(vars(self)[name], list | np.ndarray | tuple | bytearray)
        )
        names = [name for name in names if name != "trace"]
        for name in names:
            value = vars(self)[name]
            alike = [other for other in names if vars(self)[other] is value]
            self.mark(name, alike, value)

    def run(self):
        try:
            self.change()
        except ValueError as error:
            self.mark("error", str(error))
        self.same()


class ArraysInPlace(Identity):
    def build(self):
        self.a = np.array([1, 2, 3])
        self.b = self.a
        self.view = self.a[1:]
        self.f = np.array([[1.0, 2.0], [3.0, 4.0]])
        self.g = self.f
        self.rows = [self.f, np.zeros((2, 2))]

    @kernel
    def change(self):
        self.a += 1
        self.f *= 2.0
        self.f[0] += self.f[1]
        self.rows[1][0, 1] = 5.0
        self.rows[0][1, 1] = -1.0


class ListsAssigned(Identity):
    def build(self):
        self.a, self.b, self.c = [1, 2, 3], [4, 5, 6], [7]
        self.held = self.a
        self.old = self.b
        self.nested = [[1, 2], [3, 4], [5, 6]]
        self.first, self.last = self.nested[0], self.nested[2]
        self.pair = (self.a, 1)
        self.number = 5
        self.deep = [[[1], [2]], [[3], [4]]]
        self.inner = self.deep[0]

    @kernel
    def change(self):
        self.b = self.a
        self.b[0] = 100
        self.a[1] = 200
        self.nested[0], self.nested[2] = self.nested[2], self.nested[0]
        self.nested[0][0] = 50
        self.nested[1] = self.nested[2]
        self.pair = (self.c, 2)
        self.c[0] = 8
        self.deep[0], self.deep[1] = self.deep[1], self.deep[0]
        self.deep[0][1] = self.deep[1][0]
        self.deep[1][0][0] = -1
        if self.number > 10:
            self.held = self.c


class ListsAssignedBack(Identity):
    def build(self):
        self.a, self.b = [1, 2], [3, 4]
        self.x, self.y = self.a, self.b

    @kernel
    def change(self):
        keep = self.a
        self.a = self.b
        self.b = keep
        self.a[0], self.b[1] = 30, 20
        self.a, self.b = self.b, self.a


class ArraysAssigned(Identity):
    def build(self):
        self.a = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        self.b = np.zeros((3, 2))
        self.row = np.zeros(2)
        self.some = np.zeros((1, 2))

    @kernel
    def change(self):
        self.b = self.a
        self.row = self.a[1]
        self.some = self.a[2:]
        self.row[0] = 30.0
        self.some[0, 1] = 60.0

    def run(self):
        self.change()
        self.same()
        self.a[1, 1] = 40.0
        self.a[2, 0] = 50.0
        self.mark(self.row, self.some)


class OneListInTwoDevices(Identity):
    def build(self):
        self.list = [1, 2, 3]
        self.other = [4, 5, 6]
        self.devices = [Device(self.list), Device(self.list), Device(self.other)]

    @kernel
    def change(self):
        self.devices[0].buffer[0] = 10
        self.devices[1].buffer[1] = 20
        self.devices[2].buffer = self.devices[0].buffer
        self.devices[2].buffer[2] = 30
        for device in self.devices:
            device.count += 1
        self.devices[0], self.devices[1] = self.devices[2], self.devices[0]

    def run(self):
        devices = list(self.devices)
        self.change()
        self.same()
        for device in devices:
            places = [place for place, other in enumerate(self.devices) if other is device]
            self.mark(device.buffer is self.list, device.count, places)


class ArgumentsAndGlobals(Marks):
    def build(self):
        SHARED[:] = [10, 20, 30]

    @kernel
    def change(self, given, array):
        given[0] += SHARED[1]
        array[1] = given[0]
        SHARED[2] = given[1]

    def run(self):
        given, array = [1, 2], np.array([3, 4])
        self.change(given, array)
        self.mark(given, array, SHARED)


class WrittenBeforeAnException(Identity):
    def build(self):
        self.counter = 0
        self.a, self.b = [1, 2, 3], [4, 5, 6]
        self.array = np.array([1, 2, 3])
        self.text = "none"
        self.device = Device(self.a)

    @rpc
    def fail(self):
        raise ValueError("on the host {0}")

    @kernel
    def step(self):
        self.counter += 1
        self.a[0] = self.counter
        self.device.count += 10
        if self.counter == 3:
            self.text = "third"
            self.b = self.a
            self.fail()

    @kernel
    def change(self):
        for i in range(5):
            self.array[1] = i
            try:
                self.step()
            finally:
                self.array[2] += 1

    def run(self):
        super().run()
        self.mark(self.counter, self.text, self.device.count, self.device.buffer is self.a)


class NewListsInAttributes(Identity):
    """Lists of the host's results may be assigned to attributes."""

    def build(self):
        self.a, self.b = [1], [2, 2]
        self.nested = [[1], [2]]
        self.array = np.zeros(2)

    @rpc
    def numbers(self) -> TList(TInt32):
        return [7, 8, 9]

    @rpc
    def halves(self) -> TArray(TFloat):
        return np.array([0.5, 1.5, 2.5])

    @kernel
    def change(self):
        self.a = self.numbers()
        self.a[0] = 5
        self.nested[1] = self.numbers()
        self.array = self.halves()
        self.array[1] = 2.0


class ValuesOfTheHostAreKept(Identity):
    def build(self):
        self.a, self.b = [1, 2, 3], [4, 5]
        self.flag = False

    @rpc
    def replace(self):
        self.a[2] = 30
        self.b = [50]

    @kernel
    def change(self):
        self.a[0] = 10
        if self.flag:
            self.b = self.a
        self.replace()


class NewListsInSeveralPlaces(Identity):
    """A new list is one object, whatever holds it."""

    def build(self):
        self.a, self.b, self.c = [1], [2], [3]
        self.nested, self.inner = [[1, 2], [3]], [[0], [0]]
        self.pair = ([0], [0])
        self.array, self.other, self.turned = np.zeros(2), np.zeros(2), np.zeros((1, 2))
        self.bytes, self.more = bytearray(b"a"), bytearray(b"b")
        self.empty, self.none = [1], [2]

    @rpc
    def numbers(self) -> TList(TInt32):
        return [5, 6]

    @rpc
    def rows(self) -> TList(TList(TInt32)):
        return [[7], [8]]

    @rpc
    def nothing(self) -> TList(TInt32):
        return []

    @rpc
    def halves(self) -> TArray(TFloat):
        return np.array([0.5, 1.5])

    @rpc
    def text(self) -> TByteArray:
        return bytearray(b"xyz")

    @kernel
    def change(self):
        self.a = self.b = self.numbers()
        self.a[0] = 9
        self.c = self.numbers()
        self.nested[0] = self.b
        self.inner = self.rows()
        self.inner[1] = self.inner[0]
        self.nested[1] = self.inner[0]
        self.pair = (self.b, self.c)
        self.array = self.halves()
        self.other = self.array
        self.other[0] = 3.5
        self.bytes = self.text()
        self.more = self.bytes
        self.more[0] = 65
        self.empty = self.nothing()
        self.none = self.nothing()

    def run(self):
        super().run()
        self.nested[0][1] = 60
        self.pair[1][0] = 70
        self.inner[0][0] = 80
        self.mark(self.a, self.b, self.c, self.nested, self.inner, self.pair)
