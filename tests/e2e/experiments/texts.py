"""Lists, tuples and texts as used by programs: comparison and order, a sort in the kernel, slices,
patterns, names assembled for datasets, configuration from the cache.
"""

from artiq.experiment import *
from numpy import int32


class Texts(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.cache = self.get_device("core_cache")
        self.species = ["Yb171", "Ca40", "Be9", "Ca43"]
        self.lines = [(2, 397.0), (1, 866.0), (1, 854.0), (2, 393.0)]
        self.order = [int32(i) for i in range(4)]
        self.schedule = [5, 3, 9, 1, 7]
        self.seen = {}

    @rpc
    def note(self, *values, **named):
        self.seen[values] = named

    @kernel
    def sort(self, order):
        for i in range(1, len(order)):
            k = i
            while k > 0 and self.lines[order[k]] < self.lines[order[k - 1]]:
                order[k], order[k - 1] = order[k - 1], order[k]
                k -= 1

    @kernel
    def find(self, name):
        for i in range(len(self.species)):
            if self.species[i] == name:
                return i
        return -1

    @kernel
    def label(self, index) -> TInt32:
        text = "ion."
        for _ in range(index):
            text += "."
        text += self.species[index][:2] + "/count"
        self.set_dataset(text, len(text))
        return len(text)

    @kernel
    def run(self):
        self.core.reset()
        self.sort(self.order)
        print(self.find("Be9"), self.find("Mg25"), "Ca40" in self.species, self.species[1] < self.species[3])
        print([self.label(i) for i in range(2)])
        self.schedule[1:4] = [30, 90, 10]
        first, second = self.schedule[0], self.schedule[-1]
        [a, b] = self.schedule[::4]
        print(
            self.schedule, (a, b) == (first, second), self.schedule[::-1] > self.schedule, self.schedule[:2] == [5, 30]
        )
        print((1, 2.5) + ("x",), (1, [2, 3]) < (1, [2, 4]), "abc"[1:], "abc" >= "abd", [[1], [2, 3]] == [[1], [2, 3]])
        self.note(1, "two", (3, 4.0), key=[5], other="six")
        self.cache.put("calibration", [3, 1, 2])
        stored = self.cache.get("calibration")
        stored[0] += 10
        print(self.cache.get("calibration"), len(self.cache.get("nothing")))
        core_log("log", self.species[0][2:], self.schedule[0])

    def analyze(self):
        print(self.order, self.seen)
