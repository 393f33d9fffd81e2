# ruff: noqa: F401, F403, F405
"""Names available to the programs of this folder: `from tests.language.diagnostics.host import *`."""

import cmath
import math

import numpy as np
from numpy import int32, int64

from kairos.experiment import *
from kairos.language import *
from kairos.language import host_only, subkernel, syscall

__all__ = [name for name in globals() if not name.startswith("_")]
__all__ += ["Host", "Other", "Manager", "Point", "MyError", "remote", "later", "hosts", "kernel_of_ints", "no_source"]


class Other:
    kernel_invariants = {"level"}

    def __init__(self):
        self.level = 1
        self.items = [1, 2]

    @portable
    def method(self, x):
        return x


class Manager:
    @kernel
    def __enter__(self):
        pass

    @kernel
    def __exit__(self, kind, value, traceback):
        pass

    def __eq__(self, other):
        return True


class Point:
    """A class instantiated by kernels."""

    @portable
    def __init__(self, x):
        self.x = x

    def of_the_host(self):
        return 1


class MyError(Exception):
    pass


class Host:
    """The `self` of a kernel."""

    kernel_invariants = {"core", "fixed"}

    def __init__(self, core):
        self.core = core
        self.fixed = 1
        self.number = 1
        self.wide = int64(1)
        self.real = 0.5
        self.flag = True
        self.name = "text"
        self.none = None
        self.pair = (1, 2.5)
        self.list = [1, 2, 3]
        self.floats = [1.0, 2.0]
        self.bytes = b"ab"
        self.bytearray = bytearray(b"ab")
        self.array = np.array([1.0, 2.0])
        self.ints = np.array([1, 2], dtype=np.int32)
        self.truths = np.array([True, False])
        self.matrix = np.zeros((2, 3))
        self.complex = 1j
        self.other = Other()
        self.manager = Manager()

    @kernel
    def helper(self, x):
        return x


@rpc
def remote(*args, **kwargs):
    pass


@rpc(flags={"async"})
def later():
    pass


@host_only
def hosts():
    pass


@portable
def kernel_of_ints(x: TInt32, y: TInt32 = 2) -> TInt32:
    return x + y


def no_source():
    scope = {"portable": portable}
    exec("@portable\ndef f():\n    pass", scope)
    return scope["f"]
