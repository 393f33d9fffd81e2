"""Gate sets in the pulse core: only gates that are loaded are played, and a set is changed into another one
by the words in which they differ."""

import json

import pytest

from kairos.pulse import Recording
from tests.support.command import Kairos

EXPERIMENT = """from artiq.experiment import *
from artiq.coredevice.pulse import PulseError
from kairos.pulse import Adjustable, Branch, Pulse
import json


class Sets(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")

    def prepare(self):
        def gates(a, b, shape=lambda value: value):
            return {
                "a": [Pulse(channel=0, cycles=50, freq0=20e6, amp0=shape(a))],
                "b": [Pulse(channel=1, cycles=60, freq0=20e6, amp0=b)],
            }

        self.one = self.pulse0.define(gates(50.0, 60.0, Adjustable), "one")
        self.two = self.pulse0.define(gates(70.0, 80.0))
        self.three = self.pulse0.define(gates(90.0, 100.0), "three")
        self.four = self.three.successor(gates(110.0, 100.0), "four")
        self.a, self.b, self.a2, self.a3, self.a4 = (
            self.one["a"], self.one["b"], self.two["a"], self.three["a"], self.four["a"]
        )
        self.five = self.one.successor(gates(50.0, 65.0), "five")
        self.b2, self.a5, self.b5 = self.two["b"], self.five["a"], self.five["b"]
        self.early = self.one.sequence(["a"])
        self.late = self.early
        self.found = {}

    def run(self):
        self.start()
        self.attempt("nothing loaded", self.play)
        self.load()
        self.attempt("right", self.play)
        self.attempt("wrong", self.play_two)
        self.attempt("updated", self.update)
        self.attempt("sequence", self.play_early)
        self.late = self.one.sequence([("a", "b")])
        self.attempt("late sequence", self.play_late)
        self.attempt("changed after it", self.unrelated)
        self.attempt("not prepared", self.changed)
        self.attempt("prepared", self.prepared)
        self.attempt("another one", self.another)
        self.load()
        self.attempt("result", self.result)
        self.attempt("threshold", self.threshold)
        self.attempt("harmonic", self.harmonic)
        self.begins = [int(begin) for begin in self.there_and_back()]
        self.others = [int(begin) for begin in self.unrelated_sets()]

    def attempt(self, name, cause):
        try:
            cause()
            self.found[name] = "done"
        except (PulseError, ValueError) as error:
            self.found[name] = f"{type(error).__name__}: {error}"

    def analyze(self):
        with open("found.json", "w") as file:
            json.dump([self.found, self.begins, self.others], file)

    @kernel
    def start(self):
        self.core.reset()

    @kernel
    def load(self):
        self.core.break_realtime()
        self.pulse0.load(self.one)

    @kernel
    def play(self):
        self.core.break_realtime()
        self.pulse0.play(self.a)
        self.pulse0.wait_armed()

    @kernel
    def play_two(self):
        self.core.break_realtime()
        self.pulse0.play(self.a2)

    @kernel
    def update(self):
        self.core.break_realtime()
        self.pulse0.update(self.a2, 1, 10.0)

    @kernel
    def play_early(self):
        self.core.break_realtime()
        self.pulse0.play_sequence(self.early)
        self.pulse0.wait_armed()

    @kernel
    def play_late(self):
        self.core.break_realtime()
        self.pulse0.play_sequence(self.late)

    @kernel
    def changed(self):
        self.core.break_realtime()
        self.pulse0.play_changed(self.a, 1, 20.0)

    @kernel
    def prepared(self):
        self.core.break_realtime()
        self.pulse0.prepare(self.a)
        self.pulse0.play_changed(self.a, 1, 20.0)
        self.pulse0.wait_armed()

    @kernel
    def another(self):
        self.core.break_realtime()
        self.pulse0.play_changed(self.b, 1, 20.0)

    @kernel
    def unrelated(self):
        self.core.break_realtime()
        self.pulse0.change(self.one, self.two)

    @kernel
    def result(self):
        self.core.break_realtime()
        self.pulse0.result(16)

    @kernel
    def threshold(self):
        self.core.break_realtime()
        self.pulse0.set_threshold(4, 1)

    @kernel
    def harmonic(self):
        self.core.break_realtime()
        self.pulse0.set_harmonic(2, 0, 1)

    @kernel
    def there_and_back(self) -> TList(TInt64):
        self.core.break_realtime()
        begins = [int64(0), int64(0), int64(0)]
        self.pulse0.load(self.three)
        delay(20*us)
        begins[0] = now_mu()
        self.pulse0.play(self.a3)
        self.pulse0.change(self.three, self.four)
        delay(20*us)
        begins[1] = now_mu()
        self.pulse0.play(self.a4)
        delay(20*us)
        self.pulse0.change(self.four, self.three)
        delay(20*us)
        begins[2] = now_mu()
        self.pulse0.play(self.a3)
        self.pulse0.wait_armed()
        self.pulse0.check()
        return begins

    @kernel
    def both(self, a, b, begins, n):
        delay(20*us)
        begins[n] = now_mu()
        self.pulse0.play(a)
        delay(10*us)
        begins[n + 1] = now_mu()
        self.pulse0.play(b)
        delay(10*us)

    @kernel
    def unrelated_sets(self) -> TList(TInt64):
        self.core.break_realtime()
        begins = [int64(0) for _ in range(8)]
        self.pulse0.load(self.one)
        delay(100*us)
        self.pulse0.update(self.a, 1, 10.0)
        self.pulse0.change(self.one, self.two)
        self.both(self.a2, self.b2, begins, 0)
        self.pulse0.change(self.two, self.one)
        self.both(self.a, self.b, begins, 2)
        self.pulse0.update(self.a, 1, 10.0)
        self.both(self.a, self.b, begins, 4)
        self.pulse0.change(self.one, self.five)
        self.both(self.a5, self.b5, begins, 6)
        self.pulse0.wait_armed()
        self.pulse0.check()
        return begins
""".replace("import json\n", "from numpy import int64\nimport json\n", 1)


