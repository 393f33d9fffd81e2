"""The DACs AD5360 to AD5373: up to 40 channels on an SPI bus, updated together by LDAC.

Codes, registers and bits are those of the data sheets. Voltages are 16-bit codes, whose lowest two
bits 14-bit chips ignore; the output range is 4 times the reference.
"""

from ..language import TInt32, at_mu, delay, delay_mu, host_only, kernel, now_mu, ns, portable, us
from ..numeric import Wide
from .chips.ad53xx import ALL_CHANNELS, CONTROL, FIRST_CHANNEL, OFS, SELECT, WORD, checked_channel
from .parts.absent import get_or_absent
from .parts.monitored import Monitored
from .parts.numbers import nearest
from .parts.scales import Scale
from .parts.spi import SPI_CLK_PHASE, SPI_END, SPI_INPUT, Transfer

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

SPI_AD53XX_CONFIG = SPI_CLK_PHASE | SPI_END

# Command words, to be combined with a channel's address and data
_DATA, _OFFSET, _GAIN = (WORD.encode(mode=mode) for mode in ("DATA", "OFFSET", "GAIN"))
AD53XX_CMD_DATA, AD53XX_CMD_OFFSET, AD53XX_CMD_GAIN = _DATA, _OFFSET, _GAIN
_SPECIAL = {name: WORD.encode(mode="SPECIAL", target=name) for name in WORD.target.values}
AD53XX_SPECIAL_CONTROL, AD53XX_SPECIAL_OFS0 = _SPECIAL["CONTROL"], _SPECIAL["OFS0"]
AD53XX_SPECIAL_OFS1, AD53XX_SPECIAL_READ = _SPECIAL["OFS1"], _SPECIAL["READ"]

# Values for `read_reg`: registers of a channel, and registers common to all channels
AD53XX_READ_X1A, AD53XX_READ_X1B, AD53XX_READ_OFFSET, AD53XX_READ_GAIN = (
    SELECT.encode(register=register) for register in ("X1A", "X1B", "OFFSET", "GAIN")
)
AD53XX_READ_CONTROL, AD53XX_READ_OFS0, AD53XX_READ_OFS1 = (
    SELECT.encode(register="OTHER", channel=common) for common in SELECT.channel.values
)

_COMMON = SELECT.register.number("OTHER")
"""Register code of the common registers, which the channel field selects."""

EVERY_CHANNEL = list(range(ALL_CHANNELS))
CODES_OF_OFFSET = 4
"""Output codes per step of the offset DACs."""
SPANS = 4.0
"""Output range in units of the reference voltage."""
LDAC_DELAY = 1500 * ns
"""Delay from the last word to LDAC, t10 of the data sheet."""
SAFE = CONTROL.encode(thermal_shutdown=1)
CHECKED = CONTROL.encode(pec_error=0, select_b=1, thermal_shutdown=1, power_down=1) | CONTROL.over_temperature.place(1)
"""Bits of the control register that must read back as written."""


class _Span(Scale):
    @portable
    def refuse(self):
        raise ValueError("Invalid DAC voltage!")


SPAN = _Span(bits=WORD.data.width, steps=1 << WORD.data.width)
"""Codes for fractions of the output range."""


@portable
def voltage_to_mu(voltage, offset_dacs=0x2000, vref=5.0) -> TInt32:
    """Code for a voltage, given the setting of the offset DACs. ValueError if it is out of range."""
    return SPAN.code_from(offset_dacs * CODES_OF_OFFSET, voltage / (SPANS * vref))


def mu_to_voltage(code, offset_dacs=0x2000, vref=5.0) -> float:
    """Voltage of a code, given the setting of the offset DACs."""
    return SPAN.quantity(code - offset_dacs * CODES_OF_OFFSET) * SPANS * vref


