"""Constructs that the reference rejects, and those that would fail silently: a diagnostic for each."""

import importlib.util

import pytest

from kairos import compiler
from kairos.compiler.tests.jit import Core
from kairos.language import TInt32, TInt64, TNone, kernel, syscall


@syscall
def no_annotation():
    raise NotImplementedError


@syscall("rtio_get_counter")
def counter() -> TInt32:
    raise NotImplementedError


@syscall
def rtio_output(target: TInt32, data: TInt64) -> TNone:
    raise NotImplementedError


@syscall
def rtio_input_data() -> TInt32:
    raise NotImplementedError


class OnTheHost:
    def __enter__(self):
        pass

    def __exit__(self, *exception):
        pass


class Pair:
    def __init__(self, first):
        self.first = first

    def on_the_host(self):
        pass

    @kernel
    def late(self, second):
        self.second = second
        self.third = second


class Sometimes:
    def __init__(self, flag):
        if flag:
            self.value = 1


class Created:
    def __new__(cls):
        return None


class Wrong:
    def __init__(self):
        self.core = Core()
        self.manager = OnTheHost()

    @kernel
    def without_self():
        pass

    @kernel
    def takes_one(self, x):
        return x

    @kernel
    def takes_two(self, x, y):
        return x

    @kernel
    def gives_a_float(self, x):
        return 1.0

    @kernel
    def functions_that_take_different(self):
        for f in [self.takes_one, self.takes_two]:
            f(1)

    @kernel
    def functions_that_give_different(self):
        f = self.takes_one if self.core is self.core else self.gives_a_float
        return f(1)

    @kernel
    def return_a_function(self):
        x = 1

        def inside():
            return x

        return inside

    @kernel
    def keep_an_object(self, pair):
        pair.second = Pair(2)

    @kernel
    def keep(self):
        self.keep_an_object(Pair(1))

    @kernel
    def call_the_host(self):
        Pair(1).on_the_host()

    @kernel
    def send_to_the_host(self):
        print(Pair(1))

    @kernel
    def no_such_attribute(self):
        return Pair(1).frist

    @kernel
    def attribute_set_late(self):
        Pair(1).late(2)

    @kernel
    def attribute_set_sometimes(self):
        return Sometimes(True).value

    @kernel
    def made_by_new(self):
        Created()

    @kernel
    def call_without_self(self):
        self.without_self()

    @kernel
    def call_wrong_result(self):
        return counter()

    @kernel
    def call_wrong_argument(self):
        rtio_output(1, 2)

    @kernel
    def call_too_few_arguments(self):
        return rtio_input_data()

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
        ("call_no_annotation", "the system call no_annotation has no return annotation"),
        ("call_wrong_result", "the system call rtio_get_counter returns TInt32, the firmware's TInt64"),
        ("call_wrong_argument", "argument 'data' of the system call rtio_output is TInt64, the firmware's TInt32"),
        ("call_too_few_arguments", "the system call rtio_input_data takes 0 arguments, the firmware's 1"),
        ("functions_that_take_different", "all functions that this may call must take and return the same"),
        ("functions_that_give_different", "cannot unify"),
        ("return_a_function", "cannot return an allocated value that does not live forever"),
        ("keep", "the assigned value does not outlive the assignment target"),
        ("call_the_host", "'on_the_host' runs on the host, which does not know an object made in a kernel"),
        ("send_to_the_host", "Pair made in a kernel> is not supported in remote procedure calls"),
        ("no_such_attribute", "did you mean 'first'?"),
        ("attribute_set_late", "may not have its attribute 'second'"),
        ("attribute_set_sometimes", "may not have its attribute 'value'"),
        ("made_by_new", "can only be created on the host"),
        ("enter_the_host", "'__enter__' runs on the host; a context manager in a kernel must have kernels"),
    ],
)
def test_unsupported_construct_is_rejected_with_its_name(method, text):
    wrong = Wrong()
    with pytest.raises(compiler.CompileError) as error:
        compiler.compile_kernel(
            getattr(Wrong, method), (wrong,), {}, core=wrong.core, set_result=None, attribute_writeback=False
        )
    assert text in str(error.value)


@pytest.mark.parametrize("count, calls", [(192, True), (193, True), (193, False)])
def test_more_classes_than_marks_of_host_exceptions_are_refused(count, calls, tmp_path):
    """Without calls of the host, all classes are known."""
    classes = "".join(f"class E{n}(Exception):\n    pass\n\n\n" for n in range(count))
    clauses = "".join(f"    except E{n}:\n        pass\n" for n in range(count))
    tried = "self.ask()" if calls else "raise E0"
    path = tmp_path / f"many_classes_{count}_{calls}.py"
    body = f"@kernel\ndef run(self):\n    try:\n        {tried}\n{clauses}"
    path.write_text(f"from kairos.language import kernel\n\n\n{classes}{body}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    wrong = Wrong()
    wrong.ask = lambda: None

    def compiled():
        return compiler.compile_kernel(module.run, (wrong,), {}, core=wrong.core, set_result=None)

    if count > 192 and calls:
        with pytest.raises(compiler.CompileError, match="catching more than 192 classes of exceptions"):
            compiled()
    else:
        assert compiled().library
