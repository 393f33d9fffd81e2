"""Rejected programs: one diagnostic each, which names the construct and its line."""

import pickle
import re

import numpy as np
import pytest

from kairos import compiler
from kairos.compiler.tests.jit import Core, Experiment, compile_body
from kairos.diagnostics import MISSING_ATTRIBUTE
from kairos.language import TFloat, TInt32, host_only, kernel, kernel_from_string, rpc


def rejected(body, **attributes):
    with pytest.raises(compiler.CompileError) as error:
        compile_body(body, **attributes)
    return str(error.value)


@pytest.mark.parametrize(
    "body, text",
    [
        ("return undefined", "name 'undefined' is not bound to anything"),
        ("return rang(3)", "did you mean 'range'?"),
        ("x = 1\nx += 1.5", "the result of this operation has type float, which cannot be assigned"),
        ("x = 5\nx /= 2", "the result of this operation has type float"),
        ("return [1, 2.0]", "cannot unify numpy.int? with float"),
        ("return 'a' - 1", "'-' is not possible with a str and an int"),
        ("x = True\nx += 1", "has type numpy.int?, which cannot be assigned to a variable of type bool"),
        ("x = True\nx |= 2", "has type numpy.int?, which cannot be assigned to a variable of type bool"),
        ("return 1 << 2.0", "expected '<<' operand to be of integer type, not float"),
        ("return ~1.0", "expected '~' operand to be of integer type, not float"),
        ("return True and 1", "cannot unify bool with numpy.int?"),
        ("return round(1)", "cannot unify float with numpy.int?"),
        ("return int('1')", "int cannot be invoked with the arguments (str)"),
        ("return float('1')", "float cannot be invoked with the arguments (str)"),
        ("x = str(1, 2)", "'str' takes 0 to 1 argument(s), 2 are passed"),
        ("return max(1, 2.0)", "cannot unify numpy.int? with float"),
        ("delay(1)", "write 1.0 instead of 1"),
        ("x = int32(5)\ndelay_mu(x)", "use int64(…) to widen it"),
        ("return 9223372036854775808", "integer literal out of range for a signed 64-bit value"),
        ("return 1j", "numeric type complex is not supported"),
        ("for i in range(3):\n    pass\nprint(i)", "variable 'i' is not always initialized here"),
        ("if self.bool():\n    y = 1\nreturn y", "variable 'y' is not always initialized here"),
        ("if self.bool():\n    return 1", "this function must return a value of type numpy.int32 explicitly"),
        ("x = None\nx = 1", "cannot unify NoneType with numpy.int"),
        ("x = [1]\nx.append(3)", "type list(elt=numpy.int?) does not have an attribute 'append'"),
        ("x = [1]\nx += [3]", "lists cannot be mutated in-place"),
        ("t = (1, 2)\nreturn t[-3]", "index -3 is out of range"),
        ("t = (1, 2)\ni = 0\nreturn t[i]", "tuples can only be indexed by a constant"),
        ("t = (1, 2)\nreturn t[2]", "index 2 is out of range"),
        ("t = (1, 2)\nt[0] = 5", "cannot assign to a tuple element"),
        ("a, b = 1, 2, 3", "cannot assign a value of type"),
        ("a, b = [1, 2]", "cannot assign a value of type"),
        ("return 1 in 'abc'", "cannot unify str with numpy.int?"),
        ("x = 'abc'\nx[0] = 'x'", "type str is not mutable"),
        ("return len(1)", "has no length"),
        ("raise ValueError(self.number)", "the message of an exception must be a text, not an int32"),
        ("raise 5", "this expression must refer to an exception constructor"),
        ("with 5:\n    pass", "value of type numpy.int? cannot act as a context manager"),
        ("self.number = 1.0", "cannot unify numpy.int32 with float"),
        ("self.missing = 1", "host object does not have an attribute 'missing'"),
        ("return self.nmae", "did you mean 'name'?"),
        ("self.core = self.core", "cannot assign to constant attribute 'core'"),
        ("return self.core.ref_period()", "cannot call this expression of type float"),
        ("x = 'abc'\nx[0:1] = 'x'", "type str is not mutable"),
        ("x = [1, 2]\nx[0:1] = 3", "cannot unify list(elt=numpy.int?) with numpy.int?"),
        ("[a, b] = (1, 2)", "cannot assign a value of type (numpy.int?, numpy.int?) to a list"),
        ("self.name = self.name + 'x'", "the assigned value does not outlive the assignment target"),
        ("return [self] < [self]", "Custom object comparison is not supported"),
        ("return (1, 2) == (1, 2, 3)", "cannot unify"),
        ("return None < None", "'<' on NoneType is not supported yet"),
        ("return np.array((1, 2))", "the argument of array() must be of an iterable type"),
        ("return self.vector + self.matrix", "dimensions of '+' array operands must match"),
        ("x = self.vector & 1", "operator '&' not valid for array types"),
        ("x = self.vector[1, 2]", "too many indices for array of dimension 1"),
        ("x = self.matrix\nx = self.matrix.T", "use .copy() on it"),
        ("x = self.matrix.cumsum()", "does not have an attribute 'cumsum'"),
        ("self.matrix.shape = (1, 2)", "cannot be assigned to"),
        ("x = [1] @ [2]", "'@' on list(elt=numpy.int?) is not supported yet"),
        ("x = self.vector @ 1.0", "'@' works on arrays of one or two dimensions"),
        ("self.vector += self.matrix", "dimensions of '+' array operands must match"),
        ("self.numbers_array += self.vector", "the result of this operation has type float"),
        ("x = np.sqrt(4)", "cannot unify float with numpy.int?"),
        ("x = np.sqrt(4.0, 1.0)", "'sqrt' takes 1 argument(s), 2 are passed"),
        ("x = np.array([1], dtype=str)", "this type cannot be the element type"),
        ("x = np.array([1], copy=True)", "'array' does not accept argument 'copy' in a kernel"),
        (
            "x = self.complex_array",
            "a NumPy array of 1 dimensions of complex128: kernels have arrays of integers, floats",
        ),
        ("x = [1, 2]\nreturn x[0.5:]", "a bound of a slice must be an integer, not float"),
        ("x = [i for i in [1] if (y := i)]\nreturn y", "variable 'y' is not always initialized here"),
        ("if self.bool() and (y := 1) > 0:\n    pass\nreturn y", "variable 'y' is not always initialized here"),
        ("for i in range(3):\n    self.name = (x := self.name + 'x')", "does not outlive the assignment target"),
        ("for c in self.name + 'x':\n    self.name = c", "does not outlive the assignment target"),
        ("x = len(x)", "the type of this expression cannot be fully inferred"),
        ("x += 1\nn = 1\nn = len(x)", "the type of this expression cannot be fully inferred"),
        ("x += 1\nn = 1.0\nn = x[0]", "the type of this expression cannot be fully inferred"),
        ("x += 1\nn = True\nn = x.missing", "the type of this expression cannot be fully inferred"),
        ("x += 1\nn = 1\nn = x(n)", "the type of this expression cannot be fully inferred"),
        ("x += 1\nn = 1\nfor n in x:\n    pass", "the type of this expression cannot be fully inferred"),
        ("t0 = (1, 2)\n" + "".join(f"t{i + 1} = (t{i}, t{i})\n" for i in range(40)), "a tuple of 2048 values"),
        ("t0 = (1, 2)\n" + "".join(f"t{i + 1} = t{i} + t{i}\n" for i in range(40)), "a tuple of 2048 values"),
        ("x = list(3)", "type numpy.int? is not iterable"),
        ("return (1, 2) + 3", "'+' is not possible with a tuple (int, int) and an int"),
        ("x = zip([1], [2])", "zip cannot be stored or passed on in a kernel"),
        ("x = [reversed([1])]", "reversed cannot be stored or passed on in a kernel"),
        ("def f(x):\n    pass\nf(y for y in [1])", "generator cannot be stored or passed on in a kernel"),
        ("for x in zip(1, [2]):\n    pass", "type numpy.int? is not iterable"),
        ("for x in (1, 2.0):\n    pass", "only a tuple whose elements have one type is iterable"),
        ("for x in reversed(zip([1])):\n    pass", "zip can only be iterated forwards"),
        ("x = sum(['a'])", "cannot coerce str to a numeric type"),
        ("x = sum([1], begin=2)", "'sum' does not accept argument 'begin' in a kernel"),
        ("x = zip([1], strictly=True)", "'zip' does not accept argument 'strictly'"),
        ("x = enumerate([1], 2, start=3)", "'enumerate' takes 1 to 2 argument(s), 2 are passed"),
        ("x = any(self.matrix)", "the truth value of an array is ambiguous"),
        ("x = sorted([[1], [2]])", "sorted() cannot order elements of type list(elt=numpy.int?)"),
        ("x = sorted([1], key=[abs][0])", "'key' of sorted() must be the name of a function, or a lambda"),
        ("x = sorted([1], keys=abs)", "'sorted' does not accept argument 'keys' in a kernel"),
        ("x = sorted([1], key=lambda x, y=1: x)", "'key' of sorted() must be the name of a function, or a lambda"),
        ("x = sorted([1], key=lambda x: [x])", "sorted() cannot order keys of type list(elt=numpy.int?)"),
        ("x = sorted([1], reverse=self.bool())", "'reverse' must be written as True or False"),
        ("x = list(y for y in [1])", "a generator expression cannot be stored"),
        ("x = (y for y in [1])", "a generator expression that is not the only argument of a call"),
        ("x = isinstance(1, 2)", "isinstance() takes a class or a tuple of classes, not numpy.int"),
        ("x = isinstance(1, np)", "isinstance() requires a class, not the module numpy"),
        ("x = isinstance(1)", "'isinstance' takes 2 argument(s), 1 are passed"),
        (
            "try:\n    pass\nexcept ValueError as e:\n    x = isinstance(e, ValueError)",
            "the class of an exception is not known",
        ),
        ("if isinstance(x, int):\n    x = 1", "the type of this expression cannot be fully inferred"),
        ("super().missing()", "super() works in methods that are defined in the class of the object"),
        ("super(1, self).missing()", "the first argument of super() must be a class"),
        ("super(self).missing()", "super() takes no arguments or two"),
        ("def f():\n    super().run()\nf()", "super() without arguments does not know its class"),
        ("return {1: 2}", "a dictionary is not supported yet"),
        ("self.name = f'{self.number}'", "the assigned value does not outlive the assignment target"),
        ("x = f'{len}'", "type <function len> is not supported in remote procedure calls"),
        ("return lambda: 1", "cannot return an allocated value that does not live forever"),
        ("def f():\n    return y\ny = 1\nf()", "variable 'y' can be captured in a closure uninitialized here"),
        ("def f(*a):\n    pass", "variadic arguments are not supported; 'a' is variadic"),
        ("@rpc\ndef f():\n    pass", "a decorator of a function inside a kernel"),
        ("def f(x):\n    return x\nf(1, 2)", "'f' accepts at most 1 arguments, 2 are passed"),
        ("f = lambda x: x\nf(1)\nf(1.0)", "cannot unify numpy.int"),
        ("f = lambda: 1\nf = lambda: 2.0\nf()", "cannot unify"),
        ("self.mark(lambda: 1)", "does not have an attribute 'mark'"),
        ("import os", "'import' inside a kernel is not supported yet"),
        ("x: TInt64 = self.number", "cannot unify numpy.int64 with numpy.int32"),
        ("x: Nothing = 1", "type annotation for variable, 'Nothing', cannot be evaluated"),
        ("'ab'[0:1] += 'c'", "type str is not mutable"),
        ("x = [1, 2]\nx[0:1] += [3]", "lists cannot be mutated in-place"),
        ("return ValueError('x')", "cannot return an allocated value that does not live forever"),
        ("with watchdog(1):\n    pass", "the time in seconds has type numpy.int?"),
        ("del self", "'del' is not supported yet"),
        ("with interleave:\n    while self.number > 0:\n        delay_mu(1)", "while statement cannot be interleaved"),
        ("with interleave:\n    if self.number > 0:\n        delay_mu(1)", "if statement cannot be interleaved"),
        ("with interleave:\n    try:\n        delay_mu(1)\n    finally:\n        pass", "try statement cannot be"),
        ("with interleave:\n    with parallel:\n        delay_mu(1)", "with statement cannot be interleaved"),
        ("x = now_mu()\nwith interleave:\n    delay_mu(x)", "an argument cannot be statically evaluated"),
        ("with interleave:\n    for x in self.numbers:\n        delay_mu(1)", "iteration count is indeterminate"),
        ("with interleave:\n    delay_mu(1)\n    return", "cannot interleave this 'with interleave:' statement"),
        ("with interleave:\n    for i in range(20000):\n        delay_mu(1)", "10000 steps cannot be interleaved"),
        ("with interleave:\n    f = [delay_mu(1) for i in range(2)]", "not possible to interleave this function call"),
        ("core_log(1, end='')", "'core_log' takes no keyword arguments"),
        ("rtio_log()", "'rtio_log' takes at least 1 argument(s), 0 are passed"),
        ("rtio_log(1, 'text')", "the name of the log's channel has type numpy.int?, but str is needed"),
        ("core_log(self)", "cannot be written to the log"),
        ("core_log([len])", "cannot be written to the log"),
        ("return print(*[])", "a starred expression is not supported yet"),
        ("self.numbers = [1]", "the assigned value does not outlive the assignment target"),
        ("l = self.numbers\nl = [1]", "the assigned value does not outlive the assignment target"),
        ("return self.complex", "a host value of type complex cannot be used in a kernel"),
    ],
)
def test_diagnostics_name_the_construct_and_the_line(body, text):
    arrays = {"vector": np.zeros(3), "matrix": np.zeros((2, 3)), "numbers_array": np.arange(3)}
    arrays["complex_array"] = np.array([1j])
    message = rejected(body, name="x", number=1, complex=1j, numbers=[1], **arrays)
    assert message.startswith("error: ")
    assert text in message
    assert "<kernel_from_string" in message


