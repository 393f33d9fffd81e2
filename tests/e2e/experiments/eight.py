"""One kernel pulses a pin of each of eight boards at the same timestamps; a subkernel of the last one."""

from artiq.experiment import *
from numpy import int64


class Eight(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat7_ttl5")
        self.outputs = [self.get_device(f"{board}ttl4") for board in ("", *[f"sat{n}_" for n in range(1, 8)])]

    @subkernel(destination=7)
    def last(self, a: TInt32) -> TInt32:
        self.core.break_realtime()
        self.sat7_ttl5.pulse_mu(int64(777))
        self.core.wait_until_mu(now_mu())
        return a + subkernel_recv("more", TInt32)

    @kernel
    def run(self):
        self.core.reset()
        for board in range(1, 8):
            while not self.core.get_rtio_destination_status(board):
                pass
        self.core.break_realtime()
        for length in range(1, 4):
            for output in self.outputs:
                output.on()
            delay_mu(int64(1000 * length + 3))
            for output in self.outputs:
                output.off()
            delay(10 * us)
        self.core.wait_until_mu(now_mu())
        self.last(40)
        subkernel_send(7, "more", 2)
        print(subkernel_await(self.last))