class AD53xx:
    """A DAC on the SPI bus `spi_device`.

    `ldac_device`, `clr_device`: TTL outputs, None if not connected. `chip_select`: value on the
    bus. `div_write`, `div_read`: SPI clock dividers. `vref`: reference in volts. `offset_dacs`:
    setting of both offset DACs.

    The bus stores the selected chip. With several of these DACs on one bus, each word selects its
    chip, which takes one additional coarse cycle per word; a single DAC is selected once by `init`.
    """

    kernel_invariants = {"bus", "ldac", "clr", "chip_select", "div_write", "div_read", "vref", "core", "select_mu"}
    channels = ALL_CHANNELS

    word = Transfer(length=WORD.width, div="div_write", cs="chip_select", flags=SPI_AD53XX_CONFIG)
    answer = Transfer(length=WORD.width, div="div_read", cs="chip_select", flags=SPI_AD53XX_CONFIG | SPI_INPUT)

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
        self.core = dmgr.get(core)
        self.bus = dmgr.get(spi_device)
        self.ldac, self.clr = get_or_absent(dmgr, ldac_device), get_or_absent(dmgr, clr_device)
        self.chip_select = chip_select
        self.div_read, self.div_write = div_read, div_write
        self.offset_dacs = offset_dacs
        self.vref = vref
        # Between transfers the bus stays configured for writing words.
        self.bus.update_xfer_duration_mu(div_write, WORD.width)
        sharing = vars(self.bus).setdefault("dacs", [])
        sharing.append(self)
        for dac in sharing:
            dac.select_mu = self.bus.ref_period_mu if len(sharing) > 1 else Wide(0)

    @host_only
    def monitored(self):
        """Return the probes of all channels: the last value sent to each, in volts."""
        return [Monitored(n, self.bus.channel, n, self.mu_to_voltage, "V") for n in range(self.channels)]

    @host_only
    def mu_to_voltage(self, code):
        """Convert a code to volts."""
        return mu_to_voltage(code, self.offset_dacs, self.vref)

    @kernel
    def init(self, blind=False):
        """Configure bus and DAC: offset DACs, thermal shutdown. Checks that the DAC answers, unless
        `blind`.

        ValueError ("DAC not found", "DAC over temperature", "DAC CONTROL readback mismatch").
        """
        self.ldac.on()
        self.clr.on()
        self.word.prepare()
        self.write_offset_dacs_mu(self.offset_dacs)
        if not blind:
            self._check_before()
        self.word.put(AD53XX_SPECIAL_CONTROL | SAFE)
        if not blind:
            self._check_after()

    @kernel
    def _check_before(self):
        found = self.read_reg(op=AD53XX_READ_CONTROL)
        if found == WORD.data.mask:
            raise ValueError("DAC not found")
        if CONTROL.over_temperature.get(found) != 0:
            raise ValueError("DAC over temperature")
        delay(25 * us)

    @kernel
    def _check_after(self):
        if self.read_reg(op=AD53XX_READ_CONTROL) & CHECKED != SAFE:
            raise ValueError("DAC CONTROL readback mismatch")
        delay(15 * us)

    # Registers

    @portable
    def _number(self, channel) -> TInt32:
        """Return `channel`; ValueError if the chip has none of this number, which would address others."""
        return checked_channel(channel)

    @kernel(flags={"forceinline"})
    def _send(self, word):
        if self.select_mu != 0:
            self.word.prepare()
        self.word.put(word)

    @kernel(flags={"forceinline"})
    def _write(self, command, channel, value):
        """Write a register of a channel; the bus must be configured for writing."""
        self._send(command | WORD.target.place(self._number(channel) + FIRST_CHANNEL) | WORD.data.place(value))

    @kernel
    def read_reg(self, channel=0, op=AD53XX_READ_X1A) -> TInt32:
        """Read a register of a channel or a common register, 16 bits; waits for the result."""
        selected = op
        if SELECT.register.get(op) != _COMMON:
            selected |= SELECT.channel.place(self._number(channel) + FIRST_CHANNEL)
        self._send(AD53XX_SPECIAL_READ | selected)
        self.answer.prepare()
        delay(270 * ns)
        self.answer.put(0)
        self.word.prepare()
        return WORD.data.get(self.answer.get())

    @kernel
    def write_offset_dacs_mu(self, value):
        """Set both offset DACs (14 bits)."""
        self.offset_dacs = OFS.offset.get(value)
        self._send(AD53XX_SPECIAL_OFS0 | self.offset_dacs)
        self._send(AD53XX_SPECIAL_OFS1 | self.offset_dacs)

    @kernel
    def write_gain_mu(self, channel, gain=0xFFFF):
        """Set the gain register of a channel."""
        self._write(AD53XX_CMD_GAIN, channel, gain)

    @kernel
    def write_offset_mu(self, channel, offset=0x8000):
        """Set the offset register of a channel."""
        self._write(AD53XX_CMD_OFFSET, channel, offset)

    @kernel
    def write_offset(self, channel, voltage):
        """Set the offset register of a channel so that its zero lies at `voltage`."""
        self.write_offset_mu(channel, self.voltage_to_mu(voltage))

    @kernel
    def write_dac_mu(self, channel, value):
        """Send a code to a channel; `load` applies it to the output."""
        self._write(AD53XX_CMD_DATA, channel, value)

    @kernel
    def write_dac(self, channel, voltage):
        """Send a voltage to a channel; `load` applies it to the output."""
        self.write_dac_mu(channel, self.voltage_to_mu(voltage))

    # Outputs

    @portable
    def voltage_to_mu(self, voltage) -> TInt32:
        """Code for a voltage. ValueError if it is out of range."""
        return voltage_to_mu(voltage, self.offset_dacs, self.vref)

    @kernel
    def load(self):
        """Apply the sent codes to the outputs: pulses LDAC for two coarse cycles, by which the
        cursor advances."""
        self.ldac.off()
        delay_mu(2 * self.bus.ref_period_mu)
        self.ldac.on()

    @kernel
    def set_dac_mu(self, values, channels=EVERY_CHANNEL):
        """Set several channels at the cursor, which does not move: the codes are sent before it."""
        update = now_mu()
        lead = self.core.seconds_to_mu(LDAC_DELAY) + len(values) * (self.select_mu + self.word.duration_mu)
        at_mu(update - lead)
        for i in range(len(values)):
            self.write_dac_mu(channels[i], values[i])
        at_mu(update)
        self.load()
        at_mu(update)

    @kernel
    def set_dac(self, voltages, channels=EVERY_CHANNEL):
        """Set several channels at the cursor, in volts; see `set_dac_mu`."""
        self.set_dac_mu([self.voltage_to_mu(voltage) for voltage in voltages], channels)

    @kernel
    def calibrate(self, channel, vzs, vfs):
        """Correct offset and gain of a channel, given its measured voltages at the codes 0 and
        0xffff.

        ValueError if the gain is too low to be corrected by the gain register.
        """
        self._number(channel)
        codes_per_volt = SPAN.steps / (SPANS * self.vref)
        excess = nearest((vfs - vzs) * codes_per_volt) - SPAN.highest
        if excess < 0:
            raise ValueError("the gain of the DAC channel is too low for calibration")
        zero = nearest(vzs * codes_per_volt) + self.offset_dacs * CODES_OF_OFFSET
        self.write_offset_mu(channel, 0x8000 - zero)
        self.write_gain_mu(channel, 0xFFFF - excess)