class Callee(Experiment):
    values = (1, "mixed")

    @kernel
    def two(self, a, b=2):
        return a + b

    @kernel
    def number(self, x: TInt32):
        return x

    @host_only
    def secret(self):
        pass

    @rpc(flags={"async"})
    def later(self) -> TInt32:
        return 1

    @kernel
    def too_many(self):
        self.two(1, 2, 3)

    @kernel
    def missing(self):
        self.two()

    @kernel
    def unknown(self):
        self.two(1, c=3)

    @kernel
    def twice(self):
        self.two(1, a=1)

    @kernel
    def wrong_type(self):
        self.number(1.0)

    @kernel
    def monomorphic(self):
        self.two(1)
        self.two(1.5)

    @kernel
    def host_secret(self):
        self.secret()

    @kernel
    def async_result(self):
        self.later()

    @kernel
    def not_int(self, x: int):
        pass


@pytest.mark.parametrize(
    "name, text",
    [
        ("too_many", "'two' accepts at most 2 arguments, 3 are passed"),
        ("missing", "mandatory argument 'a' of 'two' is not passed"),
        ("unknown", "'two' does not accept argument 'c'"),
        ("twice", "the argument 'a' has been passed earlier as positional"),
        ("wrong_type", "cannot unify numpy.int32 with float"),
        ("monomorphic", "cannot unify"),
        ("host_secret", "this function cannot be called as an RPC"),
        ("async_result", "functions that return a value cannot be defined as async RPCs"),
    ],
)
def test_invalid_call_is_rejected_with_its_place(name, text):
    with pytest.raises(compiler.CompileError) as error:
        compiler.compile_kernel(getattr(Callee(), name), (), {}, core=Core(), set_result=None)
    assert text in str(error.value)
    assert "test_errors.py:" in str(error.value)


