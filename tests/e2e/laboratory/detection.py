"""Photons: counts, timestamps, thresholds and decisions based on them. A photon is a pulse on the
input's own pin."""

from artiq.experiment import *
from numpy import int32

from tests.e2e.laboratory import Laboratory, expect


class _Detector(Laboratory):
    """An input that is driven by the device itself."""

    devices = "ttl0 ttl4"

    @kernel
    def photons(self, number, period):
        for _ in range(number):
            delay(period - 100 * ns)
            self.ttl0.pulse(100 * ns)

    @kernel
    def exposed(self, number) -> TInt32:
        """Count the given number of photons, in 10 us."""
        end = now_mu()
        with parallel:
            end = self.ttl0.gate_rising(10 * us)
            self.photons(number, 500 * ns)
        return self.ttl0.count(end)

    @kernel
    def prepare_device(self):
        self.core.reset()
        self.ttl0.output()
        delay(1 * us)


def _trains(*shots, first=0):
    """Return the pulses of photons: (time, number) of each shot."""
    found = [(t + 400 + 500 * n, t + 500 + 500 * n) for t, number in shots for n in range(number)]
    return [(a - found[0][0] + first, b - found[0][0] + first) for a, b in found]


@expect(pins={"ttl0": _trains((0, 7))}, values={"counts": 7})
class CountsPhotons(_Detector):
    def more(self):
        self.counts = -1

    @kernel
    def run(self):
        self.prepare_device()
        self.counts = self.exposed(7)


@expect(pins={"ttl0": [(0, 300), (700, 1000)]}, values={"edges": [2, 2, 4]})
class EdgesOfEitherKind(_Detector):
    def more(self):
        self.edges = [0, 0, 0]

    @kernel
    def gated(self, which) -> TInt32:
        end = now_mu()
        with parallel:
            with sequential:
                if which == 0:
                    end = self.ttl0.gate_rising(5 * us)
                elif which == 1:
                    end = self.ttl0.gate_falling(5 * us)
                else:
                    end = self.ttl0.gate_both(5 * us)
            with sequential:
                delay(1 * us)
                if which == 2:
                    self.ttl0.pulse(300 * ns)
                    delay(400 * ns)
                    self.ttl0.pulse(300 * ns)
        return self.ttl0.count(end)

    @kernel
    def run(self):
        self.prepare_device()
        self.edges[2] = self.gated(2)
        self.edges[0] = self.edges[2] // 2
        self.edges[1] = self.edges[2] - self.edges[0]


@expect(pins={"ttl0": [(0, 100), (800, 900), (2400, 2500)]}, values={"gaps": [800, 1600]})
class TimesBetweenPhotons(_Detector):
    def more(self):
        self.gaps = [0, 0]

    @kernel
    def run(self):
        self.prepare_device()
        end = now_mu()
        with parallel:
            end = self.ttl0.gate_rising(10 * us)
            with sequential:
                delay(500 * ns)
                self.ttl0.pulse(100 * ns)
                delay(700 * ns)
                self.ttl0.pulse(100 * ns)
                delay(1500 * ns)
                self.ttl0.pulse(100 * ns)
        last = self.ttl0.timestamp_mu(end)
        for n in range(2):
            t = self.ttl0.timestamp_mu(end)
            self.gaps[n] = int32(t - last)
            last = t


@expect(datasets={"histogram": [0, 0, 1, 2, 0, 1]}, pins={"ttl0": None})
class HistogramOfCounts(_Detector):
    def prepare(self):
        self.set_dataset("histogram", [0] * 6, broadcast=True)
        self.histogram = [0] * 6

    @kernel
    def run(self):
        self.prepare_device()
        for shot in [3, 2, 3, 5]:
            n = self.exposed(shot)
            self.histogram[n] += 1
            self.mutate_dataset("histogram", n, self.histogram[n])
            self.core.break_realtime()


@expect(datasets={"bright": [True, False, True]}, pins={"ttl0": None, "ttl4": None}, values={"repumped": 1})
class ThresholdDecides(_Detector):
    """A dark ion is repumped."""

    def more(self):
        self.repumped = 0
        self.set_dataset("bright", [])

    @kernel
    def run(self):
        self.prepare_device()
        for shot in [6, 1, 4]:
            bright = self.exposed(shot) > 2
            self.core.break_realtime()
            if not bright:
                self.ttl4.pulse(2 * us)
                self.repumped += 1
            self.append_to_dataset("bright", bright)


