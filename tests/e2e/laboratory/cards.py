"""Cards on their buses: synthesisers, DACs, ADCs, with every word on the bus."""

from artiq.coredevice import spi2
from artiq.experiment import *

from tests.e2e.laboratory import Laboratory, expect


def ftw(frequency):
    """Frequency tuning word of an AD9910 at 1 GHz."""
    return round(frequency * 2**32 / 1e9)


def profile(frequency, phase=0.0, amplitude=1.0, number=7):
    """The 72 bits that set a profile: its register, amplitude, phase and frequency."""
    asf, pow_ = round(amplitude * 0x3FFF), round(phase * 65536)
    return (0x0E + number) << 64 | asf << 48 | pow_ << 32 | ftw(frequency)


def dac(channel, volts):
    """The word that sets a channel of a Zotino."""
    return 3 << 22 | (channel + 8) << 16 | round(65536 * volts / 20) + 0x8000


class _Urukul(Laboratory):
    devices = "urukul0_cpld urukul0_ch0 urukul0_ch1 urukul0_ch2 ttl4"

    @kernel
    def ready(self):
        self.core.reset()
        delay(1 * ms)


@expect(buses={"dds": [(4, 72, profile(80e6))]})
class SetsAFrequency(_Urukul):
    @kernel
    def run(self):
        self.ready()
        self.urukul0_ch0.set(80 * MHz)


@expect(buses={"dds": [(5, 72, profile(12.5e6, 0.25, 0.5))]})
class SetsPhaseAndAmplitude(_Urukul):
    @kernel
    def run(self):
        self.ready()
        self.urukul0_ch1.set(12.5 * MHz, phase=0.25, amplitude=0.5)


@expect(buses={"dds": [(4, 72, profile(f)) for f in (70e6, 71e6, 72e6, 73e6)]}, pins={"ttl4": [(0, 100)]})
class SweepsAFrequency(_Urukul):
    @kernel
    def run(self):
        self.ready()
        for n in range(4):
            self.urukul0_ch0.set((70 + n) * MHz)
            delay(50 * us)
        self.ttl4.pulse(100 * ns)


@expect(
    buses={"dds": [(cs, 72, profile(f, amplitude=a)) for cs, f, a in ((4, 1e6, 0.1), (5, 2e6, 0.2), (6, 3e6, 0.3))]}
)
class ThreeBeams(_Urukul):
    def more(self):
        self.beams = [self.urukul0_ch0, self.urukul0_ch1, self.urukul0_ch2]

    @kernel
    def run(self):
        self.ready()
        for n in range(len(self.beams)):
            self.beams[n].set((n + 1) * MHz, amplitude=0.1 * (n + 1))
            delay(20 * us)


@expect(
    buses={"dds": [(4, 72, (0x0E + 7) << 64 | 0x3FFF << 48 | 0x12345678)]},
    values={"word": 0x12345678, "back": round(0x12345678 * 1e9 / 2**32)},
)
class InMachineUnits(_Urukul):
    def more(self):
        self.word = 0
        self.back = 0

    @kernel
    def run(self):
        self.ready()
        self.word = 0x12345678
        self.urukul0_ch0.set_mu(self.word, asf=0x3FFF)
        self.back = round(self.urukul0_ch0.ftw_to_frequency(self.word))


@expect(buses={"dds": [(4, 72, profile(5e6, number=n)) for n in (0, 3, 6)]})
class SeveralProfiles(_Urukul):
    @kernel
    def run(self):
        self.ready()
        for n in range(3):
            self.urukul0_ch0.set(5 * MHz, profile=3 * n)
            delay(50 * us)


@expect(pins={"ttl_urukul0_sw0": [(0, 5000), (6000, 11_000)], "ttl_urukul0_sw1": [(5000, 6000)]})
class SwitchesOfBeams(_Urukul):
    @kernel
    def run(self):
        self.ready()
        self.urukul0_ch0.sw.pulse(5 * us)
        self.urukul0_ch1.sw.pulse(1 * us)
        self.urukul0_ch0.sw.pulse(5 * us)


@expect(buses={"dds": [(2, 32, 0xFFFFFFAF), (2, 32, 0xFFFF87AF)]})
class Attenuators(_Urukul):
    """Eighths of a decibel below 255, in the byte of the channel."""

    @kernel
    def run(self):
        self.ready()
        self.urukul0_cpld.att_reg = -1
        self.urukul0_cpld.set_att(0, 10 * dB)
        delay(20 * us)
        self.urukul0_cpld.set_att(1, 15 * dB)


