"""The cache: values persist, copies are private, replacement frees memory, an overflowing stack
cannot reach it."""

from pathlib import Path

EXPERIMENT = Path(__file__).with_name("experiments") / "cache.py"

PRINTED = """\
borrowed [1, 20, 3] [9] []
removed [] [1, 20, 3]
unknown []
copy [100, -2, 3]
kept [7, 8] [4, 5] [] [7]
full after 3 2
room 262144 [4, 5]
4 MiB and three lists of 8: 8
fault: True
kept [7, 8] [4, 5] [] [7]
"""


def test_cached_values_persist_between_kernels(kairos):
    done = kairos("run", EXPERIMENT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(PRINTED), done.stdout
