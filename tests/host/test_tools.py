"""Further tools: analyzer dumps, channel names, plots of results, new experiments."""

import json
import re
import socket
import struct
import threading
from argparse import Namespace

import h5py
import numpy as np
import pytest
from PIL import Image

from kairos.cli import main
from kairos.cli.address import address_of
from kairos.waveform.results import _edges
from tests.support.analyzer_record import DUMP
from tests.support.command import one_line, run_kairos
from tests.support.paths import BUILD, EXAMPLES


def run(*arguments, database=EXAMPLES / "device_db.py"):
    return main([*map(str, arguments), "--device-db", str(database)])


@pytest.fixture
def dump(tmp_path):
    path = tmp_path / "dump.bin"
    path.write_bytes(DUMP)
    return path


def test_analyze_prints_messages_of_a_dump(dump, tmp_path, capsys):
    assert run("analyze", dump, "--vcd", tmp_path / "a.vcd", "--plot", tmp_path / "a.png") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["0", "600", "output", "4", "ttl4", "0x0", "0x1"]
    assert lines[4].split() == ["4,000", "input", "0", "ttl0", "0x1"]
    assert lines[-1] == "the 5 earlier messages were overwritten"
    assert "$var wire 1 " in (tmp_path / "a.vcd").read_text()
    assert Image.open(tmp_path / "a.png").size[0] > 1000
    assert run("analyze", dump, "--json") == 0
    messages = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [message["kind"] for message in messages] == ["output", "output", "input", "exception", "stopped"]
    assert messages[1]["time"] == 2000 and messages[3]["data"] == "underflow"
    assert run("analyze", dump, "--table", "1") == 0
    assert "... after 4 others" in capsys.readouterr().out