@expect(
    buses={"dds": [(4, 72, profile(200e6)), (4, 72, profile(200e6, 0.5))]},
    pins={"ttl_urukul0_sw0": [(0, 2000), (22_000, 24_000)]},
)
class EchoWithAPhaseFlip(_Urukul):
    @kernel
    def run(self):
        self.ready()
        self.urukul0_ch0.set(200 * MHz)
        delay(1 * us)
        self.urukul0_ch0.sw.pulse(2 * us)
        delay(20 * us)
        at = now_mu()
        delay(-15 * us)
        self.urukul0_ch0.set(200 * MHz, phase=0.5)
        at_mu(at)
        self.urukul0_ch0.sw.pulse(2 * us)


BEGIN = [(1, 24, word) for word in (0x022000, 0x032000, 0x010002)]
"""Words that `init` sends to a Zotino without a check: offsets, and the control register."""


class _Zotino(Laboratory):
    devices = "zotino0 ttl4"

    @kernel
    def ready(self):
        self.core.reset()
        self.zotino0.init(blind=True)
        delay(1 * ms)


@expect(buses={"zotino": BEGIN + [(1, 24, dac(0, 1.5)), (1, 24, dac(5, -3.0))]})
class SetsTwoVoltages(_Zotino):
    @kernel
    def run(self):
        self.ready()
        self.zotino0.set_dac([1.5, -3.0], [0, 5])


@expect(buses={"zotino": BEGIN + [(1, 24, dac(2, v)) for v in (-1.0, -0.5, 0.0, 0.5, 1.0)]}, pins={"ttl4": [(0, 1000)]})
class RampsAVoltage(_Zotino):
    @kernel
    def run(self):
        self.ready()
        for n in range(5):
            self.zotino0.write_dac(2, -1.0 + 0.5 * n)
            self.zotino0.load()
            delay(100 * us)
        self.ttl4.pulse(1 * us)


@expect(buses={"zotino": BEGIN + [(1, 24, dac(c, 0.25 * c)) for c in range(32)]})
class AllElectrodes(_Zotino):
    """As in shuttling: all channels from an array of the host."""

    def prepare(self):
        self.volts = [0.25 * c for c in range(32)]

    @kernel
    def run(self):
        self.ready()
        delay(1 * ms)
        self.zotino0.set_dac(self.volts)


@expect(buses={"zotino": BEGIN + [(1, 24, dac(3, 9.99))]}, printed=["refused 11.0"])
class VoltageOutOfRange(_Zotino):
    @kernel
    def run(self):
        self.ready()
        for volts in [9.99, 11.0]:
            try:
                self.zotino0.write_dac(3, volts)
            except ValueError:
                print("refused", volts)
            delay(20 * us)


@expect(buses={"raw": [(1, 8, 0xA5), (2, 16, 0x1234), (3, 32, 0xDEADBEEF)]}, pins={"ttl4": [(0, 8)]})
class OwnCardOnSpi(Laboratory):
    """A card without a driver, at a bare SPI port."""

    devices = "dio_spi0 ttl4"

    @kernel
    def run(self):
        self.core.reset()
        self.dio_spi0.set_config_mu(spi2.SPI_END, 8, 10, 1)
        self.dio_spi0.write(-0x5B000000)
        delay(1 * us)
        self.dio_spi0.set_config_mu(spi2.SPI_END, 16, 10, 2)
        self.dio_spi0.write(0x12340000)
        delay(1 * us)
        self.dio_spi0.set_config_mu(spi2.SPI_END, 32, 10, 3)
        self.dio_spi0.write(-0x21524111)
        self.ttl4.pulse_mu(8)


@expect(datasets={"volts": [0.0] * 8}, pins={"ttl_sampler0_cnv": [(0, 30)]})
class ReadsVoltages(Laboratory):
    """Nothing is connected: the idle input reads as zero."""

    devices = "sampler0"

    @kernel
    def run(self):
        self.core.reset()
        self.sampler0.init()
        delay(1 * ms)
        values = [1.0] * 8
        self.sampler0.sample(values)
        self.set_dataset("volts", values)


@expect(buses={"gains": [(1, 16, 0x0001), (1, 16, 0x0081)]}, values={"gains": 0x81})
class SetsGains(Laboratory):
    devices = "sampler0"

    def more(self):
        self.gains = 0

    @kernel
    def run(self):
        self.core.reset()
        self.sampler0.init()
        delay(1 * ms)
        self.sampler0.set_gain_mu(0, 1)
        delay(50 * us)
        self.sampler0.set_gain_mu(3, 2)
        self.gains = self.sampler0.gains
