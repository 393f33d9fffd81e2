"""Access to an SU-Servo by its driver (no card is connected)."""

from artiq.experiment import *

PROFILE = 17


class Servo(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.servo = self.get_device("suservo0")
        self.channel = self.get_device("suservo0_ch5")

    @kernel
    def status(self) -> TInt32:
        self.core.break_realtime()
        return self.servo.get_status()

    @kernel
    def run(self):
        self.core.reset()
        self.channel.set_dds_mu(PROFILE, 0x1234_5678, -5, 0xABCD)
        self.channel.set_iir_mu(PROFILE, 6, -7, 8, -9, 200)
        self.channel.set_y_mu(PROFILE, 99999)
        words = [0 for _ in range(8)]
        self.core.break_realtime()
        self.channel.get_profile_mu(PROFILE, words)
        for word in words:
            print(word)
        self.core.break_realtime()
        print("y", self.channel.get_y_mu(PROFILE))
        print("status", self.status())
        self.core.break_realtime()
        self.servo.set_config(1)
        delay_mu(10_000)
        self.servo.set_config(0)
        delay_mu(3_000)
        print("stopped", self.servo.get_status())
        print("read again", self.status())
