"""Figures of kernels on two boards: how long they take to call each other and to pass values, by the RTIO counter."""

from artiq.experiment import *
from numpy import int64

PREFIXES = ("subkernel.",)
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


def board_figures(figures):
    """Measured on emulator://pair."""
    from kairos.emulator import acquire
    from tests.support.experiment import experiment
    from tests.support.gateware import built

    built("pair", "satellite")
    emulator = acquire("emulator://pair")
    first, later, message = experiment("tests/bench/boards.py", "Calls", "examples/two_boards_device_db.py").run()
    emulator.stop()
    where = "emulator://pair, fibre of 1 us"
    figures.add("subkernel.first_call_us", first / 1000, "us", source=f"with its library sent to the satellite; {where}")
    figures.add("subkernel.call_us", later / 1000, "us", source=f"an empty subkernel, started and awaited; {where}")
    figures.add("subkernel.message_us", message / 1000, "us", source=f"an int32 there and another back; {where}")
