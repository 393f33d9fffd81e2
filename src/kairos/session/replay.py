"""Repeats a recorded session: the kernels run again, and their calls get the answers that they had got."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from ..contracts.session import Reply
from ..errors import ConnectionLost, EmulatorError
from . import codec
from .client import Session
from .record import Step

__all__ = ["Replay"]

LOOKED = 0.05
"""Seconds after which the device's time is looked at again."""


class Replay(Session):
    """A session that calls no host functions.

    `ended`: why it has ended before the last kernel, or None: a call for which there is no answer, where
    the first run has ended, too. `is_over`: called again and again with the device's time in ns while the last kernel
    runs, which is ended when it returns true, because somebody has ended the first run; None: never.
    """

    def __init__(self, host: str | None, emulator, is_over: Callable[[int], bool] | None = None):
        super().__init__(host, emulator=emulator)
        self._is_over, self._is_last = is_over, False
        self.ended: str | None = None
        self.failures = 0
        """Kernels that have ended in an exception."""
        self._answers: list[bytes] = []

    def repeat(self, steps: Sequence[Step], kernels: Sequence):
        """Run the kernels of `steps`; `kernels`: those of each step, as `run_kernel` takes them."""
        for number, (step, compiled) in enumerate(zip(steps, kernels, strict=True), 1):
            self._is_last = number == len(steps)
            if step.connects:
                self.close()
            self._answers = list(reversed(step.answers))
            try:
                self.run_kernel(compiled)
            except ConnectionLost:
                if self.ended is None:
                    raise
                return

    @contextmanager
    def _limited(self) -> Iterator[None]:
        """Context in which the connection is closed when the time has come."""
        if self._is_over is None or not self._is_last:
            yield
            return
        over = threading.Event()

        def watch():
            # The main thread reads from the session meanwhile, and asks the emulator nothing.
            with suppress(EmulatorError):
                while not over.wait(LOOKED):
                    if self._is_over(self.emulator.control.status()["time_ns"]):
                        self.ended = "where somebody has ended it"
                        self._connection.shut_down()
                        return

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join()

    def _serve(self, compiled, set_result=None):
        with self._limited():
            self._answer_calls()

    def _answer_calls(self):
        connection = self._connection
        connection.set_reply_expected(False)
        while True:
            kind = connection.read_type()
            if kind == Reply.RPC_REQUEST:
                is_async, service, *_ = connection.read_call(lambda key: None)
                if is_async or service == 0:
                    continue
                if not self._answers:
                    self.ended = "at a call that was not answered"
                    raise ConnectionLost(self.ended)
                connection.write(self._answers.pop())
                connection.flush()
            elif kind == Reply.KERNEL_FINISHED:
                connection.read_u8()
                self._kernel_runs = False
                return
            elif kind == Reply.KERNEL_EXCEPTION:
                connection.read_report()
                self._kernel_runs = False
                self.failures += 1
                return
            else:
                raise codec.ProtocolError(f"message type {kind} while a kernel is repeated")
