"""Widths of integers: those of literals, defaults, globals and host values follow from their use."""

import numpy as np
import pytest
from numpy import int64

from kairos import compiler
from kairos.compiler.tests.jit import Compiled, Core, Experiment, compile_body
from kairos.language import TFloat, TInt32, TInt64, TList, TTuple, kernel, now_mu

N = 5
LARGE = 2**33
NUMBERS = [1, 2, 3]
MASKS = [0x80000008, 0xFFFFFFFF]


class Widths(Experiment):
    @kernel
    def wide(self, x: TInt64 = 1) -> TInt64:
        return x

    @kernel
    def narrow(self, x: TInt32) -> TInt32:
        return x

    @kernel
    def wide_list(self, x: TList(TInt64)) -> TInt64:
        return x[0] + x[1]

    @kernel
    def narrow_list(self, x: TList(TInt32)) -> TInt32:
        return x[0] ^ x[1]

    @kernel
    def pair(self, x: TTuple([TInt64, TFloat])) -> TInt64:
        a, b = x
        return a * 2 + int64(b)

    @kernel
    def wait(self, timeout_mu=-1):
        if timeout_mu < 0:
            return timeout_mu
        return timeout_mu + now_mu()

    @kernel
    def waits(self):
        t = now_mu()
        self.wait()
        return self.wait(t + 5)

    @kernel
    def default(self):
        return self.wide()

    @kernel
    def later_wide(self):
        t = -1
        if self.bool():
            t = now_mu()
        return t

    @kernel
    def globals(self):
        return self.wide(N) + self.wide_list(NUMBERS) + self.wide(LARGE) + self.narrow(N)

    @kernel
    def masks(self):
        return self.narrow_list(MASKS)

    @kernel
    def narrowed(self):
        t = self.int64()
        a = self.narrow(t & 0xFF)
        b = self.narrow(t << 8)
        c = self.narrow(t + 1)
        d = self.narrow(t // 3)
        e = self.narrow(t >> 36)
        return (a, b, c, d, e)

    @kernel
    def words(self):
        a = self.int32()
        x = self.narrow(0x80000008 | (a & 7) << 28)
        y = self.narrow((0xFFFFFFFF ^ a) + 1)
        z = [0x80000000 | a, 0xFFFFFFFE]
        return (x, y, self.narrow_list(z))


def run(kernel_method, *inputs, args=()):
    compiled = Compiled(kernel_method, args, Core())
    result = compiled.run(*inputs)
    assert result.exception is None, result.exception
    return result.value


def test_literals_defaults_and_globals_are_widened():
    widths = Widths()
    assert run(widths.default) == 1
    assert run(widths.later_wide, False) == -1
    assert run(widths.waits) == 5
    assert run(widths.globals) == 5 + 3 + LARGE + 5
    assert run(widths.masks) == 0x80000008 ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    "method, arg, value",
    [
        ("wide", 5, 5),
        ("wide", 2**40, 2**40),
        ("wide_list", [1, 2], 3),
        ("wide_list", [1, 2**40], 1 + 2**40),
        ("wide_list", [np.int32(1), 2**40], 1 + 2**40),
        ("narrow_list", [1, 2], 3),
        ("pair", (1, 2.0), 4),
        ("narrow", 0xFFFFFFFF, -1),
        ("narrow", -(2**31), -(2**31)),
    ],
)
def test_host_argument_is_widened_by_its_use(method, arg, value):
    assert run(getattr(Widths(), method), args=(arg,)) == value


def test_mixed_host_lists_are_widened():
    body = "return self.a[0] + self.a[1] + self.b[1][0] + self.c[0][0]"
    compiled = compile_body(body, a=[1, 2**40], b=[[1], [2**41]], c=[[np.int64(1)], [2]])
    assert compiled.run().value == 1 + 2**40 + 2**41 + 1
    compiled = compile_body("return self.a[0] + self.b[1][0] / 2", a=[1, 2.5], b=[[1.5], [3]])
    assert compiled.run().value == 2.5
    with pytest.raises(compiler.CompileError, match="elements of different types"):
        compile_body("return self.a[0]", a=[1, [2]])


def test_empty_host_list_is_typed_from_use():
    assert compile_body("for t in self.a:\n    delay(t)\nreturn len(self.a)", a=[]).run().value == 0
    assert compile_body("for t in self.a:\n    print(t)\nreturn len(self.a)", a=[]).run().value == 0
    assert compile_body("print(self.a)", a=[]).run().calls == (("async", ([],)),)