def test_annotation_int_is_rejected_with_the_remedy():
    with pytest.raises(compiler.CompileError, match="Use numpy's int32 or int64 instead"):
        compiler.compile_kernel(Callee().not_int, (1,), {}, core=Core(), set_result=None)


def test_diagnostic_shows_place_line_and_cause():
    place, *lines = rejected("x = 1\ny = x + undefined\n").splitlines()[1:]
    assert re.fullmatch(r"  --> <kernel_from_string \d+>:3:13", place)
    assert lines == [
        "  |",
        "3 |     y = x + undefined",
        "  |             ^^^^^^^^^ not known here",
    ]


def test_attributes_of_different_types_are_rejected():
    class Device:
        def __init__(self, x):
            self.x = x

    message = rejected("return (self.a.x if self.a.x == 1 else self.b.x)", a=Device(1), b=Device(2.0))
    assert "cannot unify numpy.int32 with float" in message
    message = rejected("d = self.a\nd = self.b\nx = self.a.x + self.b.x", a=Device(1), b=Device(2.0))
    assert "they are objects of one class whose attributes have different types" in message


def test_second_object_without_an_attribute_is_divided_from_the_first():
    class Device:
        def __init__(self, **attributes):
            vars(self).update(attributes)

    bodies = "x = self.a.x\ny = self.b.y", "x = self.a.x\ny = self.b.x"
    first, second = Device(x=1, y=2), Device(y=3)
    compile_body(bodies[0], a=first, b=second)
    assert "does not have an attribute 'x'" in rejected(bodies[1], a=first, b=second)


