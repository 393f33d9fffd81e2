"""The pulse core's driver on the emulated device: gates at exact times, changed between shots, in
DMA recordings and loops driven by the host, chosen by results; and errors, by name."""

import json

import numpy as np
import pytest

from kairos.contracts.pulse import Parameter
from kairos.pulse import Recording
from tests.support.command import Kairos

HEAD = """from artiq.experiment import *
from artiq.coredevice.pulse import PulseError, PulseUnderrun
from kairos.pulse import Adjustable, Branch, Pulse
from kairos.pulse.program import int32s
import json

A0, F1 = 1, 3


def gates():
    tone = {"channel": 0, "freq0": 200e6, "sync": 1, "forward": (1, 0)}
    return {
        "x": [Pulse(duration=1e-6, amp0=Adjustable((0, 60, 120, 60, 0)), amp1=5.0, freq1=Adjustable(10e6), **tone)],
        "twin": [Pulse(duration=1e-6, amp0=(0, 60, 120, 60, 0), amp1=5.0, freq1=10e6, **tone)],
        "z": [Pulse(channel=1, cycles=8, framerot0=90.0, at_end=1)],
        "wait": [Pulse(channel=c, duration=20e-6) for c in (0, 1)],
    }


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_dma")
        self.setattr_device("pulse0")
        self.setattr_device("ttl4")

    def prepare(self):
        self.gates = self.pulse0.define(gates())
        self.x, self.twin, self.z = self.gates["x"], self.gates["twin"], self.gates["z"]
        self.choice = self.gates.sequence(["x", "wait", Branch((("x", "z"), ("twin", "twin"), ("wait",))), "z"])
        # Without the rest at its end.
        self.bare = int32s(self.gates.gate_set.sequence(["x"], 3, close=False))
        self.times = {}

    def note(self, name, time):
        self.times.setdefault(name, []).append(int(time))

    def factor(self, shot) -> TFloat:
        return 0.25 * (shot + 1)

    def analyze(self):
        with open("times.json", "w") as file:
            json.dump(self.times, file)

"""

BODY = """
    @kernel
    def run(self):
        self.core.reset()
        delay(100*us)
        self.pulse0.load(self.gates)
        self.plain()
        self.changed()
        self.recorded()
        self.chosen()
        self.pulse0.wait_armed()
        self.pulse0.check()

    @kernel
    def plain(self):
        delay(10*us)
        self.note("plain", now_mu())
        self.core.break_realtime()
        self.note("plain", now_mu())
        delay(100*us)
        begin = now_mu()
        with parallel:
            self.pulse0.play(self.x)
            self.ttl4.pulse(1*us)
        self.note("plain", begin)
        self.note("plain", now_mu() - begin)
        self.core.break_realtime()

    @kernel
    def changed(self):
        for shot in range(3):
            factor = self.factor(shot)
            self.core.break_realtime()
            self.pulse0.update(self.x, A0, factor)
            self.pulse0.update(self.x, F1, -1e6 * shot)
            delay(5*us)
            self.pulse0.play(self.x)
            self.note("changed", now_mu() - 1000)
        for value in [201.0, 2.5e6]:
            self.core.break_realtime()
            try:
                self.pulse0.update(self.x, A0, value)
            except ValueError:
                self.note("refused", 1)
        try:
            self.pulse0.update(self.z, A0, 1.0)
        except ValueError:
            self.note("refused", 2)
        self.core.break_realtime()
        self.pulse0.play(self.twin)
        self.note("twin", now_mu() - 1000)
        self.core.break_realtime()
        self.pulse0.update_course(self.x, A0, [0.0, 30.0, 90.0, 10.0, 0.0])
        delay(5*us)
        self.pulse0.play(self.x)
        self.note("course", now_mu() - 1000)
        try:
            self.pulse0.update_course(self.x, A0, [1.0, 2.0])
        except ValueError:
            self.note("refused", 3)
        self.core.break_realtime()
        self.pulse0.update_all(self.x, [A0, F1], [0.5, 3e6])
        delay(5*us)
        self.pulse0.play(self.x)
        self.note("course", now_mu() - 1000)
        self.core.break_realtime()
        self.pulse0.prepare(self.x)
        for shot in range(2):
            self.core.break_realtime()
            delay(1*ms)
            self.note("quick", now_mu())
            self.pulse0.play_changed(self.x, A0, 0.5 - 0.1 * shot)
        self.core.break_realtime()
        self.pulse0.update(self.x, A0, 0.75)

    @kernel
    def recorded(self):
        with self.core_dma.record("shot"):
            delay(5*us)
            self.pulse0.play(self.x)
            delay(1*us)
            self.ttl4.pulse(1*us)
            delay(1*us)
            self.pulse0.play(self.twin)
        handle = self.core_dma.get_handle("shot")
        for _ in range(2):
            self.core.break_realtime()
            delay(1*ms)
            self.note("dma", now_mu())
            self.core_dma.playback_handle(handle)

    @kernel
    def chosen(self):
        for state in range(3):
            self.core.break_realtime()
            delay(20*us)
            begin = now_mu()
            self.pulse0.play_sequence(self.choice)
            end = now_mu()
            at_mu(begin + 11000)
            self.pulse0.result(state)
            at_mu(end)
            self.note("chosen", begin)
"""


