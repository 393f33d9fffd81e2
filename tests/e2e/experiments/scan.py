"""A randomised scan over two parameters: points sorted and shuffled on the host, data appended and mutated
from the kernel, an asynchronous progress report, and a stop requested by the host.
"""

from artiq.experiment import *


class Scan(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_argument("duration", Scannable(default=RangeScan(1 * us, 4 * us, 4, randomize=True, seed=7)))
        self.setattr_argument("level", Scannable(default=ExplicitScan([True, False])))
        self.setattr_argument("limit", NumberValue(6, precision=0, step=1, type="int"))
        self.progress = 0.0

    def prepare(self):
        manager = MultiScanManager(("duration", self.duration), ("level", self.level))
        self.points = [(point.duration, point.level) for point in manager]
        self.reported = []
        self.set_dataset("length_mu", [])
        self.set_dataset("done", [False] * len(self.points), broadcast=True)

    @rpc(flags={"async"})
    def report(self, index, fraction):
        self.reported.append((index, round(fraction, 3)))

    def must_stop(self, index) -> TBool:
        return bool(index >= self.limit)

    @kernel
    def measure(self, point):
        duration, level = point
        start = now_mu()
        if level:
            self.ttl4.pulse(duration)
        else:
            delay(duration)
        return now_mu() - start

    @kernel
    def run(self):
        self.core.reset()
        n = 0
        for point in self.points:
            if self.must_stop(n):
                break
            self.core.break_realtime()
            self.append_to_dataset("length_mu", self.measure(point))
            self.mutate_dataset("done", n, True)
            self.progress = float(n + 1) / float(len(self.points))
            self.report(n, self.progress)
            n += 1
        else:
            print("not stopped")
        print("stopped at", n)

    def analyze(self):
        lengths = [int(length) for length in self.get_dataset("length_mu")]
        wanted = [round(duration / ns) for duration, _ in self.points[: len(lengths)]]
        print("lengths", lengths == wanted, sorted(set(lengths)))
        print(self.reported[-1], self.get_dataset("done").count(True), self.progress)
