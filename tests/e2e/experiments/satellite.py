"""A kernel of the master with channels of a satellite: supported and rejected operations."""

from artiq.coredevice.exceptions import RTIODestinationUnreachable, RTIOUnderflow
from artiq.experiment import *
from numpy import int64


class Satellite(EnvExperiment):
    def build(self):
        for name in ("core", "core_dma", "ttl4", "sat_ttl0", "sat_ttl1", "sat_ttl4", "sat_ttl5"):
            self.setattr_device(name)
        self.setattr_device("sat_missing")
        self.setattr_device("unconnected")

    def cut(self, level) -> TInt32:
        """Unplug the fibre (1), or plug it in."""
        from kairos.emulator import acquire

        control = acquire("emulator://pair").control
        control.request("link", to="satellite", plugged=not level)
        return 0

    @kernel
    def inputs(self):
        self.core.break_realtime()
        self.sat_ttl0.output()
        self.sat_ttl1.input()
        delay(10 * us)
        start = now_mu()
        end = self.sat_ttl0.gate_both_mu(int64(5000))
        at_mu(start + 1003)
        self.sat_ttl0.pulse_mu(int64(500))
        for _ in range(3):
            stamp = self.sat_ttl0.timestamp_mu(end)
            print("stamp", stamp - start if stamp >= 0 else stamp)

    @kernel
    def record(self):
        with self.core_dma.record("both"):
            for _ in range(20):
                with parallel:
                    self.ttl4.pulse_mu(int64(101))
                    self.sat_ttl5.pulse_mu(int64(101))
                delay_mu(101)

    @kernel
    def play(self):
        self.core.break_realtime()
        self.core_dma.playback("both")
        self.core.wait_until_mu(now_mu())

    @kernel
    def late(self):
        # Between the lead required by a local output and by one at the end of the fibre
        at_mu(self.core.get_rtio_counter_mu() + 1600)
        self.ttl4.on()
        try:
            self.sat_ttl4.on()
        except RTIOUnderflow:
            print("underflow")
        self.core.break_realtime()
        self.sat_ttl4.off()

    @kernel
    def refused(self):
        self.core.break_realtime()
        try:
            self.sat_missing.on()
        except RTIODestinationUnreachable:
            print("no such channel")
        self.core.break_realtime()
        try:
            self.unconnected.on()
        except RTIODestinationUnreachable:
            print("no such board")
        print(
            self.core.get_rtio_destination_status(0),
            self.core.get_rtio_destination_status(1),
            self.core.get_rtio_destination_status(2),
        )

    @kernel
    def collide(self):
        self.core.break_realtime()
        self.sat_ttl5.on()
        delay_mu(1)
        self.sat_ttl5.off()
        self.core.wait_until_mu(now_mu() + 100000)

    @kernel
    def dropped(self):
        """Pending outputs on the satellite are dropped by a reset of RTIO, later ones are not."""
        self.core.break_realtime()
        delay(10 * ms)
        for _ in range(20):
            self.sat_ttl5.pulse_mu(int64(55))
            delay_mu(55)
        self.core.reset()
        self.sat_ttl5.pulse_mu(int64(56))
        self.core.wait_until_mu(now_mu() + 11000000)

    @kernel
    def unplugged(self):
        self.core.break_realtime()
        self.sat_ttl5.pulse_mu(int64(1000))
        self.cut(1)
        self.core.break_realtime()
        try:
            self.sat_ttl4.on()
        except RTIODestinationUnreachable:
            print("unplugged", self.core.get_rtio_destination_status(1))
        self.core.break_realtime()
        try:
            self.sat_ttl1.timestamp_mu(now_mu())
        except RTIODestinationUnreachable:
            print("no inputs")
        self.core.break_realtime()
        self.ttl4.pulse_mu(int64(77))
        self.cut(0)
        while not self.core.get_rtio_destination_status(1):
            pass
        self.core.break_realtime()
        with parallel:
            self.ttl4.pulse_mu(int64(78))
            self.sat_ttl5.pulse_mu(int64(78))
        self.core.wait_until_mu(now_mu())

    @kernel
    def fail(self):
        self.core.break_realtime()
        delay(-10 * ms)
        self.sat_ttl4.on()

    def run(self):
        self.core.reset()
        self.inputs()
        self.record()
        self.play()
        self.late()
        self.refused()
        self.collide()
        self.dropped()
        self.unplugged()
        self.fail()
