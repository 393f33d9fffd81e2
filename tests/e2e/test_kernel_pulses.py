"""Pulses made by a kernel from numbers: the engines do the same as for a gate that the host has compiled."""

import json

import pytest

from kairos.pulse import Recording
from tests.support.command import Kairos

HEAD = """from artiq.experiment import *
from kairos.pulse import Pulse, Room
import json

F0, A0, P0, A1, Z0 = 0, 1, 2, 4, 6
LENGTH = 1600


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")

    def prepare(self):
        masks = {"sync": 1, "enable": 2, "at_end": 1, "forward": (1, 0)}
        courses = {"freq0": 200e6, "amp0": (0.0, 41.0, 83.0, 12.0, 0.0), "phase0": 25.0, "amp1": 7.5}
        pulse = Pulse(channel=1, cycles=LENGTH // 8, framerot0=(0.0, 30.0, 45.0), **courses, **masks)
        self.gates = self.pulse0.define({"compiled": [pulse], "other": [Pulse(channel=0, cycles=8)],
                                         "new": Room(channels=[0, 1], cycles=LENGTH // 8, segments=12)})
        self.new = self.gates["new"]
        self.sequence = self.gates.sequence(["compiled", "new", "compiled"])
        self.compiled = self.gates["compiled"]
        self.flags = self.pulse0.flags(**masks)
        self.begins = []

    def note(self, time):
        self.begins.append(int(time))

    def analyze(self):
        with open("begins.json", "w") as file:
            json.dump(self.begins, file)

"""
BODY = """
    @kernel
    def run(self):
        self.core.reset()
        delay(200*us)
        self.pulse0.load(self.gates)
        self.core.break_realtime()
        # A hundred machine units are not a multiple of the period of the tone's phase
        delay(300*us)
        self.note(now_mu())
        self.core.break_realtime()
        delay(300*us)
        first = now_mu()
        self.pulse0.play(self.compiled)
        delay(100*us)
        second = now_mu()
        # The amplitude is the sum of a constant and knots, and of two splines
        self.pulse0.play_pulse(
            self.gates, 2, LENGTH, self.flags,
            [F0, A0, P0, A0, A1, A0, Z0], [1, 5, 1, 5, 1, 1, 3],
            [200e6, -5.0, 20.0, 80.0, 0.0, -5.0, 25.0, 0.0, 16.0, -2.0, 7.0, 0.0, 7.5, 5.0, 0.0, 30.0, 45.0])
        delay(100*us)
        third = now_mu()
        self.pulse0.play(self.compiled)
        self.pulse0.wait_armed()
        self.pulse0.check()
        self.note(first)
        self.note(second)
        self.note(third)
        self.stored()
        self.refused()

    @kernel
    def stored(self):
        self.core.break_realtime()
        delay(300*us)
        self.pulse0.make(
            self.new, 2, self.flags,
            [F0, A0, P0, A0, A1, A0, Z0], [1, 5, 1, 5, 1, 1, 3],
            [200e6, -5.0, 20.0, 80.0, 0.0, -5.0, 25.0, 0.0, 16.0, -2.0, 7.0, 0.0, 7.5, 5.0, 0.0, 30.0, 45.0])
        self.pulse0.make(self.new, 1, 0, [A0], [1], [50.0])
        delay(20*us)
        begin = now_mu()
        self.pulse0.play(self.new)
        delay(100*us)
        self.note(begin)
        begin = now_mu()
        self.pulse0.play_sequence(self.sequence)
        self.pulse0.wait_armed()
        self.pulse0.check()
        self.note(begin)
        # Another content
        delay(300*us)
        self.pulse0.make(self.new, 2, 0, [A0], [1], [25.0])
        delay(20*us)
        begin = now_mu()
        self.pulse0.play(self.new)
        self.pulse0.wait_armed()
        self.note(begin)

    @kernel
    def refused(self):
        self.core.break_realtime()
        try:
            self.pulse0.play_pulse(self.gates, 2, LENGTH, 0, [A0, A0], [1, 1], [150.0, 60.0])
        except ValueError as error:
            print("refused")
        try:
            self.pulse0.play_pulse(self.gates, 4, LENGTH, 0, [A0], [1], [150.0])
        except ValueError as error:
            print("refused")
        try:
            self.pulse0.play_pulse(self.gates, 1, LENGTH, 0, [A0], [2], [150.0])
        except ValueError as error:
            print("refused")
        try:
            self.pulse0.make(self.new, 2, 0, [A0, F0], [7, 7], [1.0 for _ in range(14)])
        except ValueError as error:
            print("refused")
        try:
            self.pulse0.make(self.compiled, 2, 0, [A0], [1], [1.0])
        except ValueError as error:
            print("refused")
        self.core.break_realtime()
        self.pulse0.check()
"""