@pytest.fixture(scope="module")
def run(pulse, tmp_path_factory):
    """Return the recording of a run, and the times it noted."""
    folder = tmp_path_factory.mktemp("driver")
    done = Kairos(folder).run(BODY, "--pulses", "pulses.npz", head=HEAD, device_db=pulse)
    assert done.returncode == 0, done.stdout + done.stderr
    return Recording.load(folder / "pulses.npz"), json.loads((folder / "times.json").read_text())


def amplitude(recording, begin, cycles=125, channel=0, tone=0):
    """Return the amplitude of a tone in units of 200, cycle by cycle."""
    return recording.play(begin, begin + 8 * cycles).amplitude(channel, tone)


def test_gate_starts_with_simultaneous_ttl_pulse(run):
    recording, times = run
    begin, length = times["plain"][2:]
    assert length == 1000
    assert min(time for time, level in recording.pins["ttl4"] if level) == begin
    for field in (Parameter.F0, Parameter.A1):
        assert recording.changes(field, 0)[0][0] == begin
    shape = amplitude(recording, begin)
    assert shape[0] == 0 and abs(shape.max() - 120) < 0.1 and abs(shape[31] - 60) < 2
    assert not amplitude(recording, begin + 1000).any()


def test_shapes_are_scaled_and_numbers_replaced(run):
    recording, times = run
    full = amplitude(recording, times["plain"][2])
    for shot, begin in enumerate(times["changed"]):
        assert np.abs(amplitude(recording, begin) - full * 0.25 * (shot + 1)).max() < 0.01
        frequency = recording.play(begin, begin + 8).frequency(0, 1)[0]
        assert abs(frequency + 1e6 * shot) < 1e-3
    assert times["refused"] == [1, 1, 2, 3]


def test_shapes_and_several_parameters_are_replaced(run):
    recording, times = run
    full = amplitude(recording, times["plain"][2])
    spline, several = times["course"]
    shape = amplitude(recording, spline)
    assert np.abs(shape[[0, 31, 62, 94]] - [0, 30, 90, 10]).max() < 2
    assert np.abs(amplitude(recording, several) - full * 0.5).max() < 0.01
    assert abs(recording.play(several, several + 8).frequency(0, 1)[0] - 3e6) < 1e-3


def test_prepared_gate_follows_change_at_once(run):
    recording, times = run
    full = amplitude(recording, times["plain"][2])
    changes, _ = recording.changes(Parameter.F0, 0)
    for shot, asked in enumerate(times["quick"]):
        begin = changes[changes > asked][0]
        # Four events, one for each segment of the shape; 25 cycles after the last
        assert (begin - asked) // 8 <= 3 + 25
        assert np.abs(amplitude(recording, begin) - full * (0.5 - 0.1 * shot)).max() < 0.01
        assert not amplitude(recording, begin + 1000).any()


def test_gate_equal_to_another_is_unchanged_by_its_changes(run):
    recording, times = run
    (begin,) = times["twin"]
    assert (amplitude(recording, begin) == amplitude(recording, times["plain"][2])).all()


def test_dma_recordings_play_changed_gates(run):
    recording, times = run
    shaped, full = amplitude(recording, times["changed"][-1]), amplitude(recording, times["plain"][2])
    rises = [time for time, level in recording.pins["ttl4"] if level]
    for begin in times["dma"]:
        assert (amplitude(recording, begin + 5000) == shaped).all()
        assert begin + 7000 in rises
        assert (amplitude(recording, begin + 9000) == full).all()


