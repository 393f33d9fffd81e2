"""The cache: values persist, copies are private, and what is replaced makes room."""

from pathlib import Path

EXPERIMENT = Path(__file__).with_name("experiments") / "cache.py"

PRINTED = """\
unknown []
copy [100, -2, 3]
kept [4, 5] [] [7]
full after 7 6
room 262144 [4, 5]
"""


def test_cache(kairos):
    done = kairos("run", EXPERIMENT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(PRINTED), done.stdout
