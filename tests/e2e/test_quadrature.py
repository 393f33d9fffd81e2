"""A pulse core whose channel has two converters, for I and Q: a described system plays a gate, and both parts are those
of the verilated tones, and of one sideband."""

import json

import numpy as np
import pytest

from kairos.contracts.pulse import Parameter
from kairos.pulse import Recording
from tests.support.gateware import built_from
from tests.support.paths import BUILD
from tests.support.pulse_tones import EXPERIMENT, parts

CORE = {"type": "pulse", "channels": 1, "segments": 256, "entries": 512, "converters": ["lpc", "hpc"]}
BOARD = {"target": "zc706", "variant": "quadrature", "hw_rev": "v1.0", "peripherals": [CORE | {"quadrature": True}]}
MHZ, CYCLES = 200, 250
GATES = f"""from kairos.pulse import Core, GateSet, Pulse


def definition():
    core = Core(clock=125e6, samples_per_cycle=8, channels=1, map=512, pulses=256)
    rise = {{"amp0": (0, 60, 90, 60, 0), "freq0": {MHZ}e6, "phase0": 30, "sync": 1}}
    return GateSet({{"x": [Pulse(channel=0, cycles={CYCLES}, wait=True, **rise)]}}, ["x"], core)
"""


@pytest.mark.long
def test_both_parts_of_a_gate_are_a_quarter_turn_apart(kairos, tmp_path):
    """The gateware of the description takes minutes to build."""
    (file := tmp_path / "quadrature.json").write_text(json.dumps(BOARD))
    built_from(file)
    devices = BUILD / "gateware" / "quadrature" / "device_db.py"
    done = kairos.run("", "--pulses", tmp_path / "x.npz", head=GATES + EXPERIMENT, device_db=devices)
    assert done.returncode == 0, done.stdout + done.stderr
    recording = Recording.load(tmp_path / "x.npz")
    begin, end = recording.changes(Parameter.F0, 0)[0]
    first, cycles = begin // 8 - 5, (end - begin) // 8 + 50
    assert end - begin == 8 * CYCLES
    shown = [recording.samples(0, 8 * first, 8 * (first + cycles), imaginary=which) for which in (False, True)]
    for part, made in zip(shown, parts(recording, 0, first, cycles), strict=True):
        assert (part == made).all() and np.abs(part).max() > 10_000
    light = np.abs(np.fft.fft((shown[0] + 1j * shown[1])[40 : 40 + 8 * CYCLES]))
    carrier = MHZ * 8 * CYCLES // 1000
    assert light.argmax() == carrier and light[-carrier - 2 : -carrier + 3].max() < 1e-4 * light.max()
    assert (shown[1][:40] == 0).all()
    middle = recording.samples(0, begin + 1003, begin + 1999, imaginary=True)
    assert (middle == shown[1][1043:2039]).all()
