"""Host objects in kernels: with attributes of different types, with functions as attributes, as device stand-ins."""

import math

import numpy as np
import pytest

from kairos.compiler import CompileError
from kairos.devices.manager import DummyDevice
from kairos.language import TFloat, TInt32, TInt64, TList, TTuple, kernel, portable, rpc


class Device:
    kernel_invariants = {"core"}

    def __init__(self, core, **attributes):
        self.core = core
        vars(self).update(attributes)


class Channel(Device):
    @kernel
    def value(self):
        return self.level

    @kernel
    def grow(self):
        self.level += self.level


class Scan(Device):
    """Runs a function of another object, or a nested scan."""

    @kernel
    def run(self):
        return self.body(self.count)


class Group(Device):
    def __init__(self, core, scans):
        super().__init__(core, scans=scans)


class Point(Device):
    @kernel
    def measure(self, count):
        return self.offset + count

    @kernel
    def fraction(self, count):
        return self.offset + count / 2


@portable
def twice(x):
    return 2 * x


@portable
def halved(x):
    return x // 2


@portable
def nothing():
    return 0


def test_objects_of_one_class_have_attributes_of_different_types(core, run):
    channels = {"a": Channel(core, level=1), "b": Channel(core, level=1.5), "c": Channel(core, level=2**40)}
    body = "self.a.grow()\nself.b.grow()\nself.c.grow()\nreturn (self.a.value(), self.b.value(), self.c.value())"
    assert run(body, **channels) == (2, 3.0, 2**41)
    assert [channel.level for channel in channels.values()] == [2, 3.0, 2**41]


def test_objects_of_one_class_have_different_functions(core, run):
    point = Point(core, offset=10)
    inner = Scan(core, count=3, body=point.measure)
    outer = Scan(core, count=4, body=point.fraction)
    plain = Scan(core, count=5, body=twice)
    host = Scan(core, count=6, body=Reader().read)
    body = "return (self.a.run(), self.b.run(), self.c.run(), self.d.run())"
    assert run(body, a=inner, b=outer, c=plain, d=host) == (13, 12.0, 10, 42)


class Reader:
    @rpc
    def read(self, number) -> TInt32:
        return 7 * number


class Nested(Device):
    @kernel
    def go(self):
        return self.inside.go()


def test_objects_hold_objects_of_their_own_class(core, run):
    class Leaf(Device):
        @kernel
        def go(self):
            return self.number

    tree = Nested(core, inside=Nested(core, inside=Leaf(core, number=5)))
    other = Nested(core, inside=Leaf(core, number=2.5))
    assert run("return (self.a.go(), self.b.go())", a=tree, b=other) == (5, 2.5)


def test_attribute_that_one_of_two_objects_has_is_accepted_where_unused(core, run):
    class Card(Device):
        @kernel
        def number(self):
            return self.slot

        @kernel
        def text(self):
            return self.name

    cards = {"a": Card(core, slot=3), "b": Card(core, name="b", slot=2)}
    assert run("return (self.a.number(), self.b.number(), self.b.text())", **cards) == (3, 2, "b")
    with pytest.raises(CompileError, match="does not have an attribute 'name'"):
        run("return self.a.text()", **cards)


def test_list_of_different_objects_is_rejected(core, run):
    channels = [Channel(core, level=1), Channel(core, level=1.5)]
    with pytest.raises(CompileError, match="a host list has objects of one class with attributes of different types"):
        run("for channel in self.all:\n    channel.grow()", all=channels)


def test_incompatible_functions_of_objects_are_rejected(core, run):
    scans = [Scan(core, count=3, body=twice), Scan(core, count=3, body=nothing)]
    with pytest.raises(CompileError) as error:
        run("for scan in self.all:\n    scan.run()", all=scans)
    assert "all functions that this may call must take and return the same" in str(error.value)
    assert run("return (self.a.run(), self.b.run())", a=scans[0], b=Scan(core, count=3, body=halved)) == (6, 1)


