"""A frame grabber in the gateware: sums of a camera's pixels over regions, as events."""

from numpy import int64

from ..language import delay, delay_mu, kernel
from .rtio import rtio_input_timestamped_data, rtio_output

__all__ = ["Grabber", "GrabberTimeoutException", "OutOfSyncException"]


NO_TIMEOUT = int64(-1)


class OutOfSyncException(Exception):
    """The number of results of a frame is not the one asked for: the regions that are gated are others."""


class GrabberTimeoutException(Exception):
    """The results of a frame did not come in time."""


class Grabber:
    """A grabber on the RTIO channels `channel_base` (regions) and `channel_base` + 1 (gate and results).

    `res_width`: bits of a coordinate. `count_shift`: bits by which sums are cut.
    """

    kernel_invariants = {"core", "channel_base", "sentinel"}

    def __init__(self, dmgr, channel_base, res_width=12, count_shift=0, core_device="core"):
        self.core = dmgr.get(core_device)
        self.channel_base = channel_base
        count_width = min(31, 2 * res_width + 16 - count_shift)
        # It comes first in a frame, and no sum is as large.
        self.sentinel = int(2**count_width) if count_width < 31 else -(2**31)

    @staticmethod
    def get_rtio_channels(channel_base, **kwargs):
        """RTIO channels of a device with these arguments: pairs of number and suffix of its name."""
        return [(channel_base, "ROI coordinates"), (channel_base + 1, "ROI mask")]

    @kernel
    def setup_roi(self, n, x0, y0, x1, y1):
        """Set region `n` to the pixels from (x0, y0) up to, not including, (x1, y1). Advances by 4 coarse cycles."""
        c = int64(self.core.ref_multiplier)
        rtio_output((self.channel_base << 8) | (4 * n + 0), x0)
        delay_mu(c)
        rtio_output((self.channel_base << 8) | (4 * n + 1), y0)
        delay_mu(c)
        rtio_output((self.channel_base << 8) | (4 * n + 2), x1)
        delay_mu(c)
        rtio_output((self.channel_base << 8) | (4 * n + 3), y1)
        delay_mu(c)

    @kernel
    def gate_roi(self, mask):
        """Send the results of the regions in `mask` for each frame that ends from the cursor on."""
        rtio_output((self.channel_base + 1) << 8, mask)

    @kernel
    def gate_roi_pulse(self, mask, dt):
        """Send results for frames that end within `dt` seconds (float), by which the cursor advances."""
        self.gate_roi(mask)
        delay(dt)
        self.gate_roi(0)

    @kernel
    def input_mu(self, data, timeout_mu=NO_TIMEOUT):
        """Fill `data` (list of int32) with the results of a frame, one for each region in the mask.

        Waits up to `timeout_mu` (int64; negative: forever). GrabberTimeoutException, OutOfSyncException.
        """
        channel = self.channel_base + 1
        timestamp, sentinel = rtio_input_timestamped_data(timeout_mu, channel)
        if timestamp == -1:
            raise GrabberTimeoutException("no frame ended in time")
        if sentinel != self.sentinel:
            raise OutOfSyncException
        for i in range(len(data)):
            timestamp, roi_output = rtio_input_timestamped_data(timeout_mu, channel)
            if timestamp == -1:
                raise GrabberTimeoutException("fewer results than asked for: are all regions gated?")
            if roi_output == self.sentinel:
                raise OutOfSyncException
            data[i] = roi_output
