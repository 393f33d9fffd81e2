"""Times of pulses: delays, loops, branches, parallel blocks, explicit cursor movements."""

from artiq.experiment import *
from numpy import int32, int64

from tests.e2e.laboratory import Laboratory, expect


@expect(pins={"ttl4": [(0, 10_000)], "ttl5": [(11_000, 16_000)]})
class CoolThenPump(Laboratory):
    devices = "ttl4 ttl5"

    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(10 * us)
        delay(1 * us)
        self.ttl5.pulse(5 * us)


@expect(pins={"ttl4": [(0, 3000)], "ttl5": [(1000, 3000)]})
class SwitchedByHand(Laboratory):
    devices = "ttl4 ttl5"

    @kernel
    def run(self):
        self.core.break_realtime()
        self.ttl4.on()
        delay(1 * us)
        self.ttl5.on()
        delay(2 * us)
        self.ttl4.off()
        self.ttl5.off()


@expect(pins={"ttl4": [(0, 100), (500, 700), (1000, 1300), (1500, 1900), (2000, 2500)]})
class LongerEachTime(Laboratory):
    devices = "ttl4"

    @kernel
    def run(self):
        self.core.reset()
        for n in range(1, 6):
            self.ttl4.pulse(n * 100 * ns)
            delay((5 - n) * 100 * ns)


@expect(pins={"ttl4": [(0, 200), (1200, 1208), (2208, 3708)]})
class OverAList(Laboratory):
    devices = "ttl4"

    def more(self):
        self.times = [200 * ns, 8 * ns, 1.5 * us]

    @kernel
    def run(self):
        self.core.reset()
        for t in self.times:
            self.ttl4.pulse(t)
            delay(1 * us)


@expect(pins={"ttl4": [(300 * n, 300 * n + 100) for n in range(7)]}, values={"shots": 7})
class UntilEnough(Laboratory):
    devices = "ttl4"

    def more(self):
        self.shots = 0

    @kernel
    def run(self):
        self.core.reset()
        collected = 0
        while collected < 20:
            self.ttl4.pulse(100 * ns)
            delay(200 * ns)
            collected += 3
            self.shots += 1


@expect(pins={"ttl4": [(0, 1000), (4000, 5000)], "ttl5": [(2000, 3000)], "ttl6": [(6000, 7000)]})
class Branches(Laboratory):
    devices = "ttl4 ttl5 ttl6"

    @kernel
    def run(self):
        self.core.reset()
        for n in range(4):
            if n % 2 == 0:
                self.ttl4.pulse(1 * us)
            elif n < 2:
                self.ttl5.pulse(1 * us)
            else:
                self.ttl6.pulse(1 * us)
            delay(1 * us)


@expect(pins={"ttl4": [(0, 1000), (3000, 4000)], "ttl5": [(0, 2500)], "ttl6": [(0, 100)]})
class TogetherThenOn(Laboratory):
    devices = "ttl4 ttl5 ttl6"

    @kernel
    def run(self):
        self.core.reset()
        with parallel:
            self.ttl4.pulse(1 * us)
            self.ttl5.pulse(2.5 * us)
            self.ttl6.pulse(100 * ns)
        delay(500 * ns)
        self.ttl4.pulse(1 * us)


@expect(pins={"ttl4": [(0, 500), (700, 1200)], "ttl5": [(100, 2100)], "ttl6": [(2300, 2400)]})
class SequencesInParallel(Laboratory):
    devices = "ttl4 ttl5 ttl6"

    @kernel
    def run(self):
        self.core.reset()
        with parallel:
            with sequential:
                self.ttl4.pulse(500 * ns)
                delay(200 * ns)
                self.ttl4.pulse(500 * ns)
            with sequential:
                delay(100 * ns)
                self.ttl5.pulse(2 * us)
        delay(200 * ns)
        self.ttl6.pulse(100 * ns)


@expect(pins={"ttl4": [(0, 10), (1000, 1010), (4000, 4010)], "ttl5": [(2500, 2509)]})
class CursorByHand(Laboratory):
    devices = "ttl4 ttl5"

    @kernel
    def run(self):
        self.core.reset()
        t0 = now_mu() + 100
        for at in [0, 1000, 4000]:
            at_mu(t0 + at)
            self.ttl4.pulse_mu(10)
        at_mu(t0 + 2500)
        self.ttl5.pulse_mu(9)


@expect(pins={"ttl4": [(0, 2000)], "ttl5": [(0, 500)], "ttl6": [(1500, 1700)]})
class BackInTime(Laboratory):
    """The gate is opened first; the events inside it are written afterwards."""

    devices = "ttl4 ttl5 ttl6"

    @kernel
    def run(self):
        self.core.reset()
        delay(10 * us)
        self.ttl4.pulse(2 * us)
        delay(-2 * us)
        self.ttl5.pulse(500 * ns)
        delay(1 * us)
        self.ttl6.pulse(200 * ns)


