"""A frame grabber in the gateware: sums of a camera's pixels over regions, as events."""

from ..language import delay, kernel
from ..numeric import Wide
from .parts.channel import Address, RTIODevice
from .parts.numbers import to_int32
from .rtio import rtio_input_timestamped_data, rtio_output

__all__ = ["Grabber", "GrabberTimeoutException", "OutOfSyncException"]

FOREVER = Wide(-1)
CORNERS = 4
"""Registers of a region: x0, y0, x1, y1."""
_REGIONS = 256 // CORNERS
"""Regions whose registers fit the addresses of a channel."""


class OutOfSyncException(Exception):
    """The number of results of a frame differs from the one requested: other regions are gated."""


class GrabberTimeoutException(Exception):
    """The results of a frame did not arrive in time."""


class Grabber(RTIODevice):
    """A grabber on the RTIO channels `channel_base` (regions) and `channel_base` + 1 (gate and
    results).

    `res_width`: bits of a coordinate. `count_shift`: bits by which pixels are shifted right before
    they are summed.
    """

    kernel_invariants = {"channel_base", "results", "sentinel"}
    channel_suffixes = ("ROI coordinates", "ROI mask")
    regions = Address(0)
    gate = Address(0, channel=1)

    def __init__(self, dmgr, channel_base, res_width=12, count_shift=0, core_device="core"):
        super().__init__(dmgr, channel_base, core_device)
        self.channel_base, self.results = channel_base, channel_base + 1
        # A frame begins with a word that exceeds any sum of 16-bit pixels, limited to 32 bits.
        widest = 16 + 2 * res_width - count_shift
        self.sentinel = to_int32(1 << min(widest, 31))

    @classmethod
    def get_rtio_channels(cls, channel_base, **_arguments):
        """Return the RTIO channels of a device with these arguments: pairs of number and name
        suffix."""
        return super().get_rtio_channels(channel_base)

    @kernel
    def setup_roi(self, n, x0, y0, x1, y1):
        """Set region `n` to the pixels from (x0, y0) to (x1, y1) exclusive. Advances by 4 coarse
        cycles. ValueError for a region that no grabber has; one has as many as its gateware."""
        if n < 0 or n >= _REGIONS:
            raise ValueError("the regions of a grabber are 0 to 63")
        self.write_row(self.regions + CORNERS * n, [x0, y0, x1, y1])

    @kernel
    def gate_roi(self, mask):
        """Send the results of the regions in `mask` for each frame that ends after the cursor."""
        rtio_output(self.gate, mask)

    @kernel
    def gate_roi_pulse(self, mask, dt):
        """Send results for frames that end within `dt` seconds (float), by which the cursor advances."""
        self.gate_roi(mask)
        delay(dt)
        self.gate_roi(0)

    @kernel
    def _no_frame(self):
        """Raise the exception for a frame that does not end in time."""
        raise GrabberTimeoutException("Timeout before Grabber frame available")

    @kernel
    def _no_result(self):
        """Raise the exception for a result that does not come."""
        raise GrabberTimeoutException("Timeout retrieving ROIs (attempting to read more ROIs than enabled?)")

    @kernel
    def input_mu(self, data, timeout_mu=FOREVER):
        """Fill `data` (list of int32) with the results of a frame, one for each region in the mask.

        Waits up to `timeout_mu` (int64; negative: forever). GrabberTimeoutException, OutOfSyncException.
        """
        for place in range(-1, len(data)):
            time_mu, word = rtio_input_timestamped_data(timeout_mu, self.results)
            if time_mu < 0:
                if place < 0:
                    self._no_frame()
                self._no_result()
            if (word == self.sentinel) != (place < 0):
                raise OutOfSyncException("a frame has an unexpected number of results: are other regions gated?")
            if place >= 0:
                data[place] = word