def test_results_select_the_following_gate(run):
    recording, times = run
    shaped, full = amplitude(recording, times["changed"][-1]), amplitude(recording, times["plain"][2])
    nothing = np.zeros(125)
    turned = 0
    for begin, chosen in zip(times["chosen"], ([shaped, nothing], [full, full], [nothing, nothing]), strict=True):
        assert (amplitude(recording, begin) == shaped).all()
        after = begin + 21_000
        assert (amplitude(recording, after) == chosen[0]).all()
        if chosen[1].any():
            assert (amplitude(recording, after + 1000) == chosen[1]).all()
        frames = recording.play(after - 1000, after + 25_000).frame(1, 0)
        turned += 180 if chosen is not None and (chosen[0] == shaped).all() and not chosen[1].any() else 90
        assert round(frames[-1]) % 360 == turned % 360


BAD = """
    @kernel
    def run(self):
        self.core.reset()
        delay(100*us)
        self.pulse0.load(self.gates)
        self.pulse0.check()
        delay(10*us)
        self.pulse0.send(self.bare)
        delay(10*us)
        self.pulse0.trigger()
        delay(20*us)
        self.pulse0.check()
"""


def test_underrun_exception_has_channel_parameter_and_time(kairos, pulse, tmp_path):
    done = kairos.run(BAD, "--pulses", "pulses.npz", head=HEAD, device_db=pulse)
    assert done.returncode == 1
    print(done.stdout, done.stderr)
    recording = Recording.load(tmp_path / "pulses.npz")
    stops = [time for time, value in zip(*recording.changes(Parameter.A1, 0), strict=True) if value == 0]
    assert f"channel 0 of the pulse core ran out of segments of parameter 0 at {stops[-1]} mu" in done.stderr
    assert "PulseUnderrun" in done.stderr


STREAM_HEAD = HEAD.replace(
    "        self.times = {}\n",
    """        self.times = {}
        half = self.pulse0.define({"x": [Pulse(channel=0, duration=1e-6, amp0=(0, 30, 60, 30, 0), freq0=200e6)]})
        self.half, self.tables, self.gate, self.turn = half, half.programming, half["x"], half["x"].words
""",
)
STREAMED = """
    @kernel
    def run(self):
        self.core.reset()
        delay(100*us)
        self.pulse0.load(self.gates)
        delay(10*us)
        begin = now_mu()
        self.pulse0.play(self.x)
        self.note("play", begin)
        self.core.break_realtime()
        self.pulse0.stream_from(self.tables)
        self.pulse0.set_loaded(self.half)
        delay(50*us)
        self.pulse0.wait_armed()
        delay(10*us)
        begin = now_mu()
        self.pulse0.play(self.gate)
        self.note("play", begin)
        for shot in range(2):
            self.core.break_realtime()
            self.pulse0.stream_from(self.turn)
            delay(5*us)
            begin = now_mu()
            self.pulse0.trigger()
            self.note("play", begin + 40)
        self.core.break_realtime()
        delay(10*us)
        self.pulse0.check()
        for length in [9, 8 * 16381]:
            try:
                self.pulse0.stream_from([0 for _ in range(length)])
            except ValueError:
                self.note("refused", length)
"""


def test_words_streamed_from_memory_play_their_gates(pulse, tmp_path):
    """Tables of another gate set with one event, and the words that play a gate with another one.
    (The emulator has no caches: that none holds these words is specified by the memory map, and
    that they are where the logic looks is tested by `streams.rs`.)
    """
    done = Kairos(tmp_path).run(STREAMED, "--pulses", "pulses.npz", head=STREAM_HEAD, device_db=pulse)
    assert done.returncode == 0, done.stdout + done.stderr
    recording, times = Recording.load(tmp_path / "pulses.npz"), json.loads((tmp_path / "times.json").read_text())
    full, *others = [amplitude(recording, begin) for begin in times["play"]]
    assert abs(full.max() - 120) < 0.1 and len(others) == 3
    for half in others:
        assert np.abs(half - full / 2).max() < 0.01
    assert times["refused"] == [9, 8 * 16381]
