"""A satellite whose logic is reloaded between the arrival of outputs and their due times: they are lost,
and the next request reports it.
"""

from artiq.coredevice.exceptions import RTIODestinationUnreachable
from artiq.experiment import *
from numpy import int64

PULSES = 20


class Reloaded(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl5")
        self.setattr_argument("management", NumberValue(precision=0, step=1, type="int"))
        self.setattr_argument("socket", StringValue())

    def restart(self) -> TInt32:
        """Restart the board; `management`: the port."""
        from kairos.network.management import Management

        with Management("127.0.0.1", self.management, destination=1) as satellite:
            satellite.reboot()
        return 0

    def edges(self) -> TInt32:
        from kairos.emulator.control import Control

        trace = Control.connect(self.socket).request("trace", **{"from": 0})
        pads = {pad["name"]: pad["index"] for pad in trace["pads"]}
        return sum(pad == pads["sat_ttl5"] and level == 1 for _, pad, level in trace["events"])

    @kernel
    def wait_until_there(self):
        while not self.core.get_rtio_destination_status(1):
            self.core.wait_until_mu(self.core.get_rtio_counter_mu() + 100000)

    @kernel
    def attempt(self):
        try:
            self.core.break_realtime()
            self.sat_ttl5.pulse_mu(int64(1000))
            self.core.wait_until_mu(now_mu() + 10000)
            print("taken")
        except RTIODestinationUnreachable:
            print("reported")

    @kernel
    def run(self):
        self.core.reset()
        self.wait_until_there()
        self.core.break_realtime()
        self.sat_ttl5.pulse_mu(int64(1000))
        delay(3 * s)
        for _ in range(PULSES):
            self.sat_ttl5.pulse_mu(int64(1000))
            delay_mu(int64(1000))
        end = now_mu()
        self.restart()
        self.core.wait_until_mu(self.core.get_rtio_counter_mu() + 500_000_000)
        self.wait_until_there()
        # The first of these outputs is refused, which the wait behind it reports.
        for _ in range(3):
            self.attempt()
        self.core.wait_until_mu(end)
        print("pulses", self.edges())
