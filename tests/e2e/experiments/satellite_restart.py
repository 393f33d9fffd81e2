"""A satellite restarts while the master's kernel runs and waits for a subkernel there."""

from artiq.coredevice.exceptions import SubkernelError
from artiq.experiment import *


class Restart(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_argument("management", NumberValue(precision=0, step=1, type="int"))

    def restart(self) -> TInt32:
        """Restart the board; `management`: the port."""
        from kairos.network.management import Management

        with Management("127.0.0.1", self.management, destination=1) as satellite:
            satellite.reboot()
        return 0

    @subkernel(destination=1)
    def waits(self):
        subkernel_recv("never", TInt32)

    @subkernel(destination=1)
    def adds(self, a: TInt32, b: TInt32) -> TInt32:
        return a + b

    @kernel
    def run(self):
        self.core.reset()
        self.adds(1, 2)
        print("sum", subkernel_await(self.adds))
        self.waits()
        self.restart()
        try:
            subkernel_await(self.waits)
        except SubkernelError:
            print("lost")
        result = 0
        while result == 0:
            try:
                self.adds(3, 4)
                result = subkernel_await(self.adds)
            except SubkernelError:
                pass
        print("sum", result)
        self.waits()
        self.restart()
        subkernel_await(self.waits)
        subkernel_send(1, "never", 0)
