"""Waveforms of a Shuttler: levels, ramps and cubics, tones, settings, relays, and long waits.

ttl4 is high for 8 ns at the time of each trigger.
"""

from artiq.experiment import *
from numpy import int32, int64

SETTLED = 1 * us
"""Longer than the latency from a trigger to an output."""

NOTHING = [0, 0, 0, 0]


class Shuttler(EnvExperiment):
    """What the tests have in common."""

    def build(self):
        self.setattr_device("core")
        self.mark = self.get_device("ttl4")
        self.config = self.get_device("shuttler0")
        self.start = self.get_device("shuttler0_trigger")
        self.levels = [self.get_device(f"shuttler0_dcbias{n}") for n in range(16)]
        self.tones = [self.get_device(f"shuttler0_dds{n}") for n in range(16)]
        self.relay = self.get_device("shuttler0_relay")

    def words(self, name, default=NOTHING):
        """Return the argument `name`, coefficients of 64 bits."""
        return [int64(word) for word in self.get_argument(name, PYONValue(default))]

    def phases(self, name):
        """Return the argument `name`, coefficients of a phase."""
        return [int32(word) for word in self.get_argument(name, PYONValue(NOTHING[:3]))]

    @kernel
    def begin(self, relays):
        self.core.reset()
        self.relay.init()
        self.relay.enable(relays)
        delay(100 * us)

    @kernel
    def end(self):
        delay(SETTLED)
        self.core.wait_until_mu(now_mu())

    @kernel
    def trigger(self, mask):
        self.start.trigger(mask)
        self.mark.pulse(8 * ns)

    @kernel
    def level(self, output, a: TList(TInt64)):
        self.levels[output].set_waveform(int32(a[0]), int32(a[1]), a[2], a[3])

    @kernel
    def tone(self, output, b: TList(TInt64), c: TList(TInt32)):
        self.tones[output].set_waveform(int32(b[0]), int32(b[1]), b[2], b[3], c[0], c[1], c[2])


class Levels(Shuttler):
    """Outputs 0, 3 and 15 start together, and 0 and 15 again 20 us later without new coefficients."""

    def build(self):
        super().build()
        self.a0, self.a3, self.a15 = (self.words(name) for name in ("a0", "a3", "a15"))

    @kernel
    def run(self):
        self.begin(0xFFFF)
        self.level(0, self.a0)
        self.level(3, self.a3)
        self.level(15, self.a15)
        delay(100 * us)
        self.trigger(0x8009)
        delay(20 * us)
        self.trigger(0x8001)
        delay(5 * us)
        self.end()


class Tones(Shuttler):
    """Output 2 starts three times with the same tone: after a reset, with its phase going on, and
    cleared; then a chirp."""

    def build(self):
        super().build()
        self.b, self.c, self.chirp = self.words("b"), self.phases("c"), self.phases("chirp")

    @kernel
    def run(self):
        self.begin(4)
        self.config.set_clr(0)
        self.tone(2, self.b, self.c)
        delay(100 * us)
        self.trigger(4)
        delay(10 * us)
        self.trigger(4)
        delay(10 * us)
        self.config.set_clr(4)
        delay(1 * us)
        self.trigger(4)
        self.tone(2, self.b, self.chirp)
        delay(10 * us)
        self.trigger(4)
        delay(5 * us)
        self.end()


class Settings(Shuttler):
    """Gains and offsets of outputs 1 and 9, which have a constant level; `read`: what was read."""

    def build(self):
        super().build()
        self.a = self.words("a", [0x3000, 0, 0, 0])
        self.read = [0] * 5

    @kernel
    def run(self):
        self.begin(0x202)
        self.level(1, self.a)
        self.level(9, self.a)
        delay(100 * us)
        self.trigger(0x202)
        delay(10 * us)
        self.config.set_gain(1, 0x4000)
        delay(10 * us)
        self.config.set_offset(9, -0x2000)
        delay(10 * us)
        self.config.set_gain(9, -0x8000)
        delay(10 * us)
        self.read[0] = self.config.get_gain(1)
        self.core.break_realtime()
        self.read[1] = self.config.get_offset(1)
        self.core.break_realtime()
        self.read[2] = self.config.get_gain(9)
        self.core.break_realtime()
        self.read[3] = self.config.get_offset(9)
        self.core.break_realtime()
        self.read[4] = self.config.get_gain(15)
        self.core.break_realtime()
        self.relay.enable(0x200)
        delay(10 * us)
        self.end()


class Wait(Shuttler):
    """A level and a tone that go on for seconds."""

    def build(self):
        super().build()
        self.a, self.b, self.c = self.words("a"), self.words("b"), self.phases("c")

    @kernel
    def run(self):
        self.begin(0xFFFF)
        self.config.set_clr(0)
        self.level(4, self.a)
        self.tone(5, self.b, self.c)
        delay(100 * us)
        self.trigger(0x30)
        delay(3 * s)
        self.start.trigger(0x20)
        self.end()


class Loud(Shuttler):
    """Level and tone of output 6, first with the factor 1, then with the factor 1.5 and an offset."""

    def build(self):
        super().build()
        self.a, self.b = self.words("a"), self.words("b")

    @kernel
    def run(self):
        self.begin(0x40)
        self.level(6, self.a)
        self.tone(6, self.b, [0, 1 << 28, 0])
        delay(100 * us)
        self.trigger(0x40)
        delay(5 * us)
        self.config.set_gain(6, 0x7FFF)
        delay(8 * ns)
        self.config.set_offset(6, 0x1999)
        delay(5 * us)
        self.trigger(0x40)
        delay(5 * us)
        self.end()
