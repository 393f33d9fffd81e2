"""Errors of the pulse core, each by name as an exception of the kernel's `check`; after each of
them the next gate plays, at its time."""

import json

import numpy as np
from kairos_gateware.contracts.pulse import ToneFlag
from kairos_gateware.testbenches.pulse_blocks import Body, bypass, mlut, plut

from kairos.contracts.pulse import ERROR_TEXTS, Error
from kairos.pulse import Recording
from kairos.pulse.program import int32s
from tests.support.command import Kairos

WAIT = Body(tau=4, flags=int(ToneFlag.WAIT))
"""As in a rest, with which gates begin."""
SENT = {
    "mode": [1 << 248],
    "count": [mlut([(0, 0, 0)], count=25)],
    "address": [plut(2000, Body())],
    "tau0": [bypass(Body(tau=0), 0xFF)],
}
"""Words sent to channel 0."""
BOTH = 0b11
STARTED = {
    "starved": [bypass(Body(tau=20), 0xFF, BOTH)],
    "starved_within": [bypass(Body(tau=100), 0xFF, BOTH), bypass(Body(tau=100), 0xEF, BOTH)],
    "apart": [bypass(Body(tau=5000), 1, BOTH), bypass(Body(tau=50), 0xFE, BOTH), bypass(WAIT, 0xFF, BOTH)],
}
"""Words for both channels, which are then triggered."""
EXPERIMENT = """from artiq.experiment import *
from artiq.coredevice.pulse import PulseError, PulseUnderrun
from kairos.pulse import Branch, Pulse
import json

SENT = WORDS
STARTED = NAMES


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")

    def prepare(self):
        gates = {
            "x": [Pulse(channel=0, duration=1e-6, freq0=200e6, amp0=(0, 60, 120, 60, 0))],
            "long": [Pulse(channel=0, duration=20e-6)],
        }
        self.gates = self.pulse0.define(gates)
        self.x, self.long = self.gates["x"], self.gates["long"]
        self.choice = self.gates.sequence(["x", Branch((("x",), ("long",)))])
        self.words, self.started, self.found, self.begins = [0], False, {}, []

    def run(self):
        self.start()
        for name, words in SENT.items():
            self.words, self.started = words, name in STARTED
            self.look(name, self.send)
        self.look("early", self.early)
        self.look("timeout", self.timeout)

    def look(self, name, cause):
        try:
            cause()
        except (PulseError, PulseUnderrun) as error:
            self.found[name] = [type(error).__name__, str(error)]
        self.begins.append(int(self.good()))

    def analyze(self):
        with open("found.json", "w") as file:
            json.dump([self.found, self.begins], file)

    @kernel
    def start(self):
        self.core.reset()
        delay(100*us)
        self.pulse0.set_misalign_limit(1000)
        self.pulse0.load(self.gates)
        self.pulse0.check()

    @kernel
    def send(self):
        self.core.break_realtime()
        self.pulse0.send(self.words, 8)
        delay(5*us)
        if self.started:
            self.pulse0.trigger()
        delay(100*us)
        self.pulse0.check()

    @kernel
    def early(self):
        self.core.break_realtime()
        self.pulse0.play(self.long)
        at_mu(now_mu() - 10000)
        self.pulse0.trigger()
        delay(50*us)
        self.pulse0.check()

    @kernel
    def timeout(self):
        self.core.break_realtime()
        self.pulse0.set_branch_timeout(50)
        self.pulse0.play_sequence(self.choice)
        delay(50*us)
        self.pulse0.set_branch_timeout(0)
        self.pulse0.check()

    @kernel
    def good(self) -> TInt64:
        self.core.break_realtime()
        self.pulse0.load(self.gates)
        delay(10*us)
        begin = now_mu()
        self.pulse0.play(self.x)
        self.pulse0.wait_armed()
        self.pulse0.check()
        self.core.wait_until_mu(now_mu())
        return begin
"""


def test_named_error_does_not_prevent_next_gate(pulse, tmp_path):
    data = {name: b"".join(word.to_bytes(32, "little") for word in sent) for name, sent in (SENT | STARTED).items()}
    words = repr({name: [int(part) for part in int32s(np.frombuffer(sent, "u1"))] for name, sent in data.items()})
    head = EXPERIMENT.replace("WORDS", words).replace("NAMES", repr(list(STARTED)))
    done = Kairos(tmp_path).run("", "--pulses", "pulses.npz", head=head, device_db=pulse)
    assert done.returncode == 0, done.stdout + done.stderr
    found, begins = json.loads((tmp_path / "found.json").read_text())
    named = {"apart": Error.MISALIGN, "early": Error.TRIGGER_EARLY, "timeout": Error.BRANCH_TIMEOUT}
    named |= {error.name.lower(): error for error in (Error.MODE, Error.COUNT, Error.ADDRESS, Error.TAU0)}
    for name, error in named.items():
        kind, text = found[name]
        assert kind == "PulseError" and f"pulse core: {ERROR_TEXTS[error]} (errors {int(error)})" in text, name
    for name, parameter in {"starved": 0, "starved_within": 4}.items():
        kind, text = found[name]
        assert (
            kind == "PulseUnderrun"
            and f"channel 0 of the pulse core ran out of segments of parameter {parameter}" in text
        )
    assert found.keys() == named.keys() | {"starved", "starved_within"}
    recording = Recording.load(tmp_path / "pulses.npz")
    shapes = [recording.play(begin, begin + 1000).amplitude(0, 0) for begin in begins]
    assert len(shapes) == 9 and abs(shapes[0].max() - 120) < 0.1 and shapes[0][0] == 0
    for shape in shapes:
        assert np.array_equal(shape, shapes[0])
