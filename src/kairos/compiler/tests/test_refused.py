"""What the reference refuses and what would go wrong in silence: a diagnostic for each."""

import pytest

from kairos import compiler
from kairos.compiler.tests.jit import Core
from kairos.language import kernel, syscall


@syscall
def no_annotation():
    raise NotImplementedError


class OnTheHost:
    def __enter__(self):
        pass

    def __exit__(self, *exception):
        pass


class Wrong:
    def __init__(self):
        self.core = Core()
        self.manager = OnTheHost()

    @kernel
    def without_self():
        pass

    @kernel
    def call_without_self(self):
        self.without_self()

    @kernel
    def call_no_annotation(self):
        no_annotation()

    @kernel
    def enter_the_host(self):
        with self.manager:
            pass


@pytest.mark.parametrize(
    "method, text",
    [
        ("call_without_self", "is a method, but takes no 'self'"),
        ("call_no_annotation", "the system call no_annotation does not say what it returns"),
        ("enter_the_host", "'__enter__' runs on the host; a context manager in a kernel has kernels"),
    ],
)
def test_it_is_refused(method, text):
    wrong = Wrong()
    with pytest.raises(compiler.CompileError) as error:
        compiler.emit("types", getattr(Wrong, method), (wrong,), core=wrong.core)
    assert text in str(error.value)