@expect(pins={"ttl4": [(0, 100), (1_000_000_100, 1_000_000_200)]})
class ASecondApart(Laboratory):
    devices = "ttl4"

    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(100 * ns)
        delay(1 * s)
        self.ttl4.pulse(100 * ns)
        self.core.wait_until_mu(now_mu())


@expect(pins={"ttl4": [(0, 12), (112, 125), (225, 238)]}, printed=["12 12 13 12.0"])
class WholeUnits(Laboratory):
    """Times that are not whole nanoseconds: `delay` rounds, and `seconds_to_mu` truncates."""

    devices = "ttl4"

    @kernel
    def run(self):
        self.core.reset()
        a = self.core.seconds_to_mu(12.4 * ns)
        b = self.core.seconds_to_mu(12.6 * ns)
        for width in [12.4 * ns, 12.6 * ns, 13.2 * ns]:
            self.ttl4.pulse(width)
            delay(100 * ns)
        print(int32(a), int32(b), self.core.seconds_to_mu(13.2 * ns), self.core.mu_to_seconds(a) / ns)


@expect(
    pins={"ttl4": [(0, 1000)], "ttl5": [(0, 1000)]},
    printed=["late", "in time True"],
    values={"underflows": 1},
)
class RecoversFromUnderflow(Laboratory):
    devices = "ttl4 ttl5"

    def more(self):
        self.underflows = 0

    @kernel
    def run(self):
        self.core.reset()
        try:
            delay(-10 * ms)
            self.ttl4.on()
        except RTIOUnderflow:
            self.underflows += 1
            print("late")
        self.core.break_realtime()
        slack = now_mu() - self.core.get_rtio_counter_mu()
        with parallel:
            self.ttl4.pulse(1 * us)
            self.ttl5.pulse(1 * us)
        print("in time", slack > 0)


@expect(pins={"ttl4": [(0, 300), (1300, 1600)], "ttl7": [(2600, 2700)]}, values={"used": ["ttl4", "ttl4", "ttl7"]})
class ListOfSwitches(Laboratory):
    """Devices in a list, selected by index."""

    devices = "ttl4 ttl7"

    def more(self):
        self.switches = [self.ttl4, self.ttl7]
        self.names = ["ttl4", "ttl7"]
        self.used = []

    @rpc(flags={"async"})
    def note(self, n):
        self.used.append(self.names[n])

    @kernel
    def run(self):
        self.core.reset()
        for n in [0, 0, 1]:
            self.switches[n].pulse(300 * ns - n * 200 * ns)
            delay(1 * us)
            self.note(n)


@expect(pins={"ttl4": [(0, 100), (300, 500), (900, 1300)], "ttl5": [(100, 300), (500, 900), (1300, 2100)]})
class TableOfSteps(Laboratory):
    """Rows of (level of one, level of the other, duration), as from a spreadsheet."""

    devices = "ttl4 ttl5"

    def more(self):
        self.table = [[1, 0, 100], [0, 1, 200], [1, 0, 200], [0, 1, 400], [1, 0, 400], [0, 1, 800]]

    @kernel
    def run(self):
        self.core.reset()
        for row in self.table:
            self.ttl4.set_o(row[0] == 1)
            self.ttl5.set_o(row[1] == 1)
            delay_mu(int64(row[2]))
        self.ttl4.off()
        self.ttl5.off()


@expect(pins={"ttl4": [(0, 100), (250, 350), (550, 650), (900, 1000)]})
class ComprehendedInTheKernel(Laboratory):
    devices = "ttl4"

    @kernel
    def run(self):
        self.core.reset()
        gaps = [150 + 50 * k for k in range(3)]
        for gap in gaps:
            self.ttl4.pulse_mu(100)
            delay_mu(gap)
        self.ttl4.pulse_mu(100)


@expect(pins={"ttl4": [(0, 1000)], "led0": [(2000, 3000)], "led1": [(2504, 3504)]})
class LightsAndShutter(Laboratory):
    """The lights of the board have a resolution of 8 ns."""

    devices = "ttl4 led0 led1"

    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(1 * us)
        delay(1 * us)
        self.led0.on()
        delay(504 * ns)
        self.led1.on()
        delay(496 * ns)
        self.led0.off()
        delay(504 * ns)
        self.led1.off()


@expect(pins={"ttl12": [(256 * n, 256 * n + 128) for n in range(8)]})
class ClockForACamera(Laboratory):
    """Eight periods of 32 cycles; the first begins at once."""

    devices = "ttl12"

    @kernel
    def run(self):
        self.core.reset()
        self.ttl12.set(125 * MHz / 32)
        delay((8 * 256 - 64) * ns)
        self.ttl12.stop()
        delay(1 * us)
