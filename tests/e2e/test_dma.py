"""DMA: recorded outputs appear at the pins, and errors are exceptions."""

import re
from pathlib import Path

import pytest

EXPERIMENT = Path(__file__).with_name("experiments") / "dma.py"

PRINTED = """\
recorded
advanced 10000
invalid handle
not found
already recording
left
erased
Invalid handle
"""


def test_recordings_play_and_are_erased(kairos, tmp_path):
    trace = tmp_path / "trace.vcd"
    done = kairos("run", EXPERIMENT, "--vcd", trace)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "RTIOUnderflow: RTIO underflow at" in done.stderr, done.stderr
    assert "channel 0x0004:ttl4" in done.stderr
    # ttl4: four times the trace, and a pulse at the end. Levels relative to the first pulse.
    text = trace.read_text()
    sign = re.search(r"wire 1 (\S+) ttl4", text)[1]
    changes, now = [], 0
    for line in text[text.index("$enddefinitions") :].splitlines():
        if line.startswith("#"):
            now = int(line[1:])
        elif line[1:] == sign:
            changes.append((now, line[0]))
    assert len(changes) == 2 * (4 * 50 + 1)
    assert changes[:100] == [(200 * n + 96 * low, "10"[low]) for n in range(50) for low in (0, 1)]


def test_outputs_keep_time_while_other_core_is_busy(kairos, tmp_path):
    """The logic had been advanced for core 0, and two requests of core 1 fell into one of its
    cycles."""
    trace = tmp_path / "trace.vcd"
    done = kairos("run", EXPERIMENT.with_name("busy_cores.py"), "--vcd", trace)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("played")
    text = trace.read_text()
    sign = re.search(r"wire 1 (\S+) ttl4", text)[1]
    assert sum(line[1:] == sign for line in text[text.index("$enddefinitions") :].splitlines()) >= 2 * 6


@pytest.mark.long
def test_too_long_recording_ends_at_the_output_without_room(kairos):
    """30 MiB hold some 393,000 events of 16 words, of the 16 million that the kernel would record."""
    done = kairos("run", EXPERIMENT.with_name("dma_long.py"), "--no-table")
    assert done.returncode == 0, done.stderr
    match = re.search(r"no memory left for this DMA recording after (\d+) outputs, the last at (\d+) mu", done.stdout)
    events, last = map(int, match.groups())
    assert 380_000 < events < 400_000 and last == 8 * (events - 1)
    assert done.stdout.rstrip().splitlines()[-1:] != [] and "short" in done.stdout
