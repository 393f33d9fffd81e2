"""The pulse core from Python: gates, words, model, and the subcommands."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from kairos.pulse import Branch, Core, Follow, GateSet, Mixed, Model, Pulse, PulseError, Spline, Steps, load

KAIROS = Path(sys.executable).with_name("kairos")
FILE = """
import math
from kairos.pulse import Follow, GateSet, Pulse

AMPLITUDE = {amplitude}


def gaussian(t):
    return AMPLITUDE * math.exp(-(((t - 5e-6) / 2e-6) ** 2))


gates = GateSet(
    {{
        "x": [Pulse(channel=0, duration=10e-6, freq0=200e6, amp0=Follow(gaussian, 0.05), sync=1, forward=(1, 0))],
        "z": [Pulse(channel=0, cycles=8, framerot0=90.0, forward=(1, 0))],
        "ms": [
            Pulse(channel=c, duration=20e-6, freq0=199e6, freq1=201e6, amp0=(0, 80, 80, 0), amp1=(0, 80, 80, 0))
            for c in (0, 1)
        ],
    }},
    sequence=["x", "z", "x", "ms"],
)
"""


def square(amplitude=50.0, channel=0, **more):
    return Pulse(channel=channel, duration=1.25e-6, freq0=200e6, amp0=amplitude, phase0=90.0, **more)


def test_square_pulse_matches_vector_3():
    gates = GateSet({"square": [square(channel=2)]}, core=Core(gates=0))
    words = gates.sequence(["square"], close=False)
    # Five zero parameters share one word; the first word is that of the frequency.
    assert words.shape == (4, 32)
    assert words[0][::-1].tobytes().hex() == "04e0000001000000000002000000000000000000000000000000003e80000000"


def test_compiled_gates_play_with_their_amplitudes():
    gates = GateSet({"a": [square()], "b": [square(100.0)]})
    run = gates.sequence(["a", "b"])
    model = Model()
    model.feed(gates.programming())
    model.run_until_idle()
    played = model.play(run, 1100)
    amplitude = played.amplitude(0, 0)
    start = int(numpy.argmax(amplitude > 0))
    assert amplitude[start : start + 512] == pytest.approx(50, abs=0.004)
    assert amplitude[start + 512 : start + 1024] == pytest.approx(100, abs=0.004)
    assert played.frequency(0, 0)[start] == 200e6
    assert played.samples.shape == (8, 2200)
    signal = played.samples[0, 2 * (start + 512) : 2 * (start + 1024)].astype(float)
    assert signal.max() == pytest.approx(16383, abs=10)
    assert model.errors() == []


def test_shapes_are_compiled_to_splines():
    values = {"amp0": [10, 20], "amp1": (0, 50, 0), "phase0": Mixed((Spline((0, 10)), 5.0, Steps((1, 2))))}
    gates = GateSet({"a": [Pulse(channel=1, cycles=300, **values)]})
    model = Model()
    played = model.play(gates.words(["a"]), 400)
    amplitude = played.amplitude(1, 0)
    steps = [round(value) for value in amplitude[numpy.r_[True, numpy.diff(amplitude) != 0]]]
    assert steps == [10, 20, 0]
    assert played.amplitude(1, 1).max() == pytest.approx(50, abs=0.1)
    phases = played.phase(1, 0)
    assert {0, 5, 1, 2} <= {round(float(phase), 6) for phase in phases}


def test_splines_follow_functions_within_tolerance():
    def shape(t):
        return 120 * math.sin(math.pi * t / 10e-6) ** 2

    samples = [shape(t) for t in numpy.linspace(0, 10e-6, 500)]
    for course in (shape, samples, numpy.array(samples)):
        gates = GateSet({"a": [Pulse(channel=0, duration=10e-6, amp0=Follow(course, 0.02))]})
        (use,) = gates.stats()
        assert 0 < use.error < 0.025 and use.in_tables and use.cycles == 4096
        played = Model().play(gates.words(["a"]), 4300)
        amplitude = played.amplitude(0, 0)
        assert amplitude.max() == pytest.approx(120, abs=0.03)


def test_recalibration_of_one_gate_writes_one_word():
    old = GateSet({f"g{n}": [square(10.0 + n)] for n in range(40)})
    gates = {name: list(pulses) for name, pulses in old.gates.items()}
    gates["g7"] = [square(18.5)]
    new = old.successor(gates)
    assert len(new.changes(old)) == 1
    assert len(new.changes(new)) == 0


def test_result_selects_the_branch_to_play():
    gates = GateSet({"a": [square(50.0)], "b": [square(100.0)]})
    run = gates.sequence([Branch((("a",), ("b",)))])
    for result, amplitude in ((0, 50), (1, 100), (2, 0)):
        model = Model()
        model.feed(numpy.concatenate([gates.programming(), run]))
        model.run_until_idle()
        model.result(result)
        assert model.run(600, samples=False).amplitude(0, 0).max() == pytest.approx(amplitude, abs=0.01)


@pytest.mark.parametrize(
    "pulse, text",
    [
        (square(201), "gate bad, channel 0, amplitude of tone 0: 201 is outside"),
        (square(math.nan), "gate bad, channel 0, amplitude of tone 0: it is not a finite number"),
        (Pulse(channel=9, cycles=100), "gate bad, channel 9: there are channels 0 to 7"),
        (
            Pulse(channel=0, cycles=100, freq1=500e6),
            "gate bad, channel 0, frequency of tone 1: 500000000 Hz is outside",
        ),
        (Pulse(channel=0, cycles=100, amp0=(0, 200, 200, 0)), "amplitude of tone 0: between its knots"),
    ],
)
def test_gate_errors_name_gate_channel_and_parameter(pulse, text):
    with pytest.raises(PulseError) as raised:
        GateSet({"bad": [pulse]})
    assert text in str(raised.value)


def kairos(*arguments, cwd):
    return subprocess.run([KAIROS, "pulse", *arguments], cwd=cwd, capture_output=True, text=True, timeout=120)


def test_pulse_subcommands_print_and_plot(tmp_path):
    (tmp_path / "old.py").write_text(FILE.format(amplitude=100))
    (tmp_path / "new.py").write_text(FILE.format(amplitude=101))
    done = kairos("compile", "old.py", "-o", "gates.words", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "gates.words").stat().st_size % 32 == 0
    gates = load(tmp_path / "old.py")
    assert (tmp_path / "gates.words").read_bytes() == gates.words().tobytes()
    for name in ("played.npz", "played.png"):
        done = kairos("view", "old.py", "-o", name, cwd=tmp_path)
        assert done.returncode == 0 and "samples of channels 0, 1" in done.stdout, done.stderr + done.stdout
        assert "error reported by the core" not in done.stdout
    played = numpy.load(tmp_path / "played.npz")
    assert played["samples"].shape[0] == 8 and played["samples"][0].max() > 10_000
    assert played["samples"][1].max() > 10_000 and not played["samples"][2].any()
    done = kairos("stats", "old.py", cwd=tmp_path)
    assert done.returncode == 0 and "ms" in done.stdout and "tables" in done.stdout
    uses = [json.loads(line) for line in kairos("stats", "old.py", "--json", cwd=tmp_path).stdout.splitlines()]
    assert uses and {"gate", "cycles", "in_tables", "clock_hz"} <= uses[0].keys()
    (tmp_path / "bad.py").write_text(FILE.format(amplitude=300))
    done = kairos("stats", "bad.py", cwd=tmp_path)
    assert done.returncode != 0 and "gate x, channel 0, amplitude of tone 0" in done.stderr
    (tmp_path / "broken.py").write_text("junk\n")
    done = kairos("stats", "broken.py", cwd=tmp_path)
    assert done.returncode == 1 and "broken.py cannot be run:" in done.stderr and done.stderr.count("Traceback") == 1
    assert "kairos/cli" not in done.stderr
    (tmp_path / "none.py").write_text("")
    assert "defines 0 gate sets" in kairos("stats", "none.py", cwd=tmp_path).stderr


def test_word_counts_of_compiler_and_model_agree(tmp_path):
    """Where channels wait for others the sequence needs pauses, which are also in the tables."""
    (tmp_path / "old.py").write_text(FILE.format(amplitude=100))
    done = kairos("compile", "old.py", "-o", "a.words", cwd=tmp_path)
    words = r"(\d+) program (?:3|all its) gates, and (\d+) the pauses of its sequence; (\d+) run it"
    gates, pauses, run = map(int, re.search(words, done.stdout).groups())
    assert f"{gates + pauses + run} words. " in done.stdout and pauses > 0
    assert (tmp_path / "a.words").stat().st_size == 32 * (gates + pauses + run)
    done = kairos("stats", "old.py", cwd=tmp_path)
    assert f"{gates} words program them, and {pauses} the pauses of its sequence" in done.stdout
    done = kairos("diff", "old.py", "old.py", cwd=tmp_path)
    assert done.stdout.startswith("0 words ")
    assert tuple(map(int, re.search(words, done.stdout).groups())) == (gates, pauses, run)


def test_difference_words_play_the_new_gates(tmp_path):
    for name, amplitude in (("old", 100), ("new", 60)):
        (tmp_path / f"{name}.py").write_text(FILE.format(amplitude=amplitude))
    old, new = load(tmp_path / "old.py"), load(tmp_path / "new.py")
    done = kairos("diff", "old.py", "new.py", "-o", "change.words", "--json", cwd=tmp_path)
    counts = json.loads(done.stdout)
    change = numpy.fromfile(tmp_path / "change.words", "u1").reshape(-1, 32)
    assert len(change) == counts["words"] + counts["run"] and counts["words"] < counts["words_of_all"] / 3

    def seen(played):
        """Returns each channel's output from its first amplitude on: without a trigger, starts may differ in cycle."""
        begins = [int(numpy.argmax(played.amplitude(c, 0) != 0)) for c in range(2)]
        return [played.values[c, :6, begin : begin + 8192] for c, begin in enumerate(begins)]

    model = Model(trigger_channels=3)
    first = seen(model.play(old.words(), 17_000))
    model.run_until_idle()
    second = seen(model.play(change, 17_000))
    assert model.errors() == []
    fresh = seen(Model(trigger_channels=3).play(new.words(), 17_000))
    assert all((one == other).all() for one, other in zip(second, fresh, strict=True))
    assert (first[0] != second[0]).any()