@pytest.fixture(scope="module")
def run(pulse, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    done = Kairos(folder).run(BODY, "--pulses", folder / "pulses.npz", "--no-table", head=HEAD, device_db=pulse)
    assert done.returncode == 0, done.stdout + done.stderr
    begins = json.loads((folder / "begins.json").read_text())
    return done, Recording.load(folder / "pulses.npz"), begins[1:]


def test_made_pulse_equals_the_compiled_gate(run):
    _, recording, (first, second, third, *_) = run
    compiled, made, again = (recording.fields(1, begin, begin + 1600) for begin in (first, second, third))
    # Frames continue: only what a gate adds is compared
    assert (made[:, :6] == compiled[:, :6]).all()
    assert (made[:, 10] == compiled[:, 10]).all()
    assert ((made[:, 6] - made[0, 6] - compiled[:, 6] + compiled[0, 6]) % 2**40 == 0).all()
    turned = compiled[-1, 6] - compiled[0, 6]
    assert turned and ((again[:, :6] == compiled[:, :6]).all())
    assert abs(recording.samples(1, second, second + 1600)).max() > 10_000
    # The other channel pauses meanwhile
    assert not recording.samples(0, second, second + 1600).any()


def test_impossible_pulse_is_refused_and_not_played(run):
    done, recording, (*_, last) = run
    assert done.stdout.count("refused") == 5
    assert recording.span_mu(1)[1] < last + 1600 + 10_000


def test_gate_made_in_the_tables_equals_the_compiled_one(run):
    _, recording, (first, _, _, alone, sequence, other) = run
    compiled = recording.fields(1, first, first + 1600)
    for begin in (alone, sequence, sequence + 1600, sequence + 3200):
        made = recording.fields(1, begin, begin + 1600)
        assert (made[:, :6] == compiled[:, :6]).all()
        assert ((made[:, 6] - made[0, 6] - compiled[:, 6] + compiled[0, 6]) % 2**40 == 0).all()
    amplitude = [recording.play(begin, begin + 1600).amplitude(0, 0) for begin in (alone, sequence, other)]
    assert [round(float(part.max())) for part in amplitude] == [50, 0, 50]
    assert round(float(recording.play(other, other + 1600).amplitude(1, 0).min())) == 25


@pytest.mark.parametrize(
    "call, message",
    [
        ("play_pulse(self.gates, 1, -8, 0, [A0], [1], [50.0])", "a pulse of -8 machine units: a multiple of 8 above 0"),
        ("play_pulse(self.gates, 4, LENGTH, 0, [A0], [1], [50.0])", "channels 4 of a pulse: the core has 2"),
        ("make(self.new, 4, 0, [A0], [1], [50.0])", "channels 4 of a pulse: the gate has 3"),
        (
            "make(self.compiled, 2, 0, [A0], [1], [50.0])",
            "the gate has no room for a pulse: define it as kairos.pulse.Room",
        ),
    ],
)
def test_reason_why_a_pulse_cannot_be_made_is_named(pulse, tmp_path, call, message):
    body = f"""
    @kernel
    def run(self):
        self.core.reset()
        delay(200*us)
        self.pulse0.load(self.gates)
        self.core.break_realtime()
        self.pulse0.{call}
"""
    done = Kairos(tmp_path).run(body, "--no-table", head=HEAD, device_db=pulse)
    assert done.returncode == 1
    assert f"ValueError: {message}" in done.stdout + done.stderr
