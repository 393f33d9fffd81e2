"""A link is cut while outputs are in flight, and is back before the kernel addresses that board
again. The fibre is as long as it may be: a remote call takes about as long as light."""

from artiq.coredevice.exceptions import RTIODestinationUnreachable
from artiq.experiment import *

PULSES = 20


class InFlight(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl5")
        self.setattr_argument("socket", StringValue())

    def prepare(self):
        from kairos.emulator.control import Control

        self.control = Control(self.socket)

    def cut(self):
        """Unplug the link for a millisecond."""
        self.control.request("link", to="satellite", plugged=False)
        self.control.wait("time", time_ns=self.control.status()["time_ns"] + 1_000_000)
        self.control.request("link", to="satellite", plugged=True)

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
        self.core.break_realtime()
        delay(5 * ms)
        for _ in range(PULSES):
            self.sat_ttl5.pulse(1 * us)
            delay(1 * us)
        self.cut()
        self.core.wait_until_mu(now_mu())
        self.wait_for_the_link()
        try:
            self.off()
            print("no exception")
        except RTIODestinationUnreachable:
            print("unreachable")
        self.off()
        print("reached")
