"""`kairos devices --from DEVICE`: the device database, from the gateware's self-description."""

import runpy

from kairos.contracts.descriptor import ChannelKind
from kairos.devices.described import database
from tests.support.command import one_line, run_kairos
from tests.support.paths import BUILD


def written(folder, *arguments):
    """Return the database written by the command."""
    path = folder / "device_db.py"
    done = run_kairos("devices", *arguments, "-o", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"wrote {path}\n", "")
    return runpy.run_path(str(path))["device_db"]


def generated(variant):
    """Return the database built with the gateware."""
    return runpy.run_path(str(BUILD / "gateware" / variant / "device_db.py"))["device_db"]


def test_database_from_device_equals_generated_one(device, tmp_path):
    address = f"{device.host}:{device.ports[1380]}"
    assert written(tmp_path, "--from", address, "--host", "emulator://demo") == generated("demo")
    own = run_kairos("devices", "--from", address)
    assert own.stdout.startswith(
        "# Device database of gateware demo 0.1.0, generated from the descriptor of the device.\n"
    )
    assert f"'host': '{device.host}'" in own.stdout


def test_emulated_device_has_database_with_cards(tmp_path):
    assert written(tmp_path, "--from", "emulator://lab") == generated("lab")


def test_database_of_emulated_boards_is_read(tmp_path):
    entries = written(tmp_path, "--from", "emulator://pair")
    assert entries["core"]["arguments"]["host"] == "emulator://pair"
    far = [entry["arguments"]["channel"] >> 16 for entry in entries.values() if "channel" in entry["arguments"]]
    assert {0, 1} == set(far)


def test_unknown_emulated_device_is_rejected():
    done = run_kairos("devices", "--from", "emulator://nowhere")
    one_line(done, "nowhere")


def test_device_without_gateware_is_rejected(start_device, tmp_path):
    device = start_device(tmp_path, gateware=False)
    try:
        one_line(
            run_kairos("devices", "--from", f"{device.host}:{device.ports[1380]}"),
            "the device could not describe its gateware; see its log ('kairos device log')",
        )
        assert "there is no gateware to describe" in device.uart()
    finally:
        device.close()


def test_channels_of_other_boards_are_included():
    """Numbers are prefixed by the destination; parameters without a driver argument are left out."""
    near = [
        (0, ChannelKind.TTL_OUT, "ttl0", [("serialised", 1)]),
        (1, ChannelKind.TTL_CLOCKGEN, "clk", [("acc_width", 4)]),
    ]
    far = [(0, ChannelKind.TTL_OUT, "ttl0", []), (2, ChannelKind.LOG, "log", []), (3, ChannelKind.SUSERVO, "servo", [])]
    entries = database("10.0.0.1", (125_000_000, 0), [(0, near), (3, far)])
    assert entries["core"]["arguments"] == {
        "host": "10.0.0.1",
        "ref_period": 8e-9,
        "ref_multiplier": 1,
        "target": "cortexa9",
    }
    assert entries["clk"]["arguments"] == {"channel": 1, "acc_width": 4}
    assert entries["ttl0"]["arguments"] == {"channel": 0}
    assert entries["ttl0_3"]["arguments"] == {"channel": 3 << 16}
    assert list(entries)[3:] == ["ttl0", "clk", "ttl0_3"]


def test_parameter_of_a_channel_selects_its_driver():
    spline = ChannelKind.SHUTTLER_SPLINE
    channels = [(0, spline, "level", [("shuttler", 3), ("output", 2)]), (1, spline, "tone", [("kind", 1)])]
    entries = database("10.0.0.1", None, [(0, channels)])
    assert [entries[name]["class"] for name in ("level", "tone")] == ["DCBias", "DDS"]
    assert entries["tone"]["arguments"] == {"channel": 1}