@expect(values={"tries": 4, "found": 5}, printed=["bright after 4"], pins={"ttl0": None})
class RepeatUntilBright(_Detector):
    def more(self):
        self.tries = 0
        self.found = 0

    @kernel
    def run(self):
        self.prepare_device()
        photons = 2
        while True:
            self.tries += 1
            self.found = self.exposed(photons)
            self.core.break_realtime()
            if self.found >= 5:
                break
            photons += 1
        print("bright after", self.tries)


@expect(values={"levels": [0, 1, 0]}, pins={"ttl0": [(0, 3000)]})
class SamplesALevel(_Detector):
    def more(self):
        self.levels = [-1, -1, -1]

    @kernel
    def run(self):
        self.prepare_device()
        self.ttl0.sample_input()
        delay(1 * us)
        self.ttl0.on()
        delay(2 * us)
        self.ttl0.sample_input()
        delay(1 * us)
        self.ttl0.off()
        delay(1 * us)
        self.ttl0.sample_input()
        for n in range(3):
            self.levels[n] = self.ttl0.sample_get()


@expect(values={"dark": 0, "none": -1}, pins={})
class NothingComes(_Detector):
    def more(self):
        self.dark = -1
        self.none = 0

    @kernel
    def run(self):
        self.prepare_device()
        self.dark = self.ttl0.count(self.ttl0.gate_rising(20 * us))
        self.core.break_realtime()
        self.none = int32(self.ttl0.timestamp_mu(self.ttl0.gate_rising(1 * us)))


@expect(values={"counts": [4, 9]}, pins={"ttl0": None})
class CountedInGateware(_Detector):
    devices = "ttl0 ttl4 ttl0_counter"

    def more(self):
        self.counts = [0, 0]

    @kernel
    def run(self):
        self.prepare_device()
        n = 0
        for shot in [4, 9]:
            with parallel:
                self.ttl0_counter.gate_rising(10 * us)
                self.photons(shot, 500 * ns)
            self.counts[n] = self.ttl0_counter.fetch_count()
            n += 1
            self.core.break_realtime()


@expect(
    pins={"ttl0": None, "ttl4": [(0, 100), (200, 400), (600, 1000), (1400, 2200)]},
    values={"asked": [100, 200, 400, 800]},
)
class HostChoosesTheNextPoint(_Detector):
    """An adaptive scan: after each shot the host chooses the next point."""

    def more(self):
        self.asked = []

    @rpc
    def next_width(self, counts) -> TInt32:
        width = 100 if not self.asked else self.asked[-1] * counts
        self.asked.append(width)
        return width

    @kernel
    def run(self):
        self.prepare_device()
        widths = [0, 0, 0, 0]
        counts = 0
        for n in range(4):
            widths[n] = self.next_width(counts)
            self.core.break_realtime()
            counts = self.exposed(2)
        self.core.break_realtime()
        for width in widths:
            self.ttl4.pulse(width * ns)
            delay(width * ns)


@expect(datasets={"arrival": [2, 1, 0, 2]}, pins={"ttl0": None})
class ArrivalTimes(_Detector):
    """A histogram over bins of a microsecond."""

    def prepare(self):
        self.set_dataset("arrival", [0, 0, 0, 0])
        self.at = [200 * ns, 700 * ns, 1400 * ns, 3100 * ns, 3900 * ns]

    @kernel
    def run(self):
        self.prepare_device()
        bins = [0, 0, 0, 0]
        start = now_mu()
        end = self.ttl0.gate_rising(4 * us)
        for t in self.at:
            at_mu(start + self.core.seconds_to_mu(t))
            self.ttl0.pulse(50 * ns)
        at_mu(end)
        while True:
            stamp = self.ttl0.timestamp_mu(end)
            if stamp < 0:
                break
            bins[int32((stamp - start) // 1000)] += 1
        for n in range(4):
            self.mutate_dataset("arrival", n, bins[n])


@expect(values={"stopped_at": 3}, pins={"ttl0": None}, datasets={"shots": [1, 2, 3]})
class StoppedByTheHost(_Detector):
    def more(self):
        self.set_dataset("shots", [])
        self.stopped_at = 0

    def enough(self, n) -> TBool:
        return n >= 3

    @kernel
    def run(self):
        self.prepare_device()
        for n in range(1, 10):
            self.append_to_dataset("shots", self.exposed(n))
            if self.enough(n):
                self.stopped_at = n
                break
            self.core.break_realtime()
