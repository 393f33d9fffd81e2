"""Subkernels: type checks, and one library for each; `tests/e2e/test_subkernels.py` runs them."""

import pytest

from kairos import compiler
from kairos.compiler.cache import Cache
from kairos.compiler.tests.jit import Core
from kairos.language import TFloat, TInt32, TList, kernel, portable, rpc, subkernel


class Satellites:
    def __init__(self):
        self.core = Core()
        self.factor = 3
        self.noted = 0.0

    @subkernel(destination=1)
    def measure(self, count: TInt32, limits: TList(TFloat)) -> TFloat:
        total = subkernel_recv("offset", TFloat)  # noqa: F821
        for limit in limits:
            total += limit * self.factor
        self.note(total)
        return total

    @portable
    def note(self, value):
        self.noted = value

    @rpc
    def on_the_host(self):
        pass

    @subkernel(destination=2)
    def calls_the_host(self):
        self.on_the_host()

    @subkernel(destination=2)
    def prints(self):
        print("to the satellite's log")

    @subkernel(destination=2)
    def takes_an_object(self, thing):
        pass

    @kernel
    def runs(self):
        subkernel_preload(self.measure)  # noqa: F821
        self.measure(2, [1.0, 2.0])
        subkernel_send(1, "offset", 0.5)  # noqa: F821
        return subkernel_await(self.measure, 1000)  # noqa: F821

    @kernel
    def result_of_the_call(self):
        return self.measure(2, [1.0]) + 1.0

    @kernel
    def wrong_argument(self):
        self.measure(2.0, [1.0])

    @kernel
    def wrong_message(self):
        self.measure(2, [1.0])
        subkernel_send(1, "offset", "text")  # noqa: F821

    @kernel
    def message_never_sent(self):
        self.measure(2, [1.0])

    @kernel
    def message_never_received(self):
        subkernel_send(1, "lost", 1)  # noqa: F821

    @kernel
    def name_is_no_literal(self):
        name = "x"
        subkernel_send(1, name, 1)  # noqa: F821

    @kernel
    def no_such_destination(self):
        subkernel_send(256, "x", 1)  # noqa: F821

    @kernel
    def awaits_a_kernel(self):
        subkernel_await(self.runs)  # noqa: F821

    @subkernel(destination=2)
    def awaits_on_its_board(self):
        self.prints()
        subkernel_await(self.prints)  # noqa: F821

    @kernel
    def starts_what_awaits_on_its_board(self):
        self.awaits_on_its_board()

    @kernel
    def only_awaits(self):
        subkernel_await(self.prints)  # noqa: F821

    @kernel
    def awaits_nothing(self):
        subkernel_await()  # noqa: F821

    @kernel
    def satellite_calls_the_host(self):
        self.calls_the_host()

    @kernel
    def satellite_prints(self):
        self.prints()

    @kernel
    def passes_an_object(self):
        self.takes_an_object(self)


@pytest.mark.parametrize(
    "method, text",
    [
        ("result_of_the_call", "cannot coerce NoneType to a numeric type"),
        ("wrong_argument", "cannot unify numpy.int32 with float"),
        ("wrong_message", "cannot unify"),
        ("message_never_sent", "no kernel sends the message 'offset'"),
        ("message_never_received", "no kernel receives the message 'lost'"),
        ("name_is_no_literal", "the name of a message must be a string literal"),
        ("no_such_destination", "the destination of a message is between 0 and 255"),
        ("awaits_a_kernel", "this is not a subkernel"),
        ("starts_what_awaits_on_its_board", "'prints' runs on this board: a plain call runs it and returns the result"),
        ("awaits_nothing", "'subkernel_await' takes a subkernel, and a time in milliseconds"),
        ("satellite_calls_the_host", "'on_the_host' runs on the host, which subkernels cannot call"),
        ("passes_an_object", "cannot be sent to a subkernel"),
        ("measure", "measure is a subkernel: a kernel starts it"),
    ],
)
def test_mistyped_subkernel_call_is_rejected(method, text):
    host = Satellites()
    args = (host, 1, [1.0]) if method == "measure" else (host,)
    with pytest.raises(compiler.CompileError) as error:
        compiler.compile_kernel(
            getattr(Satellites, method), args, {}, core=host.core, set_result=None, attribute_writeback=False
        )
    assert text in str(error.value)


def test_subkernel_without_board_is_rejected():
    for decorate in (subkernel, lambda function: subkernel(1)):
        with pytest.raises(ValueError, match=r"needs a destination: @subkernel\(destination=1\)"):
            decorate(print)
    for destination in (0, 256, 1.5):
        with pytest.raises(ValueError, match="is between 1 and 255, not"):
            subkernel(destination=destination)


def test_subkernels_of_correct_types_pass_the_check():
    assert compiler.check(Satellites.runs, (Satellites(),), core=Core()) == []


def _compiled(method, cache=None):
    host = Satellites()
    return compiler.compile_kernel(
        method, (host,), {}, core=host.core, set_result=None, attribute_writeback=False, cache=cache or Cache(None)
    )


def test_awaited_subkernel_is_compiled_without_a_start():
    """An earlier kernel may have started it: a missing start is reported when it is awaited."""
    assert [one.destination for one in _compiled(Satellites.only_awaits).subkernels] == [2]


def test_each_subkernel_has_its_own_library():
    compiled = _compiled(Satellites.runs)
    (measure,) = compiled.subkernels
    assert (measure.number, measure.destination) == (1, 1)
    assert b"subkernel_send_message" in measure.library and b"subkernel_load_run" not in measure.library
    assert b"subkernel_load_run" in compiled.library
    # Their `print` writes to the satellite's log.
    (prints,) = _compiled(Satellites.satellite_prints).subkernels
    assert prints.destination == 2 and b"core_log" in prints.library and b"rpc_send" not in prints.library


def test_cached_kernel_includes_subkernel_libraries(tmp_path):
    first, again = (_compiled(Satellites.runs, Cache(tmp_path)) for _ in range(2))
    assert (first.cached, again.cached) == (False, True)
    kept = [(one.number, one.destination, one.library, one.unstripped) for one in again.subkernels]
    assert kept == [(one.number, one.destination, one.library, one.unstripped) for one in first.subkernels]


def test_subkernel_method_has_a_library_per_object():
    class Pair:
        def __init__(self):
            self.core = Core()
            self.parts = [Satellites(), Satellites()]

        @kernel
        def run(self):
            for part in self.parts:
                part.prints()
                subkernel_await(part.prints)  # noqa: F821

    host = Pair()
    compiled = compiler.compile_kernel(
        Pair.run, (host,), {}, core=host.core, set_result=None, attribute_writeback=False, cache=Cache(None)
    )
    assert [one.number for one in compiled.subkernels] == [1, 2]
