from artiq.coredevice.exceptions import RTIODestinationUnreachable
from artiq.experiment import *

from kairos.pulse import Pulse


class PulseStreams(EnvExperiment):
    """Streams words to the pulse cores of two boards, from kernels of each board."""

    def build(self):
        for name in ("core", "pulse0", "sat_pulse0"):
            self.setattr_device(name)
        self.setattr_argument("caught", BooleanValue(True))

    def prepare(self):
        gates = [{"x": [Pulse(channel=0, duration=1e-6, amp0=amplitude, freq0=200e6)]} for amplitude in (40, 80)]
        self.first, self.second = [self.pulse0.define(some) for some in gates]
        self.sat_first, self.sat_second = [self.sat_pulse0.define(some) for some in gates]
        self.words, self.sat_words = self.second.programming, self.sat_second.programming
        self.x, self.sat_x = self.second["x"], self.sat_second["x"]

    @kernel
    def stream(self, pulse, first, words, second, gate):
        self.core.break_realtime()
        pulse.load(first)
        self.core.break_realtime()
        pulse.stream_from(words)
        pulse.set_loaded(second)
        delay(50 * us)
        pulse.wait_armed()
        delay(50 * us)
        pulse.play(gate)
        pulse.wait_armed()
        pulse.check()

    @subkernel(destination=1)
    def on_board(self) -> TInt32:
        self.core.break_realtime()
        self.stream(self.sat_pulse0, self.sat_first, self.sat_words, self.sat_second, self.sat_x)
        done = 1
        self.core.break_realtime()
        try:
            self.pulse0.stream_from(self.words)
        except RTIODestinationUnreachable:
            done += 2
        return done

    @kernel
    def run(self):
        self.core.reset()
        self.core.break_realtime()
        if not self.caught:
            self.sat_pulse0.stream_from(self.sat_words)
        self.stream(self.pulse0, self.first, self.words, self.second, self.x)
        self.core.break_realtime()
        try:
            self.sat_pulse0.stream_from(self.sat_words)
        except ValueError:
            print("refused")
        # What was refused has not reached the core
        self.sat_pulse0.load(self.sat_first)
        self.sat_pulse0.check()
        self.on_board()
        print("there", subkernel_await(self.on_board))
        self.stream(self.pulse0, self.first, self.words, self.second, self.x)
        print("done")
