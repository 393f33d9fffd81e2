"""Each method of the driver of a CoaXPress grabber through compiler, firmware, gateware and the model of a camera; and
what they say without a camera, and without a grabber."""

from xml.etree import ElementTree

import numpy as np
import pytest
from numpy import int64

from kairos.coredevice.cxp_grabber import CXPGrabber, CXPGrabberTimeoutException, OutOfSyncException, write_file
from kairos.devices import DeviceDB
from kairos.exceptions import CXPError
from kairos.language import delay_mu, kernel, now_mu
from tests.support.chain import Chain
from tests.support.databases import entry, written
from tests.support.gateware import database

CAMERA = """
[ion.ion0]
[camera.andor]
grabber = "cxp0"
sees = [{ ion = "ion0", x = 4, y = 3 }]
width = 10
height = 6
dark = 100
exposure_s = 20e-6
discovery_hz = 3.125e9
"""
STANDARD, VERSION, WIDTH, FORMAT = 0x0000, 0x4048, 0x8000, 0x8008
REGIONS = [(0, 0, 10, 6), (2, 1, 7, 5), (9, 5, 40, 40)]


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return database("cards", tmp_path_factory.mktemp("cards"))


@pytest.fixture
def camera_file(tmp_path):
    file = tmp_path / "bench.toml"
    file.write_text(CAMERA)
    return file


class Shot:
    """Triggers the camera and sums its regions, with a timeout in ns."""

    def __init__(self, camera, timeout_mu=1_000_000):
        self.core, self.camera, self.timeout_mu = camera.core, camera, int64(timeout_mu)
        self.sums = [0] * len(REGIONS)

    @kernel
    def take(self):
        self.core.break_realtime()
        self.camera.gate_roi((1 << len(self.sums)) - 1)
        self.camera.send_cxp_linktrigger(0)
        self.camera.input_mu(self.sums, now_mu() + self.timeout_mu)
        self.core.break_realtime()
        self.camera.gate_roi(0)
        delay_mu(int64(1000))


def sums_of(image):
    return [int(image[y0:y1, x0:x1].sum()) for x0, y0, x1, y1 in REGIONS]


def test_methods_of_the_grabber_act_as_documented(db, camera_file, tmp_path):
    with Chain(db, camera_file) as chain:
        camera = chain.get("cxp0")
        part = lambda: chain.bench.part("andor")  # noqa: E731
        assert int(chain(camera.read32, STANDARD)) & 0xFFFFFFFF == 0xC0A79AE5
        assert chain(camera.read32, VERSION) == 2 << 16 | 1 and part()["configured"]
        # It begins at another rate than the grabber, and is then set to its highest one.
        assert part()["rate_mbit_s"] == 6250
        assert chain(camera.read32, WIDTH) == 10
        # The change of the format takes 5 ms, which the camera announces.
        chain(camera.write32, FORMAT, 0x103)
        assert chain(camera.read32, FORMAT) == 0x103 and part()["pixel_bits"] == 12
        with pytest.raises(CXPError, match="refuses a command for address 0x8000: its answer has the code 0x43"):
            chain(camera.write32, WIDTH, 3)

        for number, corners in enumerate(REGIONS):
            chain(camera.setup_roi, number, *corners)
        chain(camera.start_roi_viewer, 2, 1, 7, 5)
        shot = Shot(camera)
        shot.take()
        image = np.array(part()["image"])
        assert image.shape == (6, 10) and shot.sums == sums_of(image) and shot.sums[0] > 5000
        frame = np.zeros((4, 5), "i4")
        assert chain(camera.read_roi_viewer_frame, frame) == 12
        assert frame.tolist() == image[1:5, 2:7].tolist()

        for number, (trigger, extra) in enumerate([(0, False), (1, False), (0, True), (1, True)]):
            before = part()["link_triggers"][number]
            chain(camera.send_cxp_linktrigger, trigger, extra)
            assert part()["link_triggers"][number] == before + 1

        chain(camera.gate_roi_pulse, 1, 1e-6)
        chain(camera.gate_roi, 0b11)
        chain(camera.send_cxp_linktrigger, 0)
        chain(camera.input_mu, [0])
        with pytest.raises(OutOfSyncException):
            chain(camera.input_mu, [0])
        with pytest.raises(CXPGrabberTimeoutException):
            chain(camera.input_mu, [0], int64(0))

        words = [0] * 300
        count = chain(camera.read_local_xml, words)
        write_file(words[:count], tmp_path / "camera.xml")
        text = (tmp_path / "camera.xml").read_bytes().rstrip(b"\0")
        registers = {node.get("Name"): node.findtext("Address") for node in ElementTree.fromstring(text)}
        assert registers["PixelFormat"] == hex(FORMAT)
        with pytest.raises(CXPError, match=f"description has {count} words, more than the buffer"):
            chain(camera.read_local_xml, words[:10])
        assert chain.uncalled(CXPGrabber) == set()
        assert chain.bench.warnings == []


@pytest.mark.parametrize(
    "corners, text",
    [
        ((0, 0, 65, 64), "the viewer has room for 4096 pixels in at most 1024 rows"),
        ((0, 0, 1, 1025), "the viewer has room for 4096 pixels in at most 1024 rows"),
        ((5, 0, 5, 8), "the region of the viewer has 0 columns and 8 rows"),
    ],
)
def test_impossible_region_of_the_viewer_is_refused(db, camera_file, corners, text):
    with Chain(db, camera_file) as chain, pytest.raises(CXPError, match=text):
        chain(chain.get("cxp0").start_roi_viewer, *corners)


def test_camera_that_is_not_connected_is_reported(db):
    with Chain(db) as chain:
        camera = chain.get("cxp0")
        for method, args in [(camera.read32, (0,)), (camera.start_roi_viewer, (0, 0, 8, 8))]:
            with pytest.raises(CXPError, match="Camera is not connected"):
                chain(method, *args)
        with pytest.raises(CXPError, match="the viewer has not been started"):
            chain(camera.read_roi_viewer_frame, np.zeros((8, 8), "i4"))


def test_methods_of_a_camera_raise_without_a_grabber(lab, tmp_path):
    entries = DeviceDB.load(lab).entries
    entries["camera"] = entry("cxp_grabber", "CXPGrabber", channel=0)
    with Chain(written(entries, tmp_path)) as chain:
        camera = chain.get("camera")
        for method, args in [
            (camera.read32, (0x4014,)),
            (camera.write32, (0x4014, 1)),
            (camera.read_local_xml, ([0] * 8,)),
            (camera.start_roi_viewer, (0, 0, 8, 8)),
            (camera.read_roi_viewer_frame, (np.zeros((8, 8), "i4"),)),
        ]:
            with pytest.raises(CXPError, match="CXP Grabber is not available on destination 0"):
                chain(method, *args)
