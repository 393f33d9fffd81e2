"""A link is cut while outputs are in flight, and is back before the kernel addresses that board
again. The fibre is as long as it may be: light takes 260 us."""

from artiq.coredevice.exceptions import RTIODestinationUnreachable
from artiq.experiment import *
from numpy import int64

PULSES = 20
AHEAD_MU = 200_000
"""Time of the first output before the cut: it is then on its way, wherever counter and emulated time differ by less
than 60 us."""


class InFlight(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl5")
        self.setattr_argument("cut_ns", NumberValue(type="int", precision=0, step=1, scale=1))

    def prepare(self):
        self.cut_mu = int64(self.cut_ns)

    @kernel
    def wait_for_the_link(self):
        while not self.core.get_rtio_destination_status(1):
            self.core.wait_until_mu(self.core.get_rtio_counter_mu() + 100_000)

    @kernel
    def off(self):
        self.core.break_realtime()
        delay(5 * ms)
        self.sat_ttl5.off()
        self.core.wait_until_mu(now_mu())

    @kernel
    def run(self):
        self.core.reset()
        self.wait_for_the_link()
        self.off()
        self.core.wait_until_mu(self.cut_mu - AHEAD_MU)
        at_mu(self.cut_mu + 5_000_000)
        for _ in range(PULSES):
            self.sat_ttl5.pulse(1 * us)
            delay(1 * us)
        late = self.core.get_rtio_counter_mu() > self.cut_mu
        self.core.wait_until_mu(now_mu())
        self.wait_for_the_link()
        try:
            self.off()
            print("no exception")
        except RTIODestinationUnreachable:
            print("too late" if late else "unreachable")
        self.off()
        print("reached")
