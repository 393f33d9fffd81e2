"""One bench at the pins of a master and of a satellite: parts of one board, and parts that connect
both."""

import json
import re
from pathlib import Path

import pytest

from kairos.testing import Bench
from tests.support.boards import pair_description
from tests.support.databases import two_boards
from tests.support.gateware import built
from tests.support.scope import lanes

FOLDER = Path(__file__).with_name("experiments")
EXPERIMENT, BENCH = FOLDER / "system_bench.py", FOLDER / "system_bench.toml"
NAMED = "device_db['counts'] = device_db['sat_ttl1']\n"
PRINTED = r"down 38 up 8\nphotons (\d+) (\d+)\nthere 38 and back 2046\nmains (49|50|51)\n"


def database(folder, host="emulator://pair"):
    path = folder / "device_db.py"
    path.write_text(two_boards(host) + NAMED)
    return path


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    built("pair", "satellite")
    return database(tmp_path_factory.mktemp("pair"))


def printed(done) -> re.Match:
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.match(PRINTED, done.stdout)
    assert found, done.stdout
    return found


def test_times_between_boards_are_exact_and_reproducible(kairos, pair):
    files, texts = [], []
    for options in [(), ("--no-skip",)]:
        done = kairos(
            "run",
            EXPERIMENT,
            "-c",
            "Joined",
            "--bench",
            BENCH,
            "--vcd",
            "a.vcd",
            "--no-table",
            *options,
            device_db=pair,
        )
        found = printed(done)
        assert "bench:" not in done.stderr
        texts.append(found[0])
        files.append((kairos.directory / "a.vcd").read_text())
        # 20 MHz of photons for 100 us, of which 2 % are counted, and 2 dark counts
        assert int(found[1]) < 12 and 20 < int(found[2]) < 70
    assert len(set(texts)) == len(set(files)) == 1


@pytest.mark.long
@pytest.mark.parametrize("delay", [0, 100_000])
def test_times_between_boards_are_independent_of_the_fibre(kairos, pair, delay):
    system = kairos.directory / "system.toml"
    system.write_text(pair_description("pair", "satellite", delay))
    file = database(kairos.directory, f"emulator://{system}")
    printed(kairos("run", EXPERIMENT, "-c", "Joined", "--bench", BENCH, "--no-table", device_db=file))


def test_command_line_wires_connect_pins_of_two_boards(kairos, pair):
    for source, edges, delay in [("ttl4", 100, 8), ("sat_ttl4", 100, None)]:
        wires = ["--wire", "sat_ttl0=10kHz", "--wire", f"sat_ttl1={source}"]
        done = kairos("run", EXPERIMENT, "-c", "Wired", "--no-table", *wires, device_db=pair)
        assert done.returncode == 0, done.stderr
        found = [int(word) for word in done.stdout.splitlines()[0].split()]
        assert found[0] == edges and (found[1] == delay if delay else found[1] < 0)


@pytest.mark.parametrize(
    "text, error",
    [
        ('[line.a]\npin = "sat_ttl9x"', ":2: the device has no pin sat_ttl9x; its inputs are sat_ttl0, sat_ttl1, "),
        ('[line.a]\npin = "sat_ttl4"', ":2: a cannot drive sat_ttl4: it is an output of the device"),
        ('[line.a]\npin = "counts"\n[line.b]\npin = "sat_ttl1"', ":4: b and a both drive the pin sat_ttl1"),
        ("[urukul.urukul0]", ":1: the device has no card urukul0; it has none"),
    ],
)
def test_invalid_bench_is_reported_in_one_line_with_its_place(kairos, pair, text, error):
    file = kairos.write(text, head="", name="bad.toml")
    for words in [("run", EXPERIMENT, "-c", "Wired", "--bench", file), ("bench", "check", file)]:
        done = kairos(*words, device_db=pair)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
        assert f"{file}{error}" in done.stderr


def test_bench_of_two_boards_is_checked_and_drawn(kairos, pair):
    done = kairos("bench", "check", BENCH, "--json", device_db=pair)
    assert done.returncode == 0, done.stderr
    parts = {part["name"]: part for part in map(json.loads, done.stdout.splitlines())}
    assert parts["down"]["from"] == [["ttl4", ""]] and parts["down"]["to"] == [["sat_ttl0", ""]]
    assert parts["pmt"]["to"] == [["sat_ttl1", ""]]
    done = kairos("bench", "draw", BENCH, "-o", "wiring.svg", device_db=pair)
    assert done.returncode == 0 and "sat_ttl0" in (kairos.directory / "wiring.svg").read_text()


def test_warning_of_satellite_part_has_the_line_of_the_kernel(kairos, pair):
    done = kairos("run", EXPERIMENT, "-c", "Driven", "--bench", BENCH, "--no-table", device_db=pair)
    assert done.returncode == 0, done.stderr
    line = next(n for n, text in enumerate(EXPERIMENT.read_text().splitlines(), 1) if "sat_ttl2.output()" in text)
    said = f", {EXPERIMENT.name}:{line}: mains: the device drives the pin that it drives: "
    assert said in done.stderr, done.stderr


def test_page_of_a_run_shows_both_boards(kairos, pair):
    words = ["-c", "Joined", "--bench", BENCH, "--scope", "a.html", "--no-table"]
    printed(kairos("run", EXPERIMENT, *words, device_db=pair))
    found = lanes(kairos.directory / "a.html")
    pulses, levels = found["master/ttl4"]
    edges, seen = found["inputs/satellite1/sat_ttl0"]
    assert edges == [time + 38 for time in pulses] and seen == levels
    assert found["satellite1/sat_ttl4"][0] == [time - 8 for time in found["inputs/master/ttl0"][0]]
    assert max(found["bench/ion0/photons"][1]) == pytest.approx(20e6)
    marks = [texts for name, (_, texts) in found.items() if name.startswith("source/system_bench.py")]
    assert any("sat_ttl4" in text for texts in marks for text in texts)
    assert any("ttl4" in text for texts in marks for text in texts)


def test_bench_fixture_reports_pins_of_both_boards(pair):
    with Bench(pair, BENCH) as bench:
        bench.run(EXPERIMENT, "Joined")
        assert bench.warnings == []
        assert [round(1e9 * (end - start)) for start, end in bench.pin("sat_ttl4").pulses] == [1000, 1000]
        assert bench.part("ion0") is not None
