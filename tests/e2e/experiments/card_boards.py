"""A level of a Shuttler and a tone of a Songbird, each on a board of its own, that begin with a pulse of the master."""

from artiq.coredevice.i2c import i2c_read, i2c_start, i2c_stop, i2c_write
from artiq.coredevice.spi2 import SPI_END
from artiq.experiment import *
from numpy import int64


@kernel
def wait_for_card(core):
    """The Shuttler is brought up for a second after the start."""
    while not core.get_rtio_destination_status(1):
        core.wait_until_mu(core.get_rtio_counter_mu() + int64(1000000))


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
        wait_for_card(self.core)
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


class Twice(EnvExperiment):
    """Two transfers at once on a bus of the Shuttler, and time for the card to say so."""

    def build(self):
        self.setattr_device("core")
        self.bus, self.led = self.get_device("spi_shuttler0_relay"), self.get_device("shuttler0_led0")

    @kernel
    def run(self):
        self.core.reset()
        self.led.off()
        delay(1 * us)
        self.led.pulse(1 * us)
        self.bus.set_config_mu(SPI_END, 16, 4, 1)
        begin = now_mu()
        self.bus.write(1)
        at_mu(begin + int64(64))
        self.bus.write(2)
        self.core.wait_until_mu(begin + int64(400000000))


class Bus(EnvExperiment):
    """A transaction on an I2C bus of the Shuttler."""

    def build(self):
        self.setattr_device("core")
        self.setattr_argument("number", NumberValue(precision=0, scale=1, step=1, type="int"))

    @kernel
    def run(self):
        wait_for_card(self.core)
        bus = 1 << 16 | self.number
        i2c_start(bus)
        acknowledged = i2c_write(bus, 0xA0)
        byte = i2c_read(bus, False)
        i2c_stop(bus)
        self.set_dataset("acknowledged", acknowledged)
        self.set_dataset("byte", byte)


class Trace(EnvExperiment):
    """A trace of outputs of both cards and this board, distributed to the boards that can play their part."""

    def build(self):
        for name in ("core", "core_dma"):
            self.setattr_device(name)
        self.pins = [self.get_device(name) for name in ("ttl4", "shuttler0_led0", "songbird0_led0")]

    @kernel
    def run(self):
        wait_for_card(self.core)
        self.core.reset()
        with self.core_dma.record("pulses", enable_ddma=True):
            delay(10 * us)
            for pin in self.pins:
                pin.pulse(1 * us)
        self.core.break_realtime()
        delay(1 * ms)
        self.core_dma.playback_handle(self.core_dma.get_handle("pulses"))
        self.core.wait_until_mu(now_mu() + int64(20000))
