"""Eight channels: a kernel plays, changes and plays again on all of them, and the output of the
verilated engines equals the model's, bit for bit, in every cycle."""

import json

import numpy as np
import pytest

from kairos.contracts.pulse import Parameter
from kairos.pulse import Core, GateSet, Model, Pulse, Recording
from tests.support.command import Kairos

CHANNELS = 8
KNOTS = (0.0, 13.0, 47.0, 31.0, 0.0)
"""Of all amplitudes of tone 0, after the change."""
GATES = """from kairos.pulse import Adjustable, Pulse


def pulses(knots=None):
    found = []
    for c in range(8):
        amplitude = knots or tuple((20 + 8 * c) * share for share in (0, 0.4, 1, 0.7, 0))
        tones = {"freq0": 150e6 + 7e6 * c, "amp0": Adjustable(amplitude), "phase0": 40.0 * c}
        tones |= {"freq1": (10e6 * c, -5e6, 20e6), "amp1": [c, 10 + c, 3.0, 0.5 * c]}
        tones |= {"framerot0": (0, 5.0 * c, 90), "framerot1": 11.25 * c, "forward": (1, 2), "enable": c & 3}
        found.append(Pulse(channel=c, cycles=400, **tones))
    return found
"""
EXPERIMENT = """
from artiq.experiment import *
import json


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        self.gates = self.pulse0.define({"all": pulses()})
        self.all = self.gates["all"]
        self.begins = []

    def note(self, time):
        self.begins.append(int(time))

    @kernel
    def run(self):
        self.core.reset()
        delay(200*us)
        self.pulse0.load(self.gates)
        delay(100*us)
        self.note(now_mu())
        self.core.break_realtime()
        for shot in range(2):
            delay(100*us)
            self.note(now_mu())
            self.pulse0.play(self.all)
            delay(10*us)
            self.pulse0.update_course(self.all, 1, KNOTS)
            self.core.break_realtime()
        self.pulse0.wait_armed()
        self.pulse0.check()

    def analyze(self):
        with open("begins.json", "w") as file:
            json.dump(self.begins[1:], file)
"""


def modelled(knots):
    """Return the parameters of all channels in each cycle of the gate, for a core after power-up."""
    gates = {}
    exec(GATES, gates)
    core = Core(clock=125e6, samples_per_cycle=8, channels=CHANNELS, map=2048, pulses=1024)
    # All begin simultaneously, as after a rest.
    rest = [Pulse(channel=c, cycles=4, wait=True) for c in range(CHANNELS)]
    gate_set = GateSet({"rest": rest, "all": gates["pulses"](knots)}, ["rest", "all"], core)
    return Model(core).play(gate_set.words(), 4 + 400).values[:, :, 4:]


@pytest.mark.long
def test_eight_channels_match_model(pulse8, tmp_path):
    head = GATES + EXPERIMENT.replace("KNOTS", str(list(KNOTS)))
    done = Kairos(tmp_path).run("", "--pulses", tmp_path / "pulses.npz", head=head, device_db=pulse8)
    assert done.returncode == 0, done.stdout + done.stderr
    recording = Recording.load(tmp_path / "pulses.npz")
    assert [output.output for output in recording.outputs] == list(range(CHANNELS))
    begins = json.loads((tmp_path / "begins.json").read_text())
    turned = np.zeros((CHANNELS, 2), dtype=np.int64)
    for begin, knots in zip(begins, [None, KNOTS], strict=True):
        shown, wanted = recording.play(begin, begin + 8 * 400).values, modelled(knots)
        frames = [Parameter.Z0, Parameter.Z1]
        differ = np.argwhere(shown[:, : Parameter.Z0] != wanted[:, : Parameter.Z0])
        assert not len(differ), f"channel, parameter, cycle {differ[0]} of the gate at {begin}"
        # Frames continue from the end of the preceding gate.
        assert ((shown[:, frames] - wanted[:, frames] - turned[:, :, None]) % 2**40 == 0).all()
        turned += recording.play(begin + 8 * 400, begin + 8 * 401).values[:, frames, 0] - turned
        for channel in range(CHANNELS):
            assert np.abs(recording.samples(channel, begin, begin + 3200)).max() > 1000
    levels = recording.fields(7, begins[0] + 800, begins[0] + 808)[0, -1]
    assert levels >> 4 & 3 == 7 & 3
