"""Repeats a recorded session: the kernels run again, and their calls get the answers that they had got."""

from collections.abc import Sequence

from ..contracts.session import Reply
from ..errors import ConnectionLost
from . import codec
from .client import Session
from .record import Step

__all__ = ["Replay"]


class Replay(Session):
    """A session that calls no host functions.

    `ended`: why it has ended before the last kernel, or None: a call for which there is no answer, where
    the first run has ended, too.
    """

    def __init__(self, host: str | None, emulator):
        super().__init__(host, emulator=emulator)
        self.ended: str | None = None
        self.failures = 0
        """Kernels that have ended in an exception."""
        self._answers: list[bytes] = []

    def repeat(self, steps: Sequence[Step], kernels: Sequence):
        """Run the kernels of `steps`; `kernels`: those of each step, as `run_kernel` takes them."""
        for step, compiled in zip(steps, kernels, strict=True):
            if step.connects:
                self.close()
            self._answers = list(reversed(step.answers))
            try:
                self.run_kernel(compiled)
            except ConnectionLost:
                if self.ended is None:
                    raise
                return

    def _serve(self, compiled, set_result=None):
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
