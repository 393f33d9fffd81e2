"""Direct memory access: sequences of output events that the device records and plays back autonomously.

Playback occupies the kernel for about as long as one output, regardless of the number of events.
"""

from ..language import at_mu, delay_mu, kernel, now_mu
from ..numeric import Wide
from .exceptions import DMAError
from .parts.channel import CoreDevice
from .parts.firmware import firmware_function

__all__ = ["CoreDMA", "Recording"]

dma_record_start = firmware_function("dma_record_start", "name")
dma_record_stop = firmware_function("dma_record_stop", "duration enable_ddma")
dma_erase = firmware_function("dma_erase", "name")
dma_retrieve = firmware_function("dma_retrieve", "name")
dma_playback = firmware_function("dma_playback", "timestamp address enable_ddma")


class Recording:
    """Context returned by `CoreDMA.record`. Times in the block start at 0; the cursor is restored
    at its end."""

    def __init__(self):
        self.trace = ""
        self.distributed = False
        self.resume_mu = Wide(0)

    @kernel
    def __enter__(self):
        dma_record_start(self.trace)
        self.resume_mu = now_mu()
        at_mu(0)

    @kernel
    def __exit__(self, type, value, traceback):
        dma_record_stop(now_mu(), self.distributed)
        at_mu(self.resume_mu)


class CoreDMA(CoreDevice):
    """DMA of the core device. Traces persist until they are erased, overwritten, or the device
    restarts."""

    kernel_invariants = {"recording"}

    def __init__(self, dmgr, core_device="core"):
        super().__init__(dmgr, core_device)
        self.recording = Recording()
        # Incremented by operations that invalidate handles.
        self.epoch = 0

    @kernel
    def record(self, name, enable_ddma=False):
        """Context manager: records the outputs in its block as `name` (str) instead of playing
        them.

        A trace of that name is replaced. Inputs are not recorded. DMAError if a recording is
        already in progress; also at the first output for which there is no memory left.
        """
        recording = self.recording
        recording.trace, recording.distributed = name, enable_ddma
        self.epoch += 1
        return recording

    @kernel
    def erase(self, name):
        """Remove the trace `name`; no error if there is none."""
        dma_erase(name)
        self.epoch += 1

    @kernel
    def get_handle(self, name):
        """Return a handle of the trace `name` for `playback_handle`, which saves the lookup by
        name.

        The handle is valid until something is recorded or erased through this object.
        """
        advance_mu, address, distributed = dma_retrieve(name)
        return self.epoch, advance_mu, address, distributed

    @kernel
    def playback_handle(self, handle):
        """As `playback`, with the result of `get_handle`. DMAError if the handle is no longer
        valid."""
        epoch, advance_mu, address, distributed = handle
        if epoch != self.epoch:
            raise DMAError("Invalid handle")
        dma_playback(now_mu(), address, distributed)
        delay_mu(advance_mu)

    @kernel
    def playback(self, name):
        """Play the trace `name` from the cursor on, and advance the cursor by the duration of the
        recording.

        DMAError if there is no such trace; RTIOUnderflow if an event was too late, in which case
        the remaining events are not played.
        """
        self.playback_handle(self.get_handle(name))
