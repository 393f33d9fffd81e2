# ruff: noqa
"""Common head of the modules of `any_host.py`: classes and functions of every kind."""

import abc, array, cmath, collections, dataclasses, datetime, decimal, enum, fractions, functools, io, math, operator, os
import re, sys, threading, types, typing, weakref
import numpy as np
import numpy
from numpy import int32, int64
from kairos.experiment import *
from kairos.language import *
from kairos.language import host_only, kernel_from_string, syscall, subkernel


class Plain:
    def __init__(self, **values):
        vars(self).update(values)

    @kernel
    def method(self, x):
        return x

    @portable
    def other(self):
        return self.k

    def remote(self, *args) -> TInt32:
        return 1


class Slots:
    __slots__ = ("k", "unset")

    def __init__(self):
        self.k = 3


class Anything:
    """Has every attribute; each access returns a new object."""

    def __getattr__(self, name):
        return Anything()


class Endless:
    def __getattr__(self, name):
        return getattr(self, name + "_")


class Same:
    def __getattr__(self, name):
        return self


class Meta(type):
    def __getattr__(cls, name):
        return cls

    def __eq__(cls, other):
        raise TypeError("not comparable")

    __hash__ = type.__hash__


class WithMeta(metaclass=Meta):
    k = 3


class Properties:
    @property
    def k(self):
        raise ValueError("of the user")

    @property
    def missing(self):
        raise AttributeError("k is not there")

    @property
    def deep(self):
        return self.deep

    @property
    def changing(self):
        vars(self)["n"] = n = vars(self).get("n", 0) + 1
        return [n, float(n), "text"][n % 3]

    @property
    def lone(self):
        raise ValueError("\ud800")

    @property
    def out(self):
        raise SystemExit(3)


class Descriptor:
    def __get__(self, obj, cls=None):
        return 3 if obj is None else self

    def __set__(self, obj, value):
        raise AttributeError("read only")


class Described:
    d = Descriptor()
    k = functools.cached_property(lambda self: 7)


class Hostile:
    __eq__ = None
    __hash__ = None

    def __bool__(self):
        raise ValueError("neither")

    def __len__(self):
        raise ValueError("no length")

    def __dir__(self):
        return [1, None, "k"]

    def __repr__(self):
        raise ValueError("no text")

    __str__ = __repr__

    @property
    def __class__(self):
        return int


class Invariants(Plain):
    pass


class Int(int):
    pass


class Float(float):
    pass


class Str(str):
    pass


class List(list):
    pass


class Dict(dict):
    __getattr__ = dict.__getitem__


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Flags(enum.Flag):
    A = 1


class Named(typing.NamedTuple):
    x: int
    y: float


@dataclasses.dataclass(frozen=True)
class Data:
    k: int = 3
    l: list = dataclasses.field(default_factory=list)


class Array(np.ndarray):
    pass


class MyError(Exception):
    pass


class MetaError(Exception, metaclass=type("M", (type,), {})):
    def __init__(self, a, b):
        pass


class WithNew:
    def __new__(cls, *args):
        return 5


class WithCall:
    def __call__(self, x=1) -> TInt32:
        return 3


class WithContext:
    @kernel
    def __enter__(self):
        return 1

    @kernel
    def __exit__(self, a, b, c):
        pass


class Loop:
    def __init__(self):
        self.me = self
        self.items = [self]


def cyclic_list():
    found = []
    found.append(found)
    return found


def cyclic_pair():
    inner = []
    pair = (inner,)
    inner.append(pair)
    return pair


def deep(kind, levels):
    found = 1
    for _ in range(levels):
        found = kind((found,))
    return found


def chain(levels):
    found = Plain(k=1)
    for _ in range(levels):
        found = Plain(k=1, next=found)
    return found


def dynamic(text, name="f"):
    scope = {}
    exec(text, {"kernel": kernel, "rpc": rpc, "portable": portable}, scope)
    return scope[name]


def recoded():
    @kernel
    def f(self):
        return 1

    def g(a, b, c):
        return a

    f.artiq_embedded.function.__code__ = g.__code__
    return f


def renamed(name):
    @kernel
    def f():
        return 1

    f.artiq_embedded.function.__name__ = f.artiq_embedded.function.__qualname__ = f.__name__ = name
    return f


def annotated(annotation, returns=None):
    @portable
    def f(a=1):
        return 1

    f.artiq_embedded.function.__annotations__ = {"a": annotation, "return": returns}
    return f


def defaulted(value):
    @portable
    def f(a=value):
        return 1

    return f


def module(**values):
    found = types.ModuleType(values.pop("name", "m"))
    vars(found).update(values)
    return found


@portable
def recursive(x):
    return recursive(x)


@portable
def first(x):
    return second(x)


@portable
def second(x):
    return first(x)


@rpc
def remote(*args, **kwargs) -> TList(TInt32):
    return []


@rpc(flags={"async"})
def later(*args):
    pass


@host_only
def forbidden():
    pass


@portable
def over(x, *, y=1):
    return x


@portable
def rest(*args):
    return 1


async def coroutine():
    pass


def generator():
    yield 1
