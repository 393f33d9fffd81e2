"""Numbers that change from call to call, in kernels on the emulated device."""

from pathlib import Path

EXPERIMENT = Path(__file__).with_name("experiments") / "scanned_numbers.py"


def test_kernels_with_changing_numbers_compute_as_python(kairos, tmp_path):
    kept = tmp_path / "kept"
    for _ in range(2):
        done = kairos("run", EXPERIMENT, "--no-table", env={"KAIROS_CACHE": str(kept)})
        assert done.returncode == 0 and done.stdout.startswith("as in Python"), done.stdout + done.stderr
        entries = sorted(entry.name for entry in kept.rglob("*.kernel"))
        # Of point(): with constants, with data, and the wide number in 64 bits, each with two numbers of arguments; of
        # interleaved(), whose delay is a constant, one for each value.
        assert len(entries) <= 20
