"""Cameras of a description: channels and cages of those on CoaXPress, connectors of a Grabber."""

import pytest

from kairos_gateware.device_db import device_db
from kairos_gateware.phy.kinds import make_phys
from kairos_gateware.soc.phys import Phys

from . import DescriptionError, check, make_variant

CAMERA, HVAMP = {"type": "coaxpress_sfp"}, {"type": "hvamp", "ports": [3]}


def described(*peripherals, **fields):
    description = {"target": "kasli_soc", "variant": "x", "hw_rev": "v1.1", "peripherals": list(peripherals)}
    return check(description | fields)


def test_camera_has_three_channels_as_in_the_databases_of_artiq():
    variant = make_variant(described(CAMERA | {"roi_engine_count": 5}, CAMERA | {"sfp": 1}, HVAMP))
    names = [f"{name}{part}" for name in ("cxp0", "cxp1") for part in ("", "_regions", "_gate")]
    assert [channel.name for channel in variant.channels[:7]] == [*names, "ttl_hvamp0_sw0"]
    assert [variant.channels[n].parameters["rois"] for n in (1, 4)] == [5, 8]
    entry = device_db(variant, "x")["cxp1"]
    assert (entry["module"], entry["class"]) == ("artiq.coredevice.cxp_grabber", "CXPGrabber")
    assert entry["arguments"] == {"channel": 3}
    assert [pad.pin for pad in make_phys(variant.channels)[3].pads] == ["sfp1:tx"]


def test_camera_of_a_board_in_the_emulator_has_pads_for_its_words():
    channels = make_variant(described(CAMERA)).channels
    hardware, emulated = (Phys(channels, simulation) for simulation in (False, True))
    assert [pad.pin for pad in hardware.pads][:2] == ["sfp3:tx", "user_led:0"] and len(hardware.grabbers) == 1
    names = [pad.name.removeprefix("cxp0_") for pad in emulated.pads]
    assert {"tx", "d0", "d31", "k3", "valid", "lock", "rate2"} <= set(names) and emulated.grabbers == []


@pytest.mark.parametrize(
    "cards, fields, text",
    [
        ([CAMERA, CAMERA], {}, r"\[1\] \(coaxpress_sfp\).sfp: cage 3 has the camera of peripherals\[0\]"),
        (
            [CAMERA | {"sfp": 0}],
            {"base": "satellite"},
            r"\[0\] \(coaxpress_sfp\).sfp: cage 0 has a link to another board",
        ),
        (
            [CAMERA | {"sfp": 1}],
            {"base": "master", "satellites": ["a", "b"]},
            r"sfp: cage 1 has a link to another board",
        ),
        ([CAMERA | {"roi_engine_count": 61}], {}, r"roi_engine_count: 61 is greater than the maximum of 60"),
        ([CAMERA], {"target": "zc706"}, "a zc706 has no connectors for cards"),
    ],
)
def test_impossible_camera_of_a_description_is_refused(cards, fields, text):
    with pytest.raises(DescriptionError, match=text):
        described(*cards, **fields)


def test_grabber_may_have_three_connectors():
    grabber = {"type": "grabber", "ports": [4, 5, 6]}
    assert make_variant(described(grabber)).channels[0].pins[0] == "eem4:d0"
    with pytest.raises(DescriptionError, match="port 5 is already used"):
        described(grabber, {"type": "hvamp", "ports": [5]})
