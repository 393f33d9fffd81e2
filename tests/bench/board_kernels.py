"""What two boards say to each other while it is measured."""

from artiq.experiment import *

ROUNDS = 8


class Calls(EnvExperiment):
    def build(self):
        self.setattr_device("core")

    @subkernel(destination=1)
    def empty(self):
        pass

    @subkernel(destination=1)
    def echo(self):
        for _ in range(ROUNDS):
            subkernel_send(0, "back", subkernel_recv("there", TInt32))

    @kernel
    def run(self) -> TTuple([TInt64, TInt64, TInt64]):
        """Machine units of the first call, of a later one, and of a message and its answer."""
        self.core.reset()
        start = self.core.get_rtio_counter_mu()
        self.empty()
        subkernel_await(self.empty)
        first = self.core.get_rtio_counter_mu() - start
        start = self.core.get_rtio_counter_mu()
        for _ in range(ROUNDS):
            self.empty()
            subkernel_await(self.empty)
        later = (self.core.get_rtio_counter_mu() - start) // ROUNDS
        self.echo()
        start = self.core.get_rtio_counter_mu()
        for i in range(ROUNDS):
            subkernel_send(1, "there", i)
            subkernel_recv("back", TInt32)
        messages = (self.core.get_rtio_counter_mu() - start) // ROUNDS
        subkernel_await(self.echo)
        return first, later, messages
