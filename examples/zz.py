from artiq.experiment import *
from numpy import int64


class Timing(EnvExperiment):
    def build(self):
        self.setattr_device("core")

    @subkernel(destination=1)
    def empty(self):
        pass

    @subkernel(destination=1)
    def echo(self):
        for _ in range(10):
            x = subkernel_recv("there", TInt32)
            subkernel_send(0, "back", x)

    @kernel
    def run(self):
        self.core.reset()
        t = [int64(0) for _ in range(8)]
        for i in range(6):
            t[i] = self.core.get_rtio_counter_mu()
            self.empty()
            subkernel_await(self.empty)
        t[6] = self.core.get_rtio_counter_mu()
        for i in range(6):
            print("call", t[i+1]-t[i])
        subkernel_preload(self.empty)
        t[0] = self.core.get_rtio_counter_mu()
        self.empty()
        t[1] = self.core.get_rtio_counter_mu()
        subkernel_await(self.empty)
        t[2] = self.core.get_rtio_counter_mu()
        print("preloaded", t[1]-t[0], t[2]-t[1])
        self.echo()
        for i in range(8):
            t[i] = self.core.get_rtio_counter_mu()
            subkernel_send(1, "there", 1)
            subkernel_recv("back", TInt32)
        for i in range(7):
            print("message", t[i+1]-t[i])
