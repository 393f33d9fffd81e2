"""A frame grabber for CoaXPress cameras in the gateware: sums of a camera's pixels over regions, as
events; triggers, and registers of the camera.

Regions, gates and results are those of `kairos.coredevice.grabber`. On a device without such a grabber what needs the
camera raises CXPError.

The camera is set up when a kernel first uses it, which takes 0.2 to 0.6 s. No image arrives before that: begin
with `read32`.

Words of a downloaded file and pixels of a frame are written to files by `write_file` and `write_pgm`, on the host.
"""

from numpy import asarray

from ..exceptions import CXPError
from ..language import TInt32, kernel, now_mu, portable
from ..numeric import int64
from .chips import coaxpress as facts
from .grabber import CORNERS, Grabber, OutOfSyncException
from .parts.channel import Address, RTIODevice
from .parts.coaxpress import CameraConnection
from .parts.numbers import to_int32
from .rtio import rtio_output

__all__ = ["CXPGrabber", "CXPGrabberTimeoutException", "OutOfSyncException", "write_file", "write_pgm"]

_PIXELS, _PIXEL_BITS = 4, 16
"""Pixels in a word of the viewer, and bits of one."""
_ROWS, _HALF = 1024, 0xFFFF
_IMAGE_TIME, _POLL_TIME = 10.0, 100e-6
"""Seconds for an image to arrive, and from one poll for it to the next."""


class CXPGrabberTimeoutException(Exception):
    """The results of a frame did not arrive in time."""


class CXPGrabber(CameraConnection, Grabber):
    """A grabber on the RTIO channels `channel` (trigger), `channel` + 1 (regions) and `channel` + 2
    (gate and results).

    `count_width`: bits of a sum; a larger number begins a frame. Registers and files need a camera; without one, or
    without a grabber, their methods raise CXPError, and so does a command that the camera refuses.
    """

    channel_suffixes = ("trigger", "ROI coordinates", "ROI mask")
    trigger = Address(0)
    regions = Address(0, channel=1)
    gate = Address(0, channel=2)

    def __init__(self, dmgr, channel, core_device="core", count_width=31):
        RTIODevice.__init__(self, dmgr, channel, core_device)
        self.channel_base, self.results = channel, channel + 2
        self.sentinel = to_int32(1 << count_width)
        CameraConnection.__init__(self, channel + 1)

    @kernel
    def _no_frame(self):
        """Raise the exception for a frame that does not end in time."""
        raise CXPGrabberTimeoutException("Timeout before CoaXPress Grabber frame available")

    @kernel
    def _no_result(self):
        """Raise the exception for a result that does not come."""
        raise CXPGrabberTimeoutException("Timeout retrieving ROIs (attempting to read more ROIs than enabled?)")

    @kernel
    def setup_roi(self, n, x0, y0, x1, y1):
        """Set region `n` to the pixels from (x0, y0) to (x1, y1) exclusive, as that of a `Grabber`."""
        if n < 0 or n >= facts.REGIONS:
            raise ValueError("the regions of a CoaXPress grabber are 0 to 59")
        self.write_row(self.regions + CORNERS * n, [x0, y0, x1, y1])

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
        self._prepare()
        return self._read(address)

    @kernel
    def write32(self, address: TInt32, value: TInt32):
        """Write a register of the camera, 32 bits. Not in real time."""
        self._prepare()
        self._write(address, value)

    @kernel
    def read_local_xml(self, buffer) -> TInt32:
        """Download the camera's description into `buffer` (list of int32); returns the number of words, which
        `write_file` stores. Not in real time."""
        self._prepare()
        return self._description(buffer)

    @kernel
    def start_roi_viewer(self, x0, y0, x1, y1):
        """Keep the pixels of the next frame from (x0, y0) to (x1, y1) exclusive: 4096, counting the columns of each
        row as a multiple of 4, in at most 1024 rows. Not in real time."""
        width, height = x1 - x0, y1 - y0
        if min(min(x0, y0), min(width - 1, height - 1)) < 0 or max(x1, y1) > _HALF:
            raise CXPError(
                "the region of the viewer has {0} columns and {1} rows: they begin at 0 or more and end below 65536",
                int64(width),
                int64(height),
            )
        if height > _ROWS or ((width + _PIXELS - 1) // _PIXELS) * height > facts.VIEWER_WORDS:
            raise CXPError(
                "the viewer has room for 4096 pixels in at most 1024 rows, each of a multiple of 4: not {0} times {1}",
                int64(width),
                int64(height),
            )
        self._prepare()
        self._put(facts.PORT_VIEWER_FIRST, y0 << 16 | x0)
        self._put(facts.PORT_VIEWER_LAST, y1 << 16 | x1)
        self._put(facts.PORT_VIEWER_START, 1)

    @kernel
    def _wait_for_image(self):
        """Wait until the viewer has its image."""
        end_mu = self.core.get_rtio_counter_mu() + self.core.seconds_to_mu(_IMAGE_TIME)
        state = self._get(facts.PORT_VIEWER_STATE, 0)
        while state & facts.VIEWER_KEPT == 0:
            if state & facts.VIEWER_WAITING == 0:
                raise CXPError("the viewer has not been started")
            if self.core.get_rtio_counter_mu() > end_mu:
                raise CXPError("no image has arrived within 10 s")
            self.core.wait_until_mu(now_mu() + self.core.seconds_to_mu(_POLL_TIME))
            state = self._get(facts.PORT_VIEWER_STATE, 0)

    @kernel
    def read_roi_viewer_frame(self, frame) -> TInt32:
        """Wait for the region of `start_roi_viewer`, and copy it to `frame` (a matrix of int32, of its height and
        width). Returns the bits of a pixel. ValueError for another size, CXPError if no frame arrives within
        10 s. Not in real time."""
        self._check()
        self._wait_for_image()
        size, first, last = (
            self._get(facts.PORT_SIZE, 0),
            self._get(facts.PORT_REGION, 0),
            self._get(facts.PORT_REGION, 1),
        )
        width = _extent(first & _HALF, last & _HALF, size & _HALF)
        height = _extent((first >> 16) & _HALF, (last >> 16) & _HALF, (size >> 16) & _HALF)
        if height != len(frame) or width != len(frame[0]):
            raise ValueError("The frame matrix size is not the same as ROI viewer frame size")
        # Two pixels in each half of a word
        halves = 2 * ((width + _PIXELS - 1) // _PIXELS)
        for y in range(height):
            for n in range((width + 1) >> 1):
                pair = self._get(facts.PORT_PIXELS, y * halves + n)
                frame[y][2 * n] = pair & _HALF
                if 2 * n + 1 < width:
                    frame[y][2 * n + 1] = (pair >> _PIXEL_BITS) & _HALF
        # 8, 10, 12, 14 or 16
        return 8 + 2 * (self._get(facts.PORT_FORMAT, 0) - facts.MONO8)


@portable
def _extent(first, last, size):
    """Return how many of the columns or rows from `first` to before `last` a frame of `size` has."""
    return min(last, size) - min(first, size)


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
