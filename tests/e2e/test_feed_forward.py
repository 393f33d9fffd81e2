"""The feed-forward follows a drifting laser without a kernel: in the verilated logic, on the bench's beat."""

import re

import pytest

from tests.support.command import Kairos
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

COMB = EXAMPLES / "comb"


def run(folder, *words, bench=None):
    built("pulse")
    (folder / "bench.toml").write_text(bench or (COMB / "bench.toml").read_text())
    arguments = ("--bench", folder / "bench.toml", "--no-table", *words)
    return Kairos(folder)("run", COMB / "feed_forward.py", *arguments, device_db=COMB / "device_db.py")


def residuals(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return [float(number) for number in re.search(r"beat: ([\d.]+) Hz without, ([\d.]+) Hz", done.stdout).groups()]


@pytest.fixture(scope="module")
def tracked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comb")
    return run(folder, "figure=spectrum.png"), folder


def test_drifting_laser_is_followed_to_parts_in_hundreds(tracked):
    done, folder = tracked
    without, followed = residuals(done)
    assert 4_000 < without < 12_000  # three times 1.5 kHz and what it has drifted and swayed since power-up
    assert followed < without / 100
    assert (folder / "spectrum.png").stat().st_size > 10_000


def test_skipped_time_leaves_residuals_unchanged(tracked, tmp_path):
    done, _ = tracked
    clocked = run(tmp_path, "--no-skip")
    assert residuals(clocked) == residuals(done)


def test_missing_beat_is_reported(tmp_path):
    bench = (COMB / "bench.toml").read_text().replace('switch = "ttl4"', 'switch = "ttl5"')
    done = run(tmp_path, bench=bench)
    assert done.returncode == 1 and "the beat was not tracked" in done.stderr
