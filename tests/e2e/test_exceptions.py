"""Exceptions within and across the handlers of one function, written by hand from findings of
random programs."""
# ruff: noqa: B012, B904

import pytest

from kairos.coredevice.core import Core
from kairos.experiment import TInt32, kernel, rpc


class Handlers:
    def __init__(self, core):
        self.core = core
        self.trace = []

    @rpc(flags={"async"})
    def mark(self, number):
        self.trace.append(number)

    @kernel
    def raised_in_a_handler(self):
        """Each turn abandons a handler."""
        for i in range(20):
            try:
                try:
                    raise ValueError("first")
                except ValueError:
                    raise IndexError("second")
            except IndexError:
                self.mark(i)
        raise RuntimeError("last")

    @kernel
    def raised_again_behind_an_abandoned_handler(self):
        try:
            raise ValueError("first")
        except ValueError:
            try:
                try:
                    raise IndexError("second")
                except IndexError:
                    raise RuntimeError("third")
            except RuntimeError:
                self.mark(1)
            raise

    @kernel
    def raised_again_and_caught_in_its_handler(self):
        for i in range(20):
            try:
                raise ValueError("number {0}", i)
            except ValueError as e:
                try:
                    raise e
                except ValueError:
                    self.mark(1)
                try:
                    raise
                except ValueError:
                    self.mark(2)
                if i == 19:
                    raise

    @kernel
    def raised_again_in_the_handler_of_another(self):
        try:
            raise ValueError("first")
        except ValueError as first:
            try:
                raise IndexError("second")
            except IndexError:
                try:
                    raise first
                except ValueError:
                    self.mark(1)
                try:
                    raise
                except IndexError:
                    self.mark(2)
            raise

    @kernel
    def dropped_by_finally(self):
        for i in range(20):
            try:
                raise ValueError("dropped")
            finally:
                try:
                    raise IndexError("within")
                except IndexError:
                    if i < 19:
                        continue
                break
        self.mark(self.returned_from_finally())
        raise RuntimeError("last")

    @kernel
    def returned_from_finally(self) -> TInt32:
        try:
            try:
                raise ValueError("dropped")
            except ValueError:
                raise IndexError("too")
        finally:
            return 5


@pytest.fixture
def handlers(device):
    core = Core(None, f"{device.host}:{device.port}", 1e-9)
    yield Handlers(core)
    core.close()


@pytest.mark.parametrize(
    ("name", "marks", "chain"),
    [
        ("raised_in_a_handler", list(range(20)), [("RuntimeError", "last")]),
        ("raised_again_behind_an_abandoned_handler", [1], [("ValueError", "first")]),
        ("raised_again_and_caught_in_its_handler", [1, 2] * 20, [("ValueError", "number {0}")]),
        ("raised_again_in_the_handler_of_another", [1, 2], [("ValueError", "first")]),
        ("dropped_by_finally", [5], [("RuntimeError", "last")]),
    ],
)
def test_nested_handlers_catch_in_order(handlers, name, marks, chain):
    with pytest.raises(Exception) as raised:
        getattr(handlers, name)()
    report = raised.value.artiq_core_exception.report
    assert [(exception.name.partition(":")[2], exception.message) for exception in report.exceptions] == chain
    assert handlers.trace == marks