@pytest.mark.parametrize(
    "body, kind",
    [
        ("return self.missing", MISSING_ATTRIBUTE),
        ("return self.number.real", MISSING_ATTRIBUTE),
        ("return module.missing", MISSING_ATTRIBUTE),
        ("return undefined", ""),
    ],
)
def test_diagnostic_of_a_missing_attribute_has_its_kind(body, kind):
    with pytest.raises(compiler.CompileError) as caught:
        compile_body(body.replace("module", "self.module"), number=1, module=np)
    assert caught.value.diagnostic.kind == kind


def test_compile_error_has_its_diagnostic():
    with pytest.raises(compiler.CompileError) as caught:
        compile_body("return self.number + self.lenght", number=1, length=2)
    diagnostic = caught.value.diagnostic
    assert diagnostic.message == "host object does not have an attribute 'lenght'" == diagnostic.message()
    assert diagnostic.level == "error"
    assert diagnostic.location == diagnostic.place
    assert diagnostic.place.end[1] - diagnostic.place.start[1] == len("lenght")
    assert [note.message() for note in diagnostic.notes] == ["did you mean 'length'?"]
    assert "\n".join(diagnostic.render()) == str(caught.value) == diagnostic.text
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.diagnostic) == (str(caught.value), diagnostic)


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_error_after_a_separator_that_ends_no_line_has_its_line(separator):
    body = f"text = 'a{separator}b'\nreturn self.lenght"
    with pytest.raises(compiler.CompileError) as caught:
        compile_body(body, length=2)
    diagnostic = caught.value.diagnostic
    assert re.search(r"<kernel_from_string \d+>:3:", str(caught.value))
    assert "\n".join(diagnostic.render()) == diagnostic.text
    assert len(diagnostic.render(only_line=True)) == 2


