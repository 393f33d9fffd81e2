from artiq.experiment import *

from kairos.coredevice.remote_memory import ADDER_BYTES, BLOCK, BUFFER


class Accelerator(EnvExperiment):
    """The satellite shows the vector adder in its logic by a region of its remote memory. A kernel of the master has
    numbers added there: by stores and loads of lists, and by copies of its own memory."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("board0")
        self.setattr_device("adder1")
        self.setattr_argument("numbers", NumberValue(100, precision=0, step=1, min=1, max=1024, type="int"))

    @subkernel(destination=1)
    def show(self):
        self.board0.show(0, 0, BLOCK, ADDER_BYTES)

    @kernel
    def by_words(self, first, second, sums) -> TInt64:
        """Returns the machine units that it took."""
        begun = self.core.get_rtio_counter_mu()
        self.adder1.begin(first, second)
        self.adder1.sums(sums)
        return self.core.get_rtio_counter_mu() - begun

    @kernel
    def by_copies(self) -> TInt64:
        begun = self.core.get_rtio_counter_mu()
        self.adder1.begin_copies(BUFFER, BUFFER + 0x1000, self.numbers)
        self.adder1.fetch_sums(BUFFER + 0x2000, self.numbers)
        return self.core.get_rtio_counter_mu() - begun

    @kernel
    def report(self, how, sums, took):
        wrong = 0
        for n in range(self.numbers):
            if sums[n] != 1000000 + 2 * n:
                wrong += 1
        print(how, self.numbers, "sums,", wrong, "wrong, after", took / 1000, "us")

    @kernel
    def run(self):
        self.core.reset()
        self.show()
        subkernel_await(self.show)
        first = [3 * n for n in range(self.numbers)]
        second = [1000000 - n for n in range(self.numbers)]
        sums = [0 for _ in range(self.numbers)]
        took = self.by_words(first, second, sums)
        self.report("by stores and loads:", sums, took)
        self.board0.write(BUFFER, first)
        self.board0.write(BUFFER + 0x1000, second)
        took = self.by_copies()
        self.board0.read(BUFFER + 0x2000, sums)
        self.report("by copies:", sums, took)
