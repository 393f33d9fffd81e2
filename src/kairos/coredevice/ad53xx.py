"""The DACs AD5360 to AD5373: up to 40 channels on an SPI bus, updated together by LDAC.

Codes, registers and bits are those of the data sheets. A voltage is a code of 16 bits; the range is
4 times the reference.
"""

from numpy import int64

from ..language import TInt32, at_mu, delay, delay_mu, kernel, now_mu, ns, portable, us
from . import spi2 as spi

__all__ = [
    "AD53XX_READ_CONTROL",
    "AD53XX_READ_GAIN",
    "AD53XX_READ_OFFSET",
    "AD53XX_READ_OFS0",
    "AD53XX_READ_OFS1",
    "AD53XX_READ_X1A",
    "AD53XX_READ_X1B",
    "AD53xx",
    "voltage_to_mu",
]

SPI_AD53XX_CONFIG = spi.SPI_CLK_PHASE | spi.SPI_END

AD53XX_CMD_DATA = 3 << 22
AD53XX_CMD_OFFSET = 2 << 22
AD53XX_CMD_GAIN = 1 << 22

AD53XX_SPECIAL_CONTROL = 1 << 16
AD53XX_SPECIAL_OFS0 = 2 << 16
AD53XX_SPECIAL_OFS1 = 3 << 16
AD53XX_SPECIAL_READ = 5 << 16

AD53XX_READ_X1A = 0x0000
AD53XX_READ_X1B = 0x2000
AD53XX_READ_OFFSET = 0x4000
AD53XX_READ_GAIN = 0x6000
AD53XX_READ_CONTROL = 0x8080
AD53XX_READ_OFS0 = 0x8100
AD53XX_READ_OFS1 = 0x8180


ALL_CHANNELS = list(range(40))


@portable
def _write_word(channel, value, op) -> TInt32:
    """The word that writes `value` to a register (`AD53XX_CMD_…`) of a channel."""
    return op | ((channel + 8) << 16) | (value & 0xFFFF)


@portable
def _read_word(channel, op) -> TInt32:
    """The word that asks for a register (`AD53XX_READ_…`) of a channel."""
    return AD53XX_SPECIAL_READ | op | ((channel + 8) << 7)


@portable
def voltage_to_mu(voltage, offset_dacs=0x2000, vref=5.0) -> TInt32:
    """Code for a voltage, with the setting of the offset DACs. ValueError if it is out of range."""
    code = int(round((1 << 16) * (voltage / (4.0 * vref)) + offset_dacs * 0x4))
    if code < 0x0 or code > 0xFFFF:
        raise ValueError("Invalid DAC voltage!")
    return code


class _DummyTTL:
    """Stands for a TTL output that is not connected."""

    @portable
    def on(self):
        pass

    @portable
    def off(self):
        pass


