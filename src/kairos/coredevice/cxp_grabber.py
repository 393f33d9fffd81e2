"""A frame grabber for CoaXPress cameras in the gateware: sums of a camera's pixels over regions, as
events.

Regions, gates and results are those of `kairos.coredevice.grabber`. Control of the camera (its
registers, its triggers) and the viewer are missing: their protocol with the device is not publicly
documented.
"""

from ..language import kernel
from .grabber import Grabber, OutOfSyncException
from .parts.channel import Address, RTIODevice
from .parts.lacking import lacking
from .parts.numbers import to_int32

__all__ = ["CXPGrabber", "CXPGrabberTimeoutException", "OutOfSyncException"]


class CXPGrabberTimeoutException(Exception):
    """The results of a frame did not arrive in time."""


@lacking(
    "the interface of the gateware's CoaXPress transceiver is not published",
    "send_cxp_linktrigger read32 write32 read_local_xml start_roi_viewer read_roi_viewer_frame",
)
class CXPGrabber(Grabber):
    """A grabber on the RTIO channels `channel` (trigger), `channel` + 1 (regions) and `channel` + 2
    (gate and results).

    `count_width`: bits of a sum; a larger number begins a frame.
    """

    channel_suffixes = ("trigger", "ROI coordinates", "ROI mask")
    regions = Address(0, channel=1)
    gate = Address(0, channel=2)

    def __init__(self, dmgr, channel, core_device="core", count_width=31):
        RTIODevice.__init__(self, dmgr, channel, core_device)
        self.channel_base, self.results = channel, channel + 2
        self.sentinel = to_int32(1 << count_width)

    @kernel
    def _no_frame(self):
        """Raise the exception for a frame that does not end in time."""
        raise CXPGrabberTimeoutException("Timeout before CoaXPress Grabber frame available")

    @kernel
    def _no_result(self):
        """Raise the exception for a result that does not come."""
        raise CXPGrabberTimeoutException("Timeout retrieving ROIs (attempting to read more ROIs than enabled?)")

    @classmethod
    def get_rtio_channels(cls, channel, **_arguments):
        """Return the RTIO channels of a device with these arguments: pairs of number and name
        suffix."""
        return [(channel + place, suffix) for place, suffix in enumerate(cls.channel_suffixes)]
