"""A kernel of a satellite copies to the master's memory, after which its copy engine can assert its
interrupt."""

from artiq.experiment import *

TARGET, SOURCE, SIZE = 0x0FE0_1000, 0x0FE0_8000, 1024


class Copies(EnvExperiment):
    def build(self):
        for name in ("core", "master", "satellite"):
            self.setattr_device(name)

    @subkernel(destination=1)
    def copies(self):
        for n in range(SIZE // 4):
            self.satellite.store(SOURCE + 4 * n, n)
        self.master.copy(TARGET, SOURCE, SIZE)

    @kernel
    def run(self):
        self.core.reset()
        while not self.core.get_rtio_destination_status(1):
            pass
        self.satellite.export(1, TARGET, SIZE, 3)
        self.copies()
        subkernel_await(self.copies)
        print("copied")