def test_analyze_reads_dump_of_a_device(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as device:

        def answer():
            connection, _ = device.accept()
            with connection:
                connection.sendall(DUMP)

        threading.Thread(target=answer, daemon=True).start()
        address = f"127.0.0.1:{device.getsockname()[1]}"
        assert run("analyze", "--device", address, "--dump", tmp_path / "kept") == 0
    assert (tmp_path / "kept").read_bytes() == DUMP and "ttl4" in capsys.readouterr().out


def test_analyze_rejects_invalid_dump_in_one_line(kairos, tmp_path):
    (tmp_path / "cut").write_bytes(DUMP[:-1])
    one_line(kairos("analyze", tmp_path / "cut"), "the dump is truncated")
    one_line(kairos("analyze", tmp_path / "absent"), "cannot be read: No such file")
    one_line(kairos("analyze"), "give one with --device HOST")
    one_line(kairos("analyze", tmp_path / "cut", "--plot", "a.gif"), "selects the format", 2)


def test_device_address_is_taken_from_option_or_database(tmp_path):
    """A port in the device database is that of the kernel session, with which those of other services shift."""
    database = tmp_path / "db.py"
    for host, expected in [
        ("10.0.0.1:5000", ("10.0.0.1", 5001)),
        ("lab", ("lab", 1382)),
        ("[fe80::1]:5000", ("fe80::1", 5001)),
        ("::1", ("::1", 1382)),
    ]:
        database.write_text(f"device_db = {{'core': {{'type': 'local', 'arguments': {{'host': {host!r}}}}}}}\n")
        assert address_of(Namespace(device=None, device_db=database), 1382) == expected
    assert address_of(Namespace(device="10.0.0.2:77"), 1382) == ("10.0.0.2", 77)


def test_rtiomap_writes_and_shows_channel_names(tmp_path, capsys):
    assert run("rtiomap", tmp_path / "map") == 0
    assert "names of" in capsys.readouterr().out
    data = (tmp_path / "map").read_bytes()
    (count,) = struct.unpack_from("<I", data)
    assert struct.unpack_from("<II", data, 4) == (0, 4) and data[12:16] == b"ttl0" and count >= 12
    assert run("rtiomap", tmp_path / "map", "--show") == 0
    assert capsys.readouterr().out.splitlines()[4] == "0x000004 ttl4"


def test_rtiomap_with_channel_of_two_devices_is_rejected(kairos, tmp_path):
    database = tmp_path / "db.py"
    database.write_text(
        (EXAMPLES / "device_db.py").read_text()
        + "\ndevice_db['twice'] = dict(device_db['ttl4'], arguments={'channel': 4})\n"
    )
    one_line(kairos("rtiomap", tmp_path / "map", device_db=database), "channel 4 belongs to 'ttl4' and to 'twice'")
    (tmp_path / "bad").write_bytes(b"\1\0\0\0\4")
    one_line(kairos("rtiomap", tmp_path / "bad", "--show"), "is not a channel map")


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("datasets")
        group["scan/x"] = [1.0, 2.0, 3.0]
        group["scan/y"] = [1, 4, 9]
        group["scan/y"].attrs["unit"] = "V"
        group["image"] = [[1, 2], [3, 4]]
        group["name"] = "text"
    return path


def test_plot_draws_datasets_or_reports_the_error(results, tmp_path, capsys):
    assert main(["plot", str(results)]) == 0
    tall = Image.open(results.with_suffix(".png")).size
    assert main(["plot", str(results), "scan/y", "-x", "scan/x", "-o", str(tmp_path / "y.png")]) == 0
    assert Image.open(tmp_path / "y.png").size[1] < tall[1]
    assert main(["plot", str(results), "scan/y", "-o", str(tmp_path / "y.svg")]) == 0
    capsys.readouterr()
    for arguments, text in [
        (["absent"], "no dataset 'absent'; it has image, name, scan/x, scan/y"),
        (["name"], "'name' of"),
        (["image", "-x", "scan/x"], "has 2 values, 'scan/x' has 3"),
        (["-o", "a.txt"], "selects the format"),
    ]:
        assert main(["plot", str(results), *arguments]) == (2 if "-o" in arguments else 1)
        assert text in capsys.readouterr().err
    (tmp_path / "bad.h5").write_bytes(b"nothing")
    assert main(["plot", str(tmp_path / "bad.h5")]) == 1
    assert "is not an HDF5 file" in capsys.readouterr().err


def drawn(path):
    """Returns the texts of a picture (SVG), which matplotlib writes as comments."""
    return set(re.findall(r"<!-- (.*?) -->", path.read_text()))


def test_plot_overlays_files_with_error_bars(results, tmp_path):
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["datasets/scan/x"] = [1.0, 2.0]
        file["datasets/scan/y"] = [2.0, 3.0]
        file["datasets/scan/e"] = [0.1, 0.2]
        file["expid"], file["rid"], file["start_time"] = json.dumps({"class_name": "Scan"}), 12, 0.0
    with h5py.File(results, "a") as file:
        file["datasets/scan/e"] = [0.5, 0.5, 0.5]
    path = tmp_path / "both.svg"
    words = ["scan/y", "-x", "scan/x", "--error", "scan/e", "--with", str(other), "-o", str(path)]
    assert main(["plot", str(results), *words]) == 0
    texts = drawn(path)
    assert {"results: scan/y / V", "other: scan/y", "scan/x"} <= texts
    assert any(text.startswith("Scan, run 12, 1970-01-01") for text in texts), texts
    assert main(["plot", str(results), "scan/y", "scan/x", "--overlay", "-o", str(path)]) == 0
    assert {"scan/y / V", "scan/x", "value", "index"} <= drawn(path)
    with h5py.File(other, "a") as file:
        file["datasets/image"] = [[1, 2], [3, 4]]
    assert main(["plot", str(results), "image", "--with", str(other), "-o", str(path)]) == 0
    assert {"results: image", "other: image"} <= drawn(path), "one image does not hide the other"


def test_plot_draws_histograms_and_planes(results, tmp_path, capsys):
    path = tmp_path / "a.svg"
    with h5py.File(results, "a") as file:
        file["datasets/z"], file["datasets/u"], file["datasets/v"] = [1.0, 2, 3, 4], [0.0, 1, 0, 1], [0.0, 0, 1, 1]
        file["datasets/two"] = [10.0, 20.0]
    assert main(["plot", str(results), "scan/y", "--histogram", "-o", str(path)]) == 0
    assert {"scan/y / V", "number"} <= drawn(path)
    assert main(["plot", str(results), "z", "-x", "u", "-y", "v", "-o", str(path)]) == 0
    assert {"u", "v", "z"} <= drawn(path)
    assert main(["plot", str(results), "image", "-y", "two", "-o", str(path)]) == 0
    assert {"two", "image", "index"} <= drawn(path)
    capsys.readouterr()
    assert main(["plot", str(results), "z", "-y", "v"]) == 2
    assert "-y of a list needs -x" in capsys.readouterr().err
    with h5py.File(results, "a") as file:
        file["datasets/minus"], file["datasets/none"] = [1.0, -1, 1, 1], [np.nan] * 4
        file["datasets/some"] = [1.0, np.inf, np.nan, 2]
    for words, text in [
        (["z", "--error", "minus"], "'minus' of"),
        (["none"], "has no value that is a finite number"),
        (["z", "-x", "u", "-y", "u"], "a.svg cannot be drawn"),
        (["imgae"], "did you mean image?"),
    ]:
        assert main(["plot", str(results), *words, "-o", str(path)]) == 1
        assert text in capsys.readouterr().err
    assert main(["plot", str(results), "some", "--histogram", "-o", str(path)]) == 0


def test_histograms_have_bins_for_integers_in_common(results, tmp_path):
    counts = np.random.default_rng(3).poisson(12, 400)
    assert set(np.diff(_edges([counts, counts // 4]))) == {1.0}
    edges = _edges([counts])
    assert edges[0] == counts.min() - 0.5 and edges[-1] > counts.max() >= edges[-2]
    assert set(np.diff(_edges([counts * 1000]))) <= set(range(1000, 4000))
    for odd in ([1e-300, 1.0, 1e300], [5.0, 5.0], [3], [True, False], [np.nan], [0, 2**62], [0.0, 1e-320]):
        edges = np.asarray(_edges([np.array(odd)]))
        assert 2 <= len(edges) <= 500 and (np.diff(edges) > 0).all(), odd


def test_plot_labels_the_axis_of_an_overlay_with_the_unit_in_common(results, tmp_path):
    path = tmp_path / "a.svg"
    with h5py.File(results, "a") as file:
        for name, unit in (("$a_1$", "V"), ("b\n$", "V"), ("c", "s")):
            file["datasets"].create_dataset(name, data=[1.0, 2.0]).attrs["unit"] = unit
    for names, shown in [
        (["$a_1$"], {"$a_1$ / V"}),
        (["$a_1$", "b\n$"], {"value / V", "$a_1$", "b\\n$"}),
        (["$a_1$", "c"], {"value", "$a_1$ / V", "c / s"}),
    ]:
        assert main(["plot", str(results), *names, "--overlay", "-o", str(path)]) == 0
        assert shown <= drawn(path)


def test_plot_of_dataset_that_fills_memory_is_refused(results, capsys):
    """A file of some kilobytes may announce terabytes."""
    with h5py.File(results, "a") as file:
        file["datasets"].create_dataset("huge", (1 << 40,), "f8", chunks=(1 << 16,))
    assert results.stat().st_size < 1 << 20
    assert main(["plot", str(results), "huge"]) == 1
    assert "is not a list or matrix of numbers, or is too large" in capsys.readouterr().err


def test_bench_without_connections_is_reported(tmp_path):
    database = tmp_path / "device_db.py"
    database.write_text((EXAMPLES / "device_db.py").read_text())
    done = run_kairos("bench", "check", "--device-db", database)
    assert (
        done.returncode == 0
        and done.stdout == f"nothing is connected to the pins, and no device in {database} needs it\n"
    )
    assert run_kairos("bench", "check", "--json", "--device-db", database).stdout == ""


def test_new_command_writes_a_working_example(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "rabi_flop"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "wrote rabi_flop.py and device_db.py",
        "run it: kairos run rabi_flop.py",
    ]
    assert "class RabiFlop(EnvExperiment)" in (tmp_path / "rabi_flop.py").read_text()
    assert (tmp_path / "device_db.py").read_text() == (BUILD / "gateware" / "demo" / "device_db.py").read_text()
    assert main(["new", "second"]) == 0
    assert "for the devices of device_db.py" in capsys.readouterr().out
    for name, code, text in [
        ("second", 1, "already exists"),
        ("3", 2, "not a valid experiment name"),
        ("a b", 2, "not a valid experiment name"),
    ]:
        assert main(["new", name]) == code
        assert text in capsys.readouterr().err
    assert main(["compile", "rabi_flop.py", "--emit", "types"]) == 0
    assert "ttl.DigitalOutput.pulse" in capsys.readouterr().out
