"""Direct memory access: sequences of output events that the device keeps and plays by itself.

Playing takes the kernel about as long as one output, however many events there are.
"""

from numpy import int64

from ..language import TBool, TInt32, TInt64, TNone, TStr, TTuple, at_mu, delay_mu, kernel, now_mu, syscall
from .exceptions import DMAError

__all__ = ["CoreDMA", "DMARecordContextManager"]


@syscall
def dma_record_start(name: TStr) -> TNone:
    raise NotImplementedError("runs on the core device only")


@syscall
def dma_record_stop(duration: TInt64, enable_ddma: TBool) -> TNone:
    raise NotImplementedError("runs on the core device only")


@syscall
def dma_erase(name: TStr) -> TNone:
    raise NotImplementedError("runs on the core device only")


@syscall
def dma_retrieve(name: TStr) -> TTuple([TInt64, TInt32, TBool]):
    raise NotImplementedError("runs on the core device only")


@syscall
def dma_playback(timestamp: TInt64, address: TInt32, enable_ddma: TBool) -> TNone:
    raise NotImplementedError("runs on the core device only")


class DMARecordContextManager:
    """What `CoreDMA.record` returns. Times in the block count from 0; behind it the cursor is where it was."""

    def __init__(self):
        self.name = ""
        self.saved_now_mu = int64(0)
        self.enable_ddma = False

    @kernel
    def __enter__(self):
        dma_record_start(self.name)
        self.saved_now_mu = now_mu()
        at_mu(int64(0))

    @kernel
    def __exit__(self, type, value, traceback):
        dma_record_stop(now_mu(), self.enable_ddma)
        at_mu(self.saved_now_mu)


class CoreDMA:
    """DMA of the core device. Traces persist until they are erased, recorded anew, or the device restarts."""

    kernel_invariants = {"core", "recorder"}

    def __init__(self, dmgr, core_device="core"):
        self.core = dmgr.get(core_device)
        self.recorder = DMARecordContextManager()
        self.epoch = 0

    @kernel
    def record(self, name, enable_ddma=False):
        """Context manager: the outputs in its block are recorded as `name` (str) instead of played.

        A trace of that name is replaced. Inputs are not recorded. DMAError if there is a recording already, or if the
        memory for recordings is full.
        """
        self.epoch += 1
        self.recorder.name = name
        self.recorder.enable_ddma = enable_ddma
        return self.recorder

    @kernel
    def erase(self, name):
        """Remove the trace `name`; no error if there is none."""
        self.epoch += 1
        dma_erase(name)

    @kernel
    def playback(self, name):
        """Play the trace `name` from the cursor on, and move the cursor by the duration of the recording.

        DMAError if there is none; RTIOUnderflow if an event was too late, after which the rest is not played.
        """
        (advance_mu, address, uses_ddma) = dma_retrieve(name)
        dma_playback(now_mu(), address, uses_ddma)
        delay_mu(advance_mu)

    @kernel
    def get_handle(self, name):
        """Handle of the trace `name`, for `playback_handle`: it saves the search for the name.

        It is valid until something is recorded or erased through this object.
        """
        (advance_mu, address, uses_ddma) = dma_retrieve(name)
        return (self.epoch, advance_mu, address, uses_ddma)

    @kernel
    def playback_handle(self, handle):
        """As `playback`, with the result of `get_handle`. DMAError if it is not valid any more."""
        (epoch, advance_mu, address, uses_ddma) = handle
        if self.epoch != epoch:
            raise DMAError("Invalid handle")
        dma_playback(now_mu(), address, uses_ddma)
        delay_mu(advance_mu)
