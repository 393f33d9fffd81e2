from artiq.experiment import *


class RemoteAdder(EnvExperiment):
    """A kernel uses a block in the logic of another board as if it were its own: it stores two vectors in a
    vector adder behind the bridge, waits for its interrupt, and reads the sums."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("adder")
        self.setattr_argument("numbers", NumberValue(100, precision=0, step=1, min=1, max=1024, type="int"))

    @kernel
    def add(self, first, second, sums) -> TInt64:
        """Returns the machine units that it took."""
        begun = self.core.get_rtio_counter_mu()
        self.adder.begin(first, second)
        while self.adder.interrupts() & 1 == 0:
            pass
        self.adder.sums(sums)
        return self.core.get_rtio_counter_mu() - begun

    @kernel
    def run(self):
        self.core.reset()
        while not self.adder.is_up():
            pass
        first = [3 * n for n in range(self.numbers)]
        second = [1000000 - n for n in range(self.numbers)]
        sums = [0 for _ in range(self.numbers)]
        took = self.add(first, second, sums)
        wrong = 0
        for n in range(self.numbers):
            if sums[n] != 1000000 + 2 * n:
                wrong += 1
        print(
            self.numbers,
            "sums,",
            wrong,
            "wrong, after",
            took / 1000,
            "us; latency of an access:",
            8 * self.adder.latency(),
            "ns",
        )
