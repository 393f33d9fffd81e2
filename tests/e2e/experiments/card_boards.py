"""A level of a Shuttler and a tone of a Songbird, each on a board of its own, that begin with a pulse of the master."""

from artiq.experiment import *
from numpy import int64


class Boards(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.mark, self.led = self.get_device("ttl4"), self.get_device("shuttler0_led0")
        self.relay, self.adc = self.get_device("shuttler0_relay"), self.get_device("shuttler0_adc")
        self.level, self.start = self.get_device("shuttler0_dcbias5"), self.get_device("shuttler0_trigger")
        self.card, self.tone = self.get_device("songbird0"), self.get_device("songbird0_dds2")
        self.frequency = self.tone.frequency_to_mu(150e6)

    @kernel
    def run(self):
        # The card is brought up for a second after the start
        while not self.core.get_rtio_destination_status(1):
            self.core.wait_until_mu(self.core.get_rtio_counter_mu() + int64(1000000))
        self.core.reset()
        self.relay.init()
        self.relay.enable(1 << 5)
        delay(100 * us)
        self.led.on()
        self.adc.reset()
        self.core.break_realtime()
        delay(1 * ms)
        identity = self.adc.read_id()
        self.core.break_realtime()
        delay(1 * ms)
        self.card.init()
        self.core.break_realtime()
        delay(1 * ms)
        # 2.5 V of 20 V, and 0.25 V of 2 V
        self.level.set_waveform(0x2000, 0, int64(0), int64(0))
        self.tone.set_waveform(0x2000, 0, int64(0), int64(0), 0, self.frequency, 0)
        delay(100 * us)
        self.mark.pulse(8 * ns)
        delay(-8 * ns)
        self.start.trigger(1 << 5)
        self.card.trigger(1 << 2)
        self.core.wait_until_mu(now_mu() + int64(20000))
        self.set_dataset("identity", identity)