class AD53xx:
    """A DAC on the SPI bus `spi_device`.

    `ldac_device`, `clr_device`: TTL outputs, as far as they are connected. `chip_select`: value on the bus.
    `div_write`, `div_read`: SPI clock dividers. `vref`: reference in volts. `offset_dacs`: setting of both offset DACs.
    """

    kernel_invariants = {"bus", "ldac", "clr", "chip_select", "div_write", "div_read", "vref", "core"}

    def __init__(
        self,
        dmgr,
        spi_device,
        ldac_device=None,
        clr_device=None,
        chip_select=1,
        div_write=4,
        div_read=16,
        vref=5.0,
        offset_dacs=8192,
        core="core",
    ):
        self.bus = dmgr.get(spi_device)
        self.bus.update_xfer_duration_mu(div_write, 24)
        self.ldac = _DummyTTL() if ldac_device is None else dmgr.get(ldac_device)
        self.clr = _DummyTTL() if clr_device is None else dmgr.get(clr_device)
        self.chip_select = chip_select
        self.div_write = div_write
        self.div_read = div_read
        self.vref = vref
        self.offset_dacs = offset_dacs
        self.core = dmgr.get(core)

    @kernel
    def _write_mode(self):
        self.bus.set_config_mu(SPI_AD53XX_CONFIG, 24, self.div_write, self.chip_select)

    @kernel
    def init(self, blind=False):
        """Configure bus and DAC: offset DACs, shutdown when too hot. Checks that it answers, unless `blind`.

        ValueError ("DAC not found", "DAC over temperature", "DAC CONTROL readback mismatch").
        """
        self.ldac.on()
        self.clr.on()
        self._write_mode()
        self.write_offset_dacs_mu(self.offset_dacs)
        if not blind:
            control = self.read_reg(channel=0, op=AD53XX_READ_CONTROL)
            if control == 0xFFFF:
                raise ValueError("DAC not found")
            if control & 0b10000 != 0:
                raise ValueError("DAC over temperature")
            delay(25 * us)
        self.bus.write((AD53XX_SPECIAL_CONTROL | 0b0010) << 8)
        if not blind:
            control = self.read_reg(channel=0, op=AD53XX_READ_CONTROL)
            if control & 0b10111 != 0b00010:
                raise ValueError("DAC CONTROL readback mismatch")
            delay(15 * us)

    @kernel
    def read_reg(self, channel=0, op=AD53XX_READ_X1A) -> TInt32:
        """Read a register of a channel, 16 bits; waits for the answer."""
        self.bus.write(_read_word(channel, op) << 8)
        self.bus.set_config_mu(SPI_AD53XX_CONFIG | spi.SPI_INPUT, 24, self.div_read, self.chip_select)
        delay(270 * ns)
        self.bus.write(0)
        self._write_mode()
        return self.bus.read() & 0xFFFF

    @kernel
    def write_offset_dacs_mu(self, value):
        """Set both offset DACs (14 bits)."""
        value &= 0x3FFF
        self.bus.write((AD53XX_SPECIAL_OFS0 | value) << 8)
        self.bus.write((AD53XX_SPECIAL_OFS1 | value) << 8)
        self.offset_dacs = value

    @kernel
    def write_gain_mu(self, channel, gain=0xFFFF):
        """Set the gain register of a channel."""
        self.bus.write(_write_word(channel, gain, AD53XX_CMD_GAIN) << 8)

    @kernel
    def write_offset_mu(self, channel, offset=0x8000):
        """Set the offset register of a channel."""
        self.bus.write(_write_word(channel, offset, AD53XX_CMD_OFFSET) << 8)

    @kernel
    def write_offset(self, channel, voltage):
        """Set the offset register of a channel so that its zero is at `voltage`."""
        self.write_offset_mu(channel, voltage_to_mu(voltage, self.offset_dacs, self.vref))

    @kernel
    def write_dac_mu(self, channel, value):
        """Send a code to a channel; `load` makes it the output."""
        self.bus.write(_write_word(channel, value, AD53XX_CMD_DATA) << 8)

    @kernel
    def write_dac(self, channel, voltage):
        """Send a voltage to a channel; `load` makes it the output."""
        self.write_dac_mu(channel, voltage_to_mu(voltage, self.offset_dacs, self.vref))

    @kernel
    def load(self):
        """Make what was sent the output: a pulse of two coarse cycles on LDAC, which the cursor follows."""
        self.ldac.off()
        delay_mu(int64(2 * self.bus.ref_period_mu))
        self.ldac.on()

    @kernel
    def set_dac_mu(self, values, channels=ALL_CHANNELS):
        """Set several channels at the cursor, which stays: the codes are sent before it."""
        t0 = now_mu()
        # LDAC may not fall sooner after the last word (t10 of the data sheet).
        t_10 = self.core.seconds_to_mu(1500 * ns)
        delay_mu(-t_10 - len(values) * self.bus.xfer_duration_mu)
        for i in range(len(values)):
            self.write_dac_mu(channels[i], values[i])
        at_mu(t0)
        self.load()
        at_mu(t0)

    @kernel
    def set_dac(self, voltages, channels=ALL_CHANNELS):
        """Set several channels at the cursor, in volts; see `set_dac_mu`."""
        values = [voltage_to_mu(voltage, self.offset_dacs, self.vref) for voltage in voltages]
        self.set_dac_mu(values, channels)

    @kernel
    def calibrate(self, channel, vzs, vfs):
        """Correct offset and gain of a channel, given the voltages that it had at the codes 0 and 0xffff.

        ValueError if its gain is too low, which the gain register cannot correct.
        """
        code_per_volt = 65536.0 / (4.0 * self.vref)
        zero = round(vzs * code_per_volt) + self.offset_dacs * 4
        excess = round((vfs - vzs) * code_per_volt) - 0xFFFF
        if excess < 0:
            raise ValueError("the gain of the DAC channel is too low to be calibrated")
        self.write_offset_mu(channel, 0x8000 - zero)
        self.write_gain_mu(channel, 0xFFFF - excess)

    @portable
    def voltage_to_mu(self, voltage) -> TInt32:
        """Code for a voltage. ValueError if it is out of range."""
        return voltage_to_mu(voltage, self.offset_dacs, self.vref)
