"""Settings of sample generation, by a kernel: samples of the recording equal those of the verilated
tones and couplings for the engines' output and the same events."""

import numpy as np
import pytest
from kairos_gateware.contracts import pulse as facts
from kairos_gateware.testbenches.synthesis import build_sampled

from kairos.contracts.pulse import Parameter
from kairos.pulse import Recording
from tests.support.command import Kairos
from tests.support.paths import BUILD

FIRST_ADDRESS = 19
"""Address of the first setting (gateware, `pulse/settings.py`)."""
GATES = """
from kairos.pulse import Core, GateSet, Pulse


def definition():
    core = Core(clock=125e6, samples_per_cycle=8, channels=2, map=2048, pulses=1024)
    tones = {"freq0": 199.3e6, "amp0": (0, 90, 60, 30), "freq1": (-40e6, 51e6, 3e6), "amp1": (70, -80, 50)}
    tones["forward"] = (1, 0)
    gates = {
        "arm": [Pulse(channel=c, cycles=40, wait=True) for c in (0, 1)],
        "a": [Pulse(channel=c, cycles=150, sync=3, feed_forward=3, phase1=33.0 * c, **tones) for c in (0, 1)],
        "b": [Pulse(channel=c, cycles=150, feed_forward=1 + c, framerot0=(0, 50), **tones) for c in (0, 1)],
        "c": [Pulse(channel=c, cycles=150, freq0=10e6 * (c + 1), amp0=150.0, feed_forward=1) for c in (0, 1)],
    }
    return GateSet(gates, ["arm", "a", "b", "c", "a", "c", "b", "a", "c"], core)
"""

EXPERIMENT = """
from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        words = definition().words().reshape(-1).view("<i4")
        self.words = words.tolist()

    @kernel
    def run(self):
        self.core.reset()
        delay(100*us)
        self.pulse0.set_harmonic(0, 0, -3)
        delay(1*us)
        self.pulse0.set_harmonic(1, 1, 7)
        delay(1*us)
        self.pulse0.send(self.words)
        delay(200*us)
        start = now_mu()
        self.pulse0.trigger()
        at_mu(start + 1003)
        self.pulse0.set_frequency_error(1.25*MHz)
        at_mu(start + 2008)
        self.pulse0.set_coupling(0, 1, 0.25, -0.4, 9)
        delay(80*ns)
        self.pulse0.set_coupling(1, -1, -0.5, 0.125, 3)
        delay(80*ns)
        self.pulse0.use_couplings(5)
        at_mu(start + 3307)
        self.pulse0.set_counter(int64(987654321012))
        at_mu(start + 5000)
        self.pulse0.set_frequency_error(-3*MHz)
        at_mu(start + 6000)
        self.pulse0.set_coupling(0, 1, -1.0, 0.0, 63)
        delay(80*ns)
        self.pulse0.set_harmonic(1, 0, 32767)
        at_mu(start + 6400)
        self.pulse0.use_couplings(17)
        delay(1*ms)
        self.pulse0.check()
"""


@pytest.fixture(scope="module")
def recording(pulse, tmp_path_factory):
    """Return the recording of the run."""
    folder = tmp_path_factory.mktemp("settings")
    file = folder / "run.npz"
    done = Kairos(folder).run("", "--pulses", file, head=GATES + EXPERIMENT, device_db=pulse)
    assert done.returncode == 0, done.stdout + done.stderr
    return Recording.load(file)


def events(recording):
    """Return (cycle from which it applies, address, data) of the settings."""
    words, found = recording._words, []
    at = 0
    while at < len(words):
        head = int(words[at])
        fields = bin(head & 0xFFF).count("1")
        if head >> 11 & 1:
            event = int(words[at + fields])
            found.append((head >> 16, FIRST_ADDRESS + (event >> 47 & 7), event & (1 << 47) - 1))
        at += 1 + fields
    return found


@pytest.mark.long
def test_samples_with_settings_match_gateware(recording):
    logic, latency = build_sampled(BUILD / "gateware" / "pulse_sampled", 2, 8)
    set_ = [event for event in events(recording) if event[2] or event[1] != FIRST_ADDRESS]
    assert [address - FIRST_ADDRESS for _, address, _ in set_] == [1, 1, 0, 2, 2, 3, 4, 0, 2, 1, 3]
    begin = set_[0][0] - 100
    end = recording.span_mu(0)[1] // 8 + 200
    until = min(end, set_[-1][0] + 2000)
    rows = np.zeros(until - begin + latency, logic.inputs)
    count = until - begin
    rows["time"] = begin + np.arange(len(rows))
    for channel in range(2):
        fields = recording.fields(channel, begin * 8, until * 8)
        tones = slice(facts.PARAMETERS * channel, facts.PARAMETERS * (channel + 1))
        rows["values"][:count, tones] = fields[:, : facts.PARAMETERS] % 2**facts.VALUE_BITS
        frames = slice(facts.TONES * channel, facts.TONES * (channel + 1))
        rows["applied"][:count, frames] = fields[:, facts.PARAMETERS : -1] % 2**facts.VALUE_BITS
        rows["synchronise"][:count, channel] = fields[:, -1] & 3
        rows["feed_forward"][:count, channel] = fields[:, -1] >> 2 & 3
    for cycle, address, data in set_:
        row = rows[cycle - 1 - begin]
        row["stb"], row["address"], row["data"] = 1, address, data
    made = logic.play(rows)["samples"][latency:].astype("i2").reshape(count, 2, 8)
    for channel in range(2):
        rendered = recording.samples(channel, begin * 8, until * 8)
        assert np.abs(rendered).max() > 10_000
        assert (made[:, channel].reshape(-1) == rendered).all()
    window = recording.samples(1, set_[-1][0] * 8 - 1003, set_[-1][0] * 8 + 777)
    assert (window == rendered[(set_[-1][0] - begin) * 8 - 1003 :][: 1003 + 777]).all()
    first = recording.changes(Parameter.A0, 0)[0][0]
    assert set_[2][0] * 8 > first, "it was not set while a gate was played"
