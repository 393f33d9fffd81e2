"""Access to an SU-Servo by plain RTIO events, as its driver makes them (no card is connected)."""

from artiq.experiment import *

from kairos.coredevice.ttl import rtio_input_data, rtio_output

SERVO = 8
"""Its channel in variant `servo`, which has two Urukuls."""
WRITE = 1 << 13
STATE = 1 << 11
CONFIG = STATE | 1 << 10
PLACE = 5 << 5 | 17


class Servo(EnvExperiment):
    def build(self):
        self.setattr_device("core")

    @kernel
    def write(self, address, value):
        address |= WRITE
        rtio_output(SERVO << 8 | address & 0xFF, address >> 8 << 18 | value & 0x3FFFF)
        delay_mu(8)

    @kernel
    def read(self, address):
        self.core.break_realtime()
        rtio_output(SERVO << 8 | address & 0xFF, address >> 8 << 18)
        return rtio_input_data(SERVO)

    @kernel
    def run(self):
        self.core.reset()
        for word in range(8):
            self.write(PLACE << 3 | word, 0x11111 * (word % 3 + 1))
        self.write(STATE | PLACE, 99999)
        for word in range(8):
            print("word", word, self.read(PLACE << 3 | word))
        print("y", self.read(STATE | PLACE))
        print("status", self.read(CONFIG))
        self.core.break_realtime()
        self.write(CONFIG, 1)
        delay_mu(10_000)
        self.write(CONFIG, 0)
        delay_mu(3_000)
        print("stopped", self.read(CONFIG))
        print("read again", self.read(CONFIG))