class Untyped:
    def __init__(self):
        self.core = Core()

    def read(self):
        """Has no return annotation."""

    @rpc
    def typed(self) -> TFloat:
        return 1.5


@pytest.mark.parametrize(
    "body",
    [
        "x = self.read() + 1.0",
        "x = self.read()\nreturn x * 2",
        "x = 1.0\nx = self.read()",
        "if self.read() > 1:\n    pass",
        "return self.typed() + self.read()",
        "delay(self.read())",
    ],
)
def test_host_function_without_return_annotation_is_named(body):
    function = kernel_from_string(["self"], body, decorator=kernel)
    with pytest.raises(compiler.CompileError, match=r"'read' runs on the host; .*'def read\(…\) -> TFloat:'"):
        compiler._front_end(function, (Untyped(),), {}, Core(), None, False)


@pytest.mark.parametrize(
    "body, where, words",
    [
        ("x = 1\nx = 'a'", "x = 1", "'x' is an int here"),
        ("for i in range(3):\n    y = [1.5]\ny = [True]", "y = [1.5]", "'y' is a list of float here"),
        ("return [1, 'a']", "[1, 'a']", "this is an int"),
        ("if self.typed() > 1.0:\n    return 1\nreturn (1, 2)", "return 1", "returns an int here"),
        ("x = 1 if self.typed() > 1.0 else None", "x = 1", "this is an int"),
        ("def f(x):\n    return x\nx = 'a'\nfor x in range(3):\n    pass", "x = 'a'", "'x' is a str here"),
    ],
)
def test_type_errors_name_the_other_place_in_words(body, where, words):
    function = kernel_from_string(["self"], body, decorator=kernel)
    with pytest.raises(compiler.CompileError) as caught:
        compiler._front_end(function, (Untyped(),), {}, Core(), None, False)
    text = str(caught.value)
    assert "cannot unify" in text and where in text and words in text
