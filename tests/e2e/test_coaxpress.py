"""A CoaXPress grabber in the device database of a device that has none: its methods compile, and say so."""

import numpy as np
import pytest

from kairos.devices import DeviceDB
from kairos.exceptions import CXPError
from tests.support.chain import Chain
from tests.support.databases import entry, written


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