def test_many_lists_of_objects_with_different_functions_compile(core, run):
    """More than type inference unifies one by one."""
    groups = [Group(core, [Scan(core, count=i, body=body) for body in (twice, halved)]) for i in range(30)]
    names = {f"g{i}": group for i, group in enumerate(groups)}
    body = "\n".join(["n = 0", *(f"for scan in self.{name}.scans:\n    n += scan.run()" for name in names), "return n"])
    assert run(body, **names) == sum(2 * i + i // 2 for i in range(30))


@pytest.mark.parametrize(
    "value, result",
    [
        (np.uint8(200), 200),
        (np.int8(-3), -3),
        (np.int16(-300), -300),
        (np.uint16(60000), 60000),
        (np.uint32(4000000000), 4000000000),
        (np.uint64(2**62), 2**62),
        (np.float16(1.5), 1.5),
        (np.float32(0.25), 0.25),
        (np.longdouble(2.5), 2.5),
        (np.str_("text"), "text"),
    ],
)
def test_numpy_numbers_of_every_type_are_accepted(run, value, result):
    assert run("return self.value", value=value) == result


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_numpy_arrays_of_every_type_are_accepted(run, dtype):
    assert run("return self.a[0] + self.a[2]", a=np.array([1, 2, 100], dtype=dtype)) == 101


def test_too_large_numpy_numbers_are_rejected(run):
    for value in (np.uint64(2**63), np.array([1, 2**63], dtype=np.uint64)):
        with pytest.raises(CompileError, match="uint64 9223372036854775808 does not fit into 64 bits"):
            run("return self.value", value=value)


class Arguments(Device):
    @kernel
    def narrow(self, x: TInt32) -> TInt32:
        return x

    @kernel
    def wide(self, x: TInt64) -> TInt64:
        return x

    @kernel
    def real(self, x: TFloat) -> TFloat:
        return x

    @kernel
    def total(self, x: TList(TFloat)) -> TFloat:
        total = 0.0
        for element in x:
            total += element
        return total


def test_host_arguments_are_converted_to_declared_types(core):
    arguments = Arguments(core)
    assert arguments.narrow(np.uint8(3)) == 3
    assert arguments.wide(np.uint32(2**32 - 1)) == 2**32 - 1
    assert arguments.real(np.float32(0.5)) == 0.5
    assert arguments.total([1, 2.5, np.float32(0.5)]) == 4.0
    assert arguments.total([]) == 0.0


class Tuples(Device):
    @kernel
    def wide(self, x: TTuple([TInt64, TFloat])) -> TTuple([TInt64, TFloat]):
        return x

    @kernel
    def total(self, x: TTuple([TFloat, TFloat])) -> TFloat:
        return x[0] + x[1]


def test_host_tuples_of_convertible_numbers_are_accepted(core):
    tuples = Tuples(core)
    assert tuples.wide((1, 2.0)) == (1, 2.0)
    assert tuples.wide((2**40, np.float32(0.5))) == (2**40, 0.5)
    assert tuples.total((1.0, 2.0)) == 3.0
    with pytest.raises(CompileError, match="float"):
        tuples.total((1, 2.0))


class Proxy:
    """Has every attribute."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args: self.calls.append((name, args))


def test_device_answering_to_any_name_is_accepted(run):
    proxy = Proxy()
    run("self.dummy.pulse(1.0)\nself.proxy.set(5, True)\nself.proxy.on()", dummy=DummyDevice(), proxy=proxy)
    assert proxy.calls == [("set", (5, True)), ("on", ())]


@pytest.mark.parametrize(
    "body, text",
    [
        ("return self.math.sin(1.0)", "math.sin is not supported in kernels: use numpy.sin"),
        ("return self.math.atan2(1.0, 2.0)", "math.atan2 is not supported in kernels: use numpy.arctan2"),
        ("return self.np.power(1.0, 2.0)", "numpy.power is not supported in kernels: use the operator **"),
        ("return self.np.median([1.0])", "numpy.median is not supported in kernels: compute it on the host"),
    ],
)
def test_unsupported_function_is_rejected_by_name(run, body, text):
    with pytest.raises(CompileError, match=text.replace("*", r"\*")):
        run(body, math=math, np=np)


def test_numpy_function_without_result_is_an_rpc(run):
    target = np.zeros(3)
    run("self.np.copyto(self.target, self.source)", np=np, target=target, source=np.ones(3))


def test_invalid_kernel_invariant_gives_a_warning(core, run, capfd):
    class Other(Device):
        kernel_invariants = {"core", "speed"}

        @kernel
        def get(self):
            return self.level

    a, b = Other(core, level=1, speed=1), Other(core, level=2, speed=2)
    b.kernel_invariants = {"core", "level"}
    c = Other(core, level=3)
    assert run("return self.a.get() + self.b.get() + self.c.get()", a=a, b=b, c=c) == 6
    errors = capfd.readouterr().err
    assert "'level' is a kernel invariant of one" in errors
    assert "'speed' is not a kernel invariant of one" in errors
    assert "names 'speed', which the object does not have" in errors


def test_invariants_of_drivers_exist_without_warning(core, run, capfd):
    run("self.core.reset()")
    assert "warning" not in capfd.readouterr().err
