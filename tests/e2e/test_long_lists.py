"""Lists of numbers long enough to be placed by the linker."""

from pathlib import Path

EXPERIMENT = Path(__file__).with_name("experiments") / "long_lists.py"


def test_long_lists_of_every_number_type_arrive(kairos):
    done = kairos("run", EXPERIMENT)
    assert done.returncode == 0, done.stderr
    names = ["plain", "wide", "floats", "with_float", "int32", "int64", "with_int32", "changed"]
    assert done.stdout.splitlines()[: len(names)] == [f"{name} True" for name in names], done.stdout