@pytest.fixture(scope="module")
def outcome(pulse, tmp_path_factory):
    """What the experiment has found, and when its last gates begin; with the recording."""
    folder = tmp_path_factory.mktemp("sets")
    done = Kairos(folder).run("", "--pulses", "pulses.npz", head=EXPERIMENT, device_db=pulse)
    assert done.returncode == 0, done.stdout + done.stderr
    return *json.loads((folder / "found.json").read_text()), Recording.load(folder / "pulses.npz")


def test_gate_of_another_set_is_not_played(outcome):
    found, *_ = outcome
    assert [found[name] for name in ("right", "sequence", "prepared")] == ["done"] * 3
    one = "gate set one (a, b)"
    for name, text in {
        "nothing loaded": ("no gates are loaded, but one of ", one, " is used: call load"),
        "wrong": ("a gate of ", "gate set (a, b)", " is used, but ", one, " is loaded: call load with the former"),
        "updated": ("a gate of ", "gate set (a, b)", " is used, but ", one, " is loaded: call load with the former"),
        "late sequence": ("a sequence of ", one, " was built after the set was loaded: call load again"),
        "changed after it": ("sequences of ", one, " were built after it was loaded: call load again"),
        "not prepared": ("the gate to be changed and played is not the one stored: call prepare with it",),
        "another one": ("the gate to be changed and played is not the one stored: call prepare with it",),
    }.items():
        assert found[name].startswith(f"PulseError: {''.join(text)}"), found[name]


def test_wrong_arguments_of_kernels_are_refused(outcome):
    found, *_ = outcome
    for name, text in {
        "result": "a measurement result is 0 to 15, not 16",
        "threshold": "a threshold is that of bit 0 to 3 of results, not 4",
        "harmonic": "channel 2: the core has 2 channels, from 0 on",
    }.items():
        assert found[name].startswith(f"ValueError: {text}"), found[name]


def test_set_is_changed_into_its_successor_and_back(outcome):
    _, begins, _, recording = outcome
    peaks = [recording.play(begin, begin + 400).amplitude(0, 0).max() for begin in begins]
    assert [round(float(peak)) for peak in peaks] == [90, 110, 90]


def test_kernel_core_changes_a_set_into_any_other(outcome):
    *_, begins, recording = outcome
    played = [recording.play(begin, begin + 400) for begin in begins]
    peaks = [round(float(part.amplitude(n % 2, 0).max())) for n, part in enumerate(played)]
    # Whatever a kernel has changed is as defined again, also if the host has made the words
    assert peaks == [70, 80, 50, 60, 10, 60, 50, 65]
