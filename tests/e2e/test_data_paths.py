"""`kairos device paths` on an emulated device whose gateware measures its ports: the whole
table, as JSON and picture, with the values required by the RTL and the emulator's parameters."""

import json

import pytest
from PIL import Image

from tests.support import TIMEOUT
from tests.support.command import one_line, run_kairos

CYCLE_NS = 8
HP_LATENCY, ACP_LATENCY, ACP_VISIBLE = 30, 20, 15
"""Parameters of the emulator, in cycles (docs/emulator.md, "Time")."""


def measure(database, directory, *arguments):
    """Run `kairos device paths` with these arguments."""
    words = ("device", "--device-db", database, "paths", *arguments)
    return run_kairos(*words, cwd=directory, timeout=2 * TIMEOUT)


@pytest.fixture(scope="module")
def measured(pulse, tmp_path_factory):
    """Return the series by path and size; the picture."""
    directory = tmp_path_factory.mktemp("paths")
    done = measure(pulse, directory, "--json", "--trials", 1, "--plot", "paths.png")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["absent"] == []
    return {(s["path"], s["size"]): s for s in found["series"]}, directory / "paths.png"


@pytest.mark.long
def test_logic_moves_one_beat_per_cycle(measured):
    """Latencies are the emulator's, everything else is the logic's, to the cycle."""
    series, _ = measured
    sizes = [size for path, size in series if path == "stream_from_memory"]
    assert sizes == [1 << n for n in range(5, 21)]
    for path, first, burst in [
        ("stream_from_memory", 2 + HP_LATENCY, 1),
        ("coherent_from_memory", 2 + ACP_LATENCY, 1),
        ("stream_to_memory", 3 + HP_LATENCY, 16),
        ("coherent_to_memory", 3 + ACP_VISIBLE, 4),
    ]:
        for size in sizes:
            beats, found = size // 8, series[path, size]
            cycles = [found[name]["median"] / CYCLE_NS for name in ("logic_first_ns", "logic_last_ns")]
            begin = first + (min(burst, beats) if burst > 1 else 0)
            assert cycles == [begin, begin + beats - min(burst, beats)], (path, size)
    assert 0.98e3 < series["stream_from_memory", 1 << 20]["throughput_mb_s"]["median"] <= 1e3


def test_processor_time_is_at_least_logic_time(measured):
    series, _ = measured
    for one in series.values():
        if "logic_last_ns" in one:
            assert one["time_ns"]["min"] >= one["logic_last_ns"]["min"]
        assert one["time_ns"]["min"] <= one["time_ns"]["median"] <= one["time_ns"]["max"] < 10e6


def test_register_access_time_matches_parameter(measured):
    series, _ = measured
    for path, accesses in [("register_write", 1), ("register_read", 1), ("register_handshake", 2)]:
        assert 90 * accesses <= series[path, 0]["time_ns"]["median"] < 100 * accesses
    for path, accesses in [("lines_write", 1), ("lines_read", 1), ("lines_handshake", 2)]:
        # Assumed to take as long as an access through GP0; the logic returns lines within it.
        assert 90 * accesses <= series[path, 0]["time_ns"]["median"] < 100 * accesses
    assert 300 < series["request", 0]["time_ns"]["median"] < 600


def test_message_takes_the_same_time_after_any_measurement(measured):
    """The comms core sleeps when it comes, and arms no time limit meanwhile."""
    series, _ = measured
    for path in ("message_to_kernel", "message_to_comms"):
        short = [series[path, 1 << n]["time_ns"]["median"] for n in range(3, 7)]
        assert max(short) < 1.3 * min(short), (path, short)


def test_picture_of_measurements_is_written(measured):
    assert Image.open(measured[1]).size[0] > 1000


def test_only_selected_paths_are_measured(pulse, tmp_path):
    done = measure(pulse, tmp_path, "register-read", "copy", "--trials", 2)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 2 + 1 + 16, done.stderr
    assert lines[2].startswith("GP0: read a register") and lines[3].startswith("processor: memory to memory")


def test_invalid_arguments_are_rejected_in_one_line(pulse, tmp_path):
    one_line(measure(pulse, tmp_path, "gpio"), "no path 'gpio'; there are register-write,", 2)
    one_line(measure(pulse, tmp_path, "--trials", 0), "--trials 0", 2)
    one_line(measure(pulse, tmp_path, "--plot", "a.gif"), "selects the format", 2)
