"""Integers of undetermined width, on the device."""

from pathlib import Path

EXPERIMENT = Path(__file__).with_name("experiments") / "widths.py"
T = 2**40 + 1000


def word(value):
    """Returns the low 32 bits as a signed number."""
    return (value + 2**31) % 2**32 - 2**31


PRINTED = f"""\
1 5 3 -1 {T + 1}
{T} {2**40 + 1} 1.0 0
{((7 ^ 2) << 3) & 0xFF}
{word(0x80000008 | 5 << 28)} {word((0x80000000 | 5) ^ 0xFFFFFFFE)}
{word(T & 0xFF)} {word(T << 8)} {word(T + 1)} {word(T // 7)}
5 3 3 -1
"""


def test_widths_of_integers_match_the_specification(kairos):
    done = kairos("run", EXPERIMENT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.stderr.count("the result of this operation on numpy.int64 is truncated to numpy.int32") == 4


def test_strict_mode_rejects_narrowed_integers(kairos):
    done = kairos("run", EXPERIMENT, "--strict")
    assert done.returncode != 0
    assert "with --strict, warnings are errors" in done.stderr
