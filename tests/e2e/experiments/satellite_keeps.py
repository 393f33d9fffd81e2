"""A satellite restarts between the arrival of outputs and their due times; optionally without its
link."""

from artiq.experiment import *
from numpy import int64

PULSES = 20


class Keeps(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl5")
        self.setattr_argument("management", NumberValue(precision=0, step=1, type="int"))
        self.setattr_argument("socket", StringValue())
        self.setattr_argument("cut", BooleanValue(False))

    def restart(self) -> TInt32:
        """Restart the board; `management`: the port."""
        from kairos.emulator.control import Control
        from kairos.network.management import Management

        with Management("127.0.0.1", self.management, destination=1) as satellite:
            satellite.reboot()
        if self.cut:
            control = Control.connect(self.socket)
            for plugged, seconds in [(False, 1.5), (True, 0)]:
                control.request("link", to="satellite", plugged=plugged)
                control.wait("time", time_ns=control.status()["time_ns"] + round(seconds * 1e9))
        return 0

    def edges(self) -> TInt32:
        from kairos.emulator.control import Control

        trace = Control.connect(self.socket).request("trace", **{"from": 0})
        pads = {pad["name"]: pad["index"] for pad in trace["pads"]}
        return sum(pad == pads["sat_ttl5"] for _, pad, _ in trace["events"])

    @kernel
    def run(self):
        self.core.reset()
        while not self.core.get_rtio_destination_status(1):
            pass
        before = self.edges()
        self.core.break_realtime()
        delay(3 * s)
        for _ in range(PULSES):
            self.sat_ttl5.pulse_mu(int64(1000))
            delay_mu(int64(1000))
        self.restart()
        self.core.wait_until_mu(now_mu())
        print("edges", self.edges() - before)
        self.core.break_realtime()
        self.sat_ttl5.on()
        self.core.wait_until_mu(now_mu())
        print("and again", self.edges() - before)
