"""Behaviour of compiled kernels on the device that depends on its unwinder and its remote calls."""

from pathlib import Path

EXPERIMENT = Path(__file__).with_name("experiments") / "language.py"

PRINTED = """\
caught index
caught all
caught value
fin inner
outer caught
again
finally 0
finally 1
1
5.0 héllo (4, 2.5, 'x') [1, 2, 3]
zero div
1 3 1099511627776 32.0 5
cleanup
"""


def line_of(text):
    lines = EXPERIMENT.read_text(encoding="utf-8").splitlines()
    return lines.index(text) + 1


def test_exceptions_and_rpcs_behave_as_printed(kairos):
    done = kairos("run", EXPERIMENT)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1


def test_traceback_shows_frames_with_user_lines(kairos):
    done = kairos("run", EXPERIMENT)
    places = [line for line in done.stderr.splitlines() if line.startswith("  File")]
    wanted = [("inner", "        return self.data[i]"), ("last", None), ("run", "        self.last()")]
    assert len(places) == len(wanted), done.stderr
    for place, (function, source) in zip(places, wanted, strict=True):
        assert f"in language.Exc.{function}" in place
        assert source is None or f"line {line_of(source)}," in place
    assert "IndexError: index 5 out of bounds 0:3" in done.stderr


def test_cached_kernel_behaves_the_same(kairos, tmp_path):
    """A kernel compiled by an earlier run is found, and makes the same calls, exceptions and
    traceback."""
    kept = tmp_path / "kept"

    def run():
        done = kairos("run", EXPERIMENT, env={"KAIROS_CACHE": str(kept)})
        assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
        places = [line for line in done.stderr.splitlines() if line.startswith(("  File", "IndexError"))]
        return places, [entry.stat().st_ino for entry in kept.rglob("*.kernel")]

    places, entries = run()
    assert places and len(entries) == 1
    assert run() == (places, entries)