def test_words_with_bit_31_wrap_to_int32():
    for a in (0, 5, -1, -(2**31)):
        x, y, z = run(Widths().words, a)
        wanted = (0x80000008 | (a & 7) << 28, (0xFFFFFFFF ^ a) + 1, (0x80000000 | a) ^ 0xFFFFFFFE)
        assert (x, y, z) == tuple(int(np.uint32(v & 0xFFFFFFFF).view(np.int32)) for v in wanted)


@pytest.mark.parametrize("t", [0, 1, -1, 2**40 + 12345, -(2**50) - 7])
def test_narrowed_expression_is_computed_in_64_bits(t):
    wanted = (t & 0xFF, t << 8, t + 1, t // 3, t >> 36)
    assert run(Widths().narrowed, t) == tuple(int(np.uint32(v & 0xFFFFFFFF).view(np.int32)) for v in wanted)


def front_end(method, *args):
    program, _ = compiler._front_end(method, args, {}, Core(), None, False)
    return program


def test_narrowing_warning_has_its_position():
    warnings = front_end(Widths().narrowed).warnings()
    assert len(warnings) == 5
    assert all("truncated to numpy.int32" in text and "test_widths.py:" in text for text in warnings)
    assert "a = self.narrow(t & 0xFF)" in warnings[0]
    assert "^^^^^^^^" in warnings[0]


@pytest.mark.parametrize("method", ["words", "globals", "masks", "waits", "later_wide"])
def test_constants_are_narrowed_without_warning(method):
    assert front_end(getattr(Widths(), method)).warnings() == []


def test_strict_mode_makes_warnings_errors():
    with pytest.raises(compiler.CompileError, match="truncated to numpy.int32"):
        compiler.compile_kernel(Widths().narrowed, (), {}, core=Core(), set_result=None, strict=True)
    compiler.compile_kernel(Widths().words, (), {}, core=Core(), set_result=None, strict=True)


@pytest.mark.parametrize(
    "body, value",
    [
        ("x = 0\nx |= self.number.get()\nx &= 0xff\nx ^= 3\nx <<= 2\nx >>= 1\nreturn x", ((7 ^ 3) << 2) >> 1),
        ("x = int64(0)\nx |= self.number.get()\nreturn x", 7),
        ("x = 0\nfor i in range(3):\n    x |= later\n    later = self.number.get()\nreturn x", None),
        ("x = 0\nx += self.int64()\nreturn x", 2**40),
        ("x = 0x80000000\nx |= self.number.get()\nreturn self.number.word(x)", -(2**31) + 7),
    ],
)
def test_augmented_assignment_of_late_typed_variable_is_widened(body, value):
    class Number:
        kernel_invariants = {"core"}

        def __init__(self):
            self.core = Core()
            self.value = 7

        @kernel
        def get(self):
            return self.value

        @kernel
        def word(self, x: TInt32):
            return x

    if value is None:
        with pytest.raises(compiler.CompileError, match="not always initialized"):
            compile_body(body, number=Number())
        return
    result = compile_body(body, number=Number()).run(*[2**40] * ("int64()" in body))
    assert (result.value, result.exception) == (value, None)


def test_explicit_width_is_not_changed():
    for body in ("self.n = self.int64() + int64(1)", "self.n = now_mu()", "x = int32(1)\nx = self.int64()"):
        with pytest.raises(compiler.CompileError, match="cannot unify numpy.int32 with numpy.int64"):
            compile_body(body, n=0)
    with pytest.raises(compiler.CompileError, match="the integer 4294967296 does not fit into numpy.int32"):
        compile_body("self.n = 4294967296", n=0)
    with pytest.raises(compiler.CompileError, match="the integer 4294967296 does not fit into numpy.int32"):
        Compiled(Widths().narrow, (2**32,), Core())
    with pytest.raises(compiler.CompileError, match="in a host list: the integer 4294967296 does not fit"):
        Compiled(Widths().narrow_list, ([1, 2**32],), Core())


def test_delay_accepts_literals_and_loop_variables():
    assert compile_body("for i in range(3):\n    delay_mu(i)\ndelay_mu(5)").run().now == 3 + 5
