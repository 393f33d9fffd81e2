"""Two satellites, each on its own link: pins, distributed recordings, playbacks over both links, inputs;
and one link is unplugged while a subkernel of the other satellite runs, and the master uses that
satellite.
"""

from artiq.coredevice.exceptions import DMAError, RTIODestinationUnreachable
from artiq.experiment import *
from numpy import int64

PERIOD = 400_000
PULSES = 5000


class TwoLinks(EnvExperiment):
    def build(self):
        for name in ("core", "core_dma", "ttl4"):
            self.setattr_device(name)
        for board in ("sat1", "sat2"):
            for line in ("ttl0", "ttl4", "ttl5", "ttl6"):
                self.setattr_device(f"{board}_{line}")
        self.setattr_argument("socket", StringValue())
        self.outputs = [self.ttl4, self.sat1_ttl4, self.sat2_ttl4]
        self.inputs = [self.sat1_ttl0, self.sat2_ttl0]

    def plug(self, plugged: TBool):
        """Plug or unplug the first satellite's link, and advance 5 ms."""
        from kairos.emulator.control import Control

        control = Control.connect(self.socket)
        control.request("link", to="satellite1", plugged=bool(plugged))
        now = control.status()["time_ns"]
        print("plugged" if plugged else "cut", now)
        control.wait("time", timeout=300, time_ns=now + 5_000_000)

    @subkernel(destination=2)
    def train(self) -> TInt32:
        """Play a train that is never submitted more than a few pulses ahead."""
        self.core.break_realtime()
        for _ in range(PULSES):
            self.sat2_ttl5.pulse_mu(int64(1000))
            delay_mu(int64(PERIOD - 1000))
            self.core.wait_until_mu(now_mu() - 2 * PERIOD)
        return PULSES

    @kernel
    def ready(self, board):
        while not self.core.get_rtio_destination_status(board):
            self.core.wait_until_mu(self.core.get_rtio_counter_mu() + 100000)

    @kernel
    def together(self):
        """Pulse a pin of each board once."""
        self.core.break_realtime()
        delay(100 * us)
        for output in self.outputs:
            output.on()
        delay_mu(int64(1003))
        for output in self.outputs:
            output.off()
        self.core.wait_until_mu(now_mu())

    @kernel
    def record(self):
        with self.core_dma.record("both", enable_ddma=True):
            for _ in range(10):
                with parallel:
                    self.sat1_ttl6.pulse_mu(int64(101))
                    self.sat2_ttl6.pulse_mu(int64(101))
                delay_mu(101)
        with self.core_dma.record("over"):
            with parallel:
                self.sat1_ttl6.pulse_mu(int64(307))
                self.sat2_ttl6.pulse_mu(int64(307))
        with self.core_dma.record("second"):
            self.sat2_ttl6.pulse_mu(int64(509))

    @kernel
    def play(self, name):
        self.core.break_realtime()
        delay(1 * ms)
        self.core_dma.playback(name)
        self.core.wait_until_mu(now_mu())

    @kernel
    def edge(self, line):
        """Return the difference between an edge's timestamp at a pin and its event."""
        self.core.break_realtime()
        line.output()
        delay(10 * us)
        end = line.gate_rising(2 * us)
        at_mu(end - 1500)
        rising = now_mu()
        line.pulse(100 * ns)
        print("edge", line.timestamp_mu(end) - rising)

    @kernel
    def while_cut(self):
        try:
            self.core.break_realtime()
            self.sat1_ttl4.pulse_mu(int64(1003))
        except RTIODestinationUnreachable:
            print("first unreachable")
        try:
            self.play("over")
        except RTIODestinationUnreachable:
            print("playback unreachable")
        try:
            self.play("both")
        except RTIODestinationUnreachable:
            print("distributed unreachable")
        except DMAError:
            print("distributed lost")
        # and the other one works normally
        for _ in range(5):
            self.core.break_realtime()
            self.sat2_ttl4.pulse_mu(int64(2005))
            delay_mu(2005)
        self.play("second")
        self.edge(self.sat2_ttl0)

    @kernel
    def run(self):
        self.core.reset()
        self.ready(1)
        self.ready(2)
        self.record()
        self.together()
        self.play("both")
        self.play("over")
        for line in self.inputs:
            self.edge(line)
        self.train()
        self.plug(False)
        self.while_cut()
        self.plug(True)
        self.ready(1)
        self.together()
        self.play("over")
        print("train", subkernel_await(self.train))
