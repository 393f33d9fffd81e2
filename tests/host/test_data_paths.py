"""Evaluation of a measurement's samples: spreads, throughput, JSON, picture; and the plan of measurements."""

import struct

import pytest
from PIL import Image

from kairos.cli.paths_plot import write_plot
from kairos.errors import ConnectionLost
from kairos.network.paths import LABELS, Path, Series, Spread, plan


def reply(*samples, processor=800_000_000, logic=125_000_000):
    return struct.pack("<II", processor, logic) + b"".join(struct.pack("<III", *sample) for sample in samples)


def test_statistics_have_spread_and_throughput():
    series = Series.read(Path.STREAM_FROM_MEMORY, 1000, reply((800, 32, 35), (1600, 33, 40), (400, 32, 36)))
    assert series.time_ns() == Spread(500, 1000, 2000, 2000)
    # 1000 bytes in 0.5, 1 and 2 us
    assert series.throughput() == Spread(500, 1000, 2000, 2000)
    first, last = series.logic_ns()
    assert (first, last.max) == (Spread(256, 256, 264, 264), 320)
    assert series.as_json()["logic_last_ns"]["median"] == 288


def test_rare_late_trials_are_beyond_the_percentile():
    series = Series.read(Path.REQUEST, 0, reply(*[(400, 0, 0)] * 990, *[(4000, 0, 0)] * 10))
    assert series.time_ns() == Spread(500, 500, 5000, 500)
    assert (
        Series.read(Path.REQUEST, 0, reply(*[(400, 0, 0)] * 989, *[(4000, 0, 0)] * 11)).time_ns().percentile_99 == 5000
    )


def test_throughput_is_reported_of_register_path_and_not_of_request_path():
    handshake = Series.read(Path.REGISTER_HANDSHAKE, 0, reply((160, 0, 0)))
    assert handshake.throughput().median == 40 and handshake.logic_ns() is None
    assert Series.read(Path.REQUEST, 0, reply((160, 0, 0))).throughput() is None
    without_logic = Series.read(Path.MESSAGE_TO_KERNEL, 8, reply((0, 0, 0), logic=0))
    assert without_logic.time_ns().max == 0


@pytest.mark.parametrize("content", [b"", b"12345678", reply((1, 2, 3))[:-1]])
def test_reply_of_wrong_size_is_rejected(content):
    with pytest.raises(ConnectionLost, match=f"{len(content)} bytes"):
        Series.read(Path.COPY, 8, content)


def test_every_path_has_name_and_sizes():
    assert LABELS.keys() == set(Path)
    sizes = [size for path, size, _ in plan([Path.STREAM_TO_MEMORY], 100)]
    assert (sizes[0], sizes[-1], len(sizes)) == (32, 1 << 20, 16)
    assert [size for _, size, _ in plan([Path.MESSAGE_TO_KERNEL], 9)] == [8 << n for n in range(10)]
    assert list(plan([Path.REGISTER_READ], 5000)) == [(Path.REGISTER_READ, 0, 1000)]
    often = [trials for _, _, trials in plan([Path.STREAM_TO_MEMORY], 100)]
    assert (often[0], often[-1]) == (100, 3) and all(n == 1 for _, _, n in plan(Path, 1))


@pytest.mark.parametrize("paths", [[], [Path.REQUEST], [Path.COPY, Path.REGISTER_READ], list(Path)])
def test_picture_of_measured_paths_is_written(tmp_path, paths):
    series = [Series.read(p, size, reply((100 + size, 30, 40 + size // 8))) for p, size, _ in plan(paths, 1)]
    write_plot(tmp_path / "a.png", series)
    assert Image.open(tmp_path / "a.png").size[0] > 1000
