"""Samples of the emulated pulse core: computed by the model from the output of the verilated
engines, and equal to those of the verilated tones, to those of the whole model, and to those of a
run without time skip.
"""

import numpy as np
import pytest
from kairos_gateware.contracts import pulse as facts

from kairos.contracts.pulse import Parameter
from kairos.pulse import Model, Recording
from tests.support.command import Kairos
from tests.support.pulse_tones import EXPERIMENT, tones

GATES = """import math

from kairos.pulse import Core, Follow, GateSet, Pulse


def gaussian(t):
    return 80 * math.exp(-(((t - 0.8e-6) / 0.3e-6) ** 2))


def definition():
    core = Core(clock=125e6, samples_per_cycle=8, channels=2, map=2048, pulses=1024)
    sides = {"freq0": 199e6, "freq1": 201e6, "amp0": (0, 80, 80, 0), "amp1": (0, 80, 80, 0), "phase1": (0, 90, 500)}
    gates = {
        "arm": [Pulse(channel=c, cycles=40, wait=True) for c in (0, 1)],
        "x": [Pulse(channel=0, duration=1.6e-6, freq0=200.1e6, amp0=Follow(gaussian, 0.05), sync=1, forward=(1, 0))],
        "z": [Pulse(channel=0, cycles=8, framerot0=72.5, at_end=1, forward=(1, 0))],
        "ms": [Pulse(channel=c, duration=2e-6, sync=3, forward=(3, 0), **sides) for c in (0, 1)],
        "on": [Pulse(channel=1, cycles=60, freq0=-42.5e6, amp0=[200, -90, 3], freq1=(10e6, 11e6, 9e6), amp1=(50, 150))],
    }
    sequence = ["arm", "x", "z", "x", "ms", ("x", "on"), "z", "z", "x", ("z", "on"), "ms"]
    return GateSet(gates, sequence, core)
"""

WAIT_CYCLES = 40
"""Of the gate `arm`, which waits."""


@pytest.fixture(scope="module")
def recordings(pulse, tmp_path_factory):
    """Return the recording of a run, and that of one without time skip."""
    folder = tmp_path_factory.mktemp("samples")
    found = []
    for name, options in [("skipped", []), ("clocked", ["--no-skip"])]:
        file = folder / f"{name}.npz"
        done = Kairos(folder).run("", "--pulses", file, *options, head=GATES + EXPERIMENT, device_db=pulse)
        assert done.returncode == 0, done.stdout + done.stderr
        found.append(Recording.load(file))
    return found


def test_time_skip_leaves_pulse_recording_unchanged(recordings):
    skipped, clocked = recordings
    assert [vars(output) for output in skipped.outputs] == [
        {"name": "pulse0", "channel": 14, "output": output} for output in range(2)
    ]
    for channel in range(2):
        assert skipped.span_mu(channel) == clocked.span_mu(channel)
        for field in range(facts.PARAMETERS + facts.TONES + 1):
            for one, other in zip(skipped.changes(field, channel), clocked.changes(field, channel), strict=True):
                assert (one == other).all()


def played(recording):
    """Return the start of the first gate, and the number of cycles of the sequence."""
    begin = recording.changes(Parameter.F0, 0)[0][0]
    end = max(recording.span_mu(channel)[1] for channel in range(2))
    return begin, (end - begin) // 8 + 1


def test_recorded_parameters_match_the_model(recordings):
    begin, cycles = played(recordings[0])
    gates = {}
    exec(GATES, gates)
    definition = gates["definition"]()
    model = Model(definition.core).play(definition.words(), WAIT_CYCLES + cycles)
    shown = recordings[0].play(begin, begin + 8 * cycles)
    assert np.abs(shown.values[:, Parameter.A0]).max() > 0
    assert (shown.values == model.values[:, :, WAIT_CYCLES:]).all()


def test_samples_of_model_match_the_gateware(recordings):
    """Sample for sample: the verilated tones receive the engines' output, which the model also
    renders."""
    begin, cycles = played(recordings[0])
    first, count = begin // 8 - 5, cycles + 50
    for channel in range(2):
        made = tones(recordings[0], channel, first, count)
        rendered = recordings[0].samples(channel, first * 8, (first + count) * 8)
        assert np.abs(rendered).max() > 10_000
        assert (made == rendered).all()
        middle = recordings[0].samples(channel, begin + 1003, begin + 1999)
        assert (middle == rendered[40 + 1003 : 40 + 1999]).all()
