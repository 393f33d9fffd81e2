"""A CoaXPress grabber: what its driver asks the firmware for, and files of what it gets."""

import numpy as np
import pytest

from kairos.compiler.tests.jit import Compiled
from kairos.coredevice.cxp_grabber import write_file, write_pgm

from .traffic import devices, run

CHANNEL = 3 << 16 | 7


@pytest.fixture(scope="module")
def camera():
    return devices({"camera": ("cxp_grabber.CXPGrabber", {"channel": CHANNEL})}).get("camera")


def asked(method, *args, **answers):
    """Return what a method asked the firmware for, and its result."""
    firmware = {name: lambda *_, value=value: value for name, value in answers.items()}
    result = Compiled(method, args, method.__self__.core).run(firmware=firmware)
    assert result.exception is None, (result.exception, result.message)
    return [(name, *values) for name, values in result.calls if name in answers], result.value


def test_registers_are_those_of_the_camera_of_the_destination(camera):
    assert asked(camera.read32, 0x4014, cxp_read32=0x38) == ([("cxp_read32", 3, 0x4014)], 0x38)
    assert asked(camera.write32, 0x4014, 5, cxp_write32=None)[0] == [("cxp_write32", 3, 0x4014, 5)]
    corners = (1, 2, 33, 44)
    calls, _ = asked(camera.start_roi_viewer, *corners, cxp_start_roi_viewer=None)
    assert calls == [("cxp_start_roi_viewer", 3, *corners)]


def test_trigger_packets_have_their_number(camera):
    words = [run(camera.send_cxp_linktrigger, *args).on(CHANNEL) for args in ((0,), (1,), (1, True))]
    assert words == [[(0, 0)], [(0, 4)], [(0, 5)]]


def test_downloaded_words_are_written_with_the_highest_byte_first(tmp_path):
    write_file(np.array([0x3C3F786D, -1], "i4"), tmp_path / "camera.xml")
    assert (tmp_path / "camera.xml").read_bytes() == b"<?xm\xff\xff\xff\xff"


@pytest.mark.parametrize(
    "bits, body", [(8, bytes([1, 2, 3, 4, 5, 250])), (16, bytes([0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 250]))]
)
def test_frame_is_written_as_a_picture(tmp_path, bits, body):
    write_pgm(np.array([[1, 2, 3], [4, 5, 250]], "i4"), tmp_path / "frame.pgm", bits)
    expected = b"P5\n3 2\n" + str(2**bits - 1).encode() + b"\n" + body
    assert (tmp_path / "frame.pgm").read_bytes() == expected
    with pytest.raises(ValueError, match="8 or 16 bits"):
        write_pgm(np.zeros((2, 2), "i4"), tmp_path / "x.pgm", 12)


@pytest.mark.parametrize("shape", [(3, 2), (2, 4), (1, 3)])
def test_frame_of_another_size_than_the_region_is_refused(camera, shape):
    frame = np.zeros(shape, "i4")
    compiled = Compiled(camera.read_roi_viewer_frame, (frame,), camera.core)
    result = compiled.run(firmware={"cxp_download_roi_viewer_frame": lambda *_: (3, 2, 8)})
    assert result.exception[0] == "ValueError"
    assert result.message == "The frame matrix size is not the same as ROI viewer frame size"
