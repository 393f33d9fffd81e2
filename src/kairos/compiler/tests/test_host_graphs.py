"""Host objects of unusual kinds: the compiler accepts them, or describes the problem in a sentence.

`tests/language/any_host.py` searches for more of them at random; its findings are collected here.
"""

import numpy as np
import pytest

from kairos import compiler
from kairos.compiler.tests.jit import Core, Experiment, compile_body
from kairos.errors import CompileError
from kairos.language import kernel, kernel_from_string


class Node:
    def __init__(self, number, behind=None):
        self.number = number
        self.behind = behind


class Anything:
    """Has every attribute, each a new object."""

    def __getattr__(self, name):
        return Anything()


class Same:
    def __getattr__(self, name):
        return self


def cyclic():
    found = []
    found.append(found)
    return found


def deep(levels):
    found = 1
    for _ in range(levels):
        found = [found]
    return found


def rejected(body, **attributes):
    with pytest.raises(CompileError) as error:
        compile_body(body, **attributes)
    return str(error.value)


def compile_call(argument):
    function = kernel_from_string(["self", "argument"], "pass", decorator=kernel)
    compiler.compile_kernel(function, (Experiment(), argument), {}, core=Core(), set_result=None)


def test_long_chain_of_objects_compiles():
    """Longer than the depth of the stack."""
    last = Node(0)
    last.behind = first = last
    for number in range(20_000):
        first = Node(number, first)
    compile_body("return self.first.behind.behind.number", first=first)


def test_endless_object_graph_is_rejected():
    message = rejected("return self.any.one.two", any=Anything())
    assert "the kernel reaches more than 65536 host objects" in message
    assert "makes a new one on every read" in message


def test_object_answering_to_any_attribute_compiles():
    compile_body("x = self.same.one.two.three", same=Same())


@pytest.mark.parametrize("value", [cyclic(), deep(102), deep(50_000), ([], cyclic())])
def test_cyclic_or_deep_list_is_rejected(value):
    message = rejected("return len(self.value)", value=value)
    assert "a list or tuple contains itself, or more than 100 of them are inside each other" in message
    with pytest.raises(CompileError, match="contains itself"):
        compile_call(value)


def test_nested_lists_of_moderate_depth_compile():
    compile_body("return self.value[0][0][0][0]", value=deep(5))


@pytest.mark.parametrize("body", ["return self.value[0][0][0]", "x = [self.value, self.value]", "print(self.value)"])
def test_tuples_of_a_hundred_levels_compile(body):
    """In time that grows with their depth: it doubled with each level."""
    value = 1
    for _ in range(98):
        value = (value,)
    compile_body(body, value=value)


def test_text_that_cannot_be_encoded_is_rejected():
    for value in ["\ud800", ["a", "\udfff"], np.array(["\ud800"])]:
        assert "halves of surrogate pairs" in rejected("x = self.value", value=value)


def test_data_beyond_device_memory_is_rejected():
    """The array is never materialised: the host might not have room for it either."""
    huge = np.broadcast_to(np.float64(1), (1 << 20, 1 << 20))
    message = rejected("return self.huge[0, 0]", huge=huge)
    assert "a NumPy array of 8796093022208 bytes: the device has 16 MiB for a kernel and its data" in message


def test_exception_of_an_argument_is_a_call_error():
    class Raises:
        def __getattr__(self, name):
            raise ValueError("of the user")

    with pytest.raises(CompileError, match="an argument of the call cannot be read: ValueError: of the user"):
        compile_call(Raises())


def test_keyboard_interrupt_is_passed_on_unchanged():
    class Slow:
        @property
        def x(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_body("return self.slow.x", slow=Slow())
