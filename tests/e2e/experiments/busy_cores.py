from artiq.experiment import *


class BusyCores(EnvExperiment):
    """Outputs in quick succession while the other core is busy: after a playback and a remote call."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_dma")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        with self.core_dma.record("pulse"):
            self.ttl4.pulse(100 * ns)
        handle = self.core_dma.get_handle("pulse")
        self.core.break_realtime()
        self.core_dma.playback_handle(handle)
        delay(50 * us)
        print("played")
        delay(10 * ms)
        for _ in range(5):
            delay(1 * us)
            self.ttl4.on()
            delay(1 * us)
            self.ttl4.off()
