"""A tree of environments: a base class with hooks, children with devices and arguments of their
own, overridden kernels, a call of the base class's, portable functions on both sides, kernel
invariants, defaults, methods as values, and write-back."""

from artiq.experiment import *
from numpy import int32, int64

N_SHOTS = 3


@portable
def clamp(x, low=0, high=10):
    return min(max(x, low), high)


class Ion(HasEnvironment):
    kernel_invariants = {"wavelength"}

    def build(self, name="Ca40", index=0):
        self.setattr_device("core")
        self.name = name
        self.index = index
        self.wavelength = 397.0
        self.shuttled = 0

    @kernel
    def shuttle(self, steps=2):
        self.shuttled += steps
        return self.shuttled * 10 + self.index


class Block(HasEnvironment):
    """Common part of all blocks of a sequence."""

    def build(self, output="ttl4"):
        self.setattr_device("core")
        self.output = self.get_device(output)
        self.setattr_argument("scale", NumberValue(1.0))
        self.runs = int64(0)

    def prepare(self):
        self.length = self.scale * self.duration()

    def duration(self):
        return 1 * us

    @kernel
    def before(self):
        pass

    @kernel
    def play(self):
        self.before()
        self.output.pulse(self.length)
        self.runs += 1
        return now_mu()


class Cooling(Block):
    @kernel
    def before(self):
        delay(100 * ns)


class Detection(Block):
    def duration(self):
        return 2 * us

    @kernel
    def play(self):
        delay(200 * ns)
        return Block.play(self)


class Hierarchy(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.cooling = Cooling(self)
        self.detection = Detection(self, output="ttl5")
        self.ions = [Ion(self, index=i) for i in range(2)] + [Ion(self, "Be9", index=7)]
        self.action = self.ions[2].shuttle
        self.found = [int32(0)] * N_SHOTS
        self.names = ("a", 2, 0.5)
        self.nothing = None

    def prepare(self):
        EnvExperiment.prepare(self)
        self.limit = clamp(25)

    def describe(self, ion, total=0) -> TStr:
        return f"{ion.name} {total} {ion.wavelength}"

    @kernel
    def run(self):
        self.core.reset()
        start = now_mu()
        self.cooling.play()
        end = self.detection.play()
        print("sequence", end - start)
        for shot in range(N_SHOTS):
            self.found[shot] = clamp(self.ions[shot].shuttle(shot + 1), high=15)
        print(self.found, clamp(-3), clamp(12), self.limit, self.action(steps=1))
        print(self.describe(self.ions[2], total=self.ions[2].shuttled))
        if self.nothing is None:
            name, number, _ = self.names
            print(name, number)

    def analyze(self):
        print([ion.shuttled for ion in self.ions], int(self.cooling.runs), type(self.detection.runs).__name__)
