"""A frame grabber for CoaXPress cameras in the gateware: sums of a camera's pixels over regions, as
events; triggers, and registers of the camera, through the firmware.

Regions, gates and results are those of `kairos.coredevice.grabber`. No gateware of Kairos has a CoaXPress
transceiver, so on a device of Kairos what needs one raises CXPError.

Words of a downloaded file and pixels of a frame are written to files by `write_file` and `write_pgm`, on the host.
"""

from numpy import asarray, int64

from ..language import TInt32, kernel
from .grabber import Grabber, OutOfSyncException
from .parts.channel import Address, RTIODevice
from .parts.firmware import firmware_function
from .parts.numbers import to_int32
from .rtio import rtio_output

__all__ = ["CXPGrabber", "CXPGrabberTimeoutException", "OutOfSyncException", "write_file", "write_pgm"]

cxp_read32 = firmware_function("cxp_read32", "destination address", (), "Read a register of the camera.")
cxp_write32 = firmware_function("cxp_write32", "destination address value", (), "Write one.")
cxp_download_xml_file = firmware_function(
    "cxp_download_xml_file", "destination buffer", (), "Download the camera's description; words of it."
)
cxp_start_roi_viewer = firmware_function(
    "cxp_start_roi_viewer", "destination x0 y0 x1 y1", (), "Keep a region of the next frame."
)
cxp_download_roi_viewer_frame = firmware_function(
    "cxp_download_roi_viewer_frame", "destination buffer", (), "Fetch it: width, height, bits of a pixel."
)

_VIEWER_WORDS, _PIXELS, _PIXEL_BITS = 1024, 4, 16
"""Words of a viewed region, pixels in one, and their bits."""


class CXPGrabberTimeoutException(Exception):
    """The results of a frame did not arrive in time."""


class CXPGrabber(Grabber):
    """A grabber on the RTIO channels `channel` (trigger), `channel` + 1 (regions) and `channel` + 2
    (gate and results).

    `count_width`: bits of a sum; a larger number begins a frame. Registers and files need a camera; without one, or
    without a grabber, their methods raise CXPError.
    """

    kernel_invariants = {"destination"}
    channel_suffixes = ("trigger", "ROI coordinates", "ROI mask")
    trigger = Address(0)
    regions = Address(0, channel=1)
    gate = Address(0, channel=2)

    def __init__(self, dmgr, channel, core_device="core", count_width=31):
        RTIODevice.__init__(self, dmgr, channel, core_device)
        self.channel_base, self.results = channel, channel + 2
        self.sentinel = to_int32(1 << count_width)
        self.destination = channel >> 16

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

    # The camera

    @kernel
    def send_cxp_linktrigger(self, linktrigger, extra_linktrigger=False):
        """Send the trigger packet of LinkTrigger 0 or 1, or with `extra_linktrigger` of 2 or 3."""
        rtio_output(self.trigger, (linktrigger << 2) | (1 if extra_linktrigger else 0))

    @kernel
    def read32(self, address: TInt32) -> TInt32:
        """Read a register of the camera, 32 bits. Not in real time."""
        return cxp_read32(self.destination, address)

    @kernel
    def write32(self, address: TInt32, value: TInt32):
        """Write a register of the camera, 32 bits. Not in real time."""
        cxp_write32(self.destination, address, value)

    @kernel
    def read_local_xml(self, buffer) -> TInt32:
        """Download the camera's description into `buffer` (list of int32); returns the number of words, which
        `write_file` stores. Not in real time."""
        return cxp_download_xml_file(self.destination, buffer)

    @kernel
    def start_roi_viewer(self, x0, y0, x1, y1):
        """Keep the pixels of the next frame from (x0, y0) to (x1, y1) exclusive."""
        cxp_start_roi_viewer(self.destination, x0, y0, x1, y1)

    @kernel
    def read_roi_viewer_frame(self, frame) -> TInt32:
        """Wait for the region of `start_roi_viewer`, and copy it to `frame` (a matrix of int32, of its height and
        width). Returns the bits of a pixel. ValueError for another size."""
        words = [int64(0) for _ in range(_VIEWER_WORDS)]
        width, height, bits = cxp_download_roi_viewer_frame(self.destination, words)
        if height != len(frame) or width != len(frame[0]):
            raise ValueError("The frame matrix size is not the same as ROI viewer frame size")
        stride = (width + _PIXELS - 1) // _PIXELS
        for y in range(height):
            for x in range(width):
                word = words[y * stride + x // _PIXELS]
                frame[y][x] = int(word >> (_PIXEL_BITS * (x % _PIXELS))) & ((1 << _PIXEL_BITS) - 1)
        return bits


def write_file(data, path):
    """Write words (int32) to a file, the highest byte of each first."""
    with open(path, "wb") as file:
        file.write(asarray(data).astype(">u4").tobytes())


def write_pgm(frame, path, bits):
    """Write a matrix of pixels of 8 or 16 bits to a PGM file. ValueError for other bits."""
    if bits not in (8, 16):
        raise ValueError("a PGM file has pixels of 8 or 16 bits")
    pixels = asarray(frame)
    with open(path, "wb") as file:
        file.write(f"P5\n{pixels.shape[1]} {pixels.shape[0]}\n{(1 << bits) - 1}\n".encode())
        file.write(pixels.astype({8: "u1", 16: ">u2"}[bits]).tobytes())
