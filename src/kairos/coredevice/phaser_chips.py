"""A Phaser's registers beyond its link: the SPI bus of the card, with the chips on it, and the servos.

`Phaser` and `PhaserChannel` have these as base classes, which supply `write8`, `write16`, `read8` and
`t_frame`; each access to a register takes a frame.
"""

from ..language import TFloat, TInt32, delay, delay_mu, kernel, ms, portable, us
from ..numeric import int64
from .chips import dac34h84 as dac
from .chips import trf372017
from .chips.phaser import (
    ATTENUATOR_SELECT,
    DAC_SELECT,
    SERVO,
    SERVO_COEFFICIENTS,
    SERVO_FRACTION_BITS,
    SERVO_PERIOD_NS,
    SERVO_PROFILES,
    SERVO_SPACING,
    SPI_CFG,
    SPI_DATR,
    SPI_DATW,
    SPI_DIVLEN,
    SPI_SEL,
    SPI_TICK_NS,
    TRF_SELECT,
)
from .chips.trf372017 import REGISTER2, REGISTER4
from .parts.numbers import nearest, to_int32, to_word
from .parts.scales import Scale

__all__ = ["ChannelChips", "SpiBus"]

_DIV, _SLOWEST = 34, 257
_BYTE = 8
_TICK = SPI_TICK_NS
"""Machine units of a cycle of the card's logic, which the SPI divider counts."""
_UNIT = 1 << SERVO_FRACTION_BITS
"""Of a servo's coefficients."""
_PERIOD = SERVO_PERIOD_NS * 1e-9
_HIGHEST = (1 << 15) - 1
_CMIX = [0x0, 0x8, 0x4, 0xC, 0x2, 0xA, 0x1, 0xE]
"""Mixer settings for steps of 125 MHz: 0 to 4, then -3 to -1."""
_TRF_READ, _TRF_ANSWER = to_int32(trf372017.READ), 8
_TURN = 1 << 16


class _Attenuation(Scale):
    @portable
    def refuse(self):
        raise ValueError("attenuation out of bounds")


ATTENUATION = _Attenuation(bits=_BYTE, steps=-8, zero=255)


class SpiBus:
    """The SPI bus of a card, and the DAC on it."""

    @kernel
    def spi_cfg(
        self, select, div, end, clk_phase=0, clk_polarity=0, half_duplex=0, lsb_first=0, offline=0, length=_BYTE
    ):
        """Configure the bus for the next transfers: chips in the mask `select`, divider of 250 MHz
        (2 to 257, in steps of 8), `end` of a message. ValueError if a number is out of bounds."""
        if div < 2 or div > _SLOWEST:
            raise ValueError("divider out of bounds")
        if length < 1 or length > _BYTE:
            raise ValueError("length out of bounds")
        self.write8(SPI_SEL.address, select)
        self.write8(SPI_DIVLEN.address, SPI_DIVLEN.word((div - 2) >> 3, length - 1))
        self.write8(SPI_CFG.address, SPI_CFG.word(offline, end, clk_phase, clk_polarity, half_duplex, lsb_first))

    @kernel
    def spi_write(self, data):
        """Send a byte on the bus in its configuration."""
        self.write8(SPI_DATW.address, data)

    @kernel
    def spi_read(self) -> TInt32:
        """Read the byte that the last transfer on the bus has read."""
        return self.read8(SPI_DATR.address)

    @kernel
    def spi_transfer(self, data, div=_DIV, length=_BYTE):
        """Send up to a byte, and wait until it has been sent."""
        self.spi_write(data)
        delay_mu(int64((length + 1) * div * _TICK))

    # The DAC

    @kernel
    def dac_write(self, addr, data):
        """Write a register of the DAC, 16 bits."""
        self.spi_cfg(DAC_SELECT, _DIV, 0)
        self.spi_transfer(addr)
        self.spi_transfer(data >> _BYTE)
        self.spi_cfg(DAC_SELECT, _DIV, 1)
        self.spi_transfer(data)

    @kernel
    def dac_read(self, addr, div=_DIV) -> TInt32:
        """Read a register of the DAC, 16 bits; waits twice for the card."""
        self.spi_cfg(DAC_SELECT, div, 0)
        self.spi_transfer(addr | dac.READ, div)
        self.spi_transfer(0, div)
        high = self.spi_read()
        delay(20 * us)
        self.spi_cfg(DAC_SELECT, div, 1)
        self.spi_transfer(0, div)
        return (high << _BYTE) | self.spi_read()

    @kernel
    def get_dac_temperature(self) -> TInt32:
        """Read the temperature of the DAC in °C."""
        return self.dac_read(dac.TEMPERATURE.address, _SLOWEST) >> _BYTE

    @kernel
    def dac_sync(self):
        """Synchronise the DAC's mixers, oscillators and FIFO."""
        kept = self.dac_read(dac.CONFIG31.address)
        delay(0.4 * ms)
        self.dac_write(dac.CONFIG31.address, dac.CONFIG31.sif_sync.put(kept, 0))
        self.dac_write(dac.CONFIG31.address, dac.CONFIG31.sif_sync.put(kept, 1))

    @kernel
    def set_dac_cmix(self, fs_8_step):
        """Set the DAC's coarse mixer to a multiple of 125 MHz, -3 to 4. ValueError for others."""
        if fs_8_step < -3 or fs_8_step > 4:
            raise ValueError("the coarse mixer of a Phaser takes steps from -3 to 4")
        kept = self.dac_read(dac.CONFIG13.address)
        delay(0.1 * ms)
        self.dac_write(dac.CONFIG13.address, (kept & 0x0FFF) | (_CMIX[fs_8_step & 7] << 12))

    @kernel
    def get_dac_alarms(self) -> TInt32:
        """Read the DAC's alarms."""
        return self.dac_read(dac.ALARMS.address)

    @kernel
    def clear_dac_alarms(self):
        """Clear the DAC's alarms."""
        self.dac_write(dac.ALARMS.address, 0)


class ChannelChips:
    """The chips of a channel: its part of the DAC, its upconverter and attenuator; and its servo."""

    # The DAC

    @kernel
    def set_nco_frequency_mu(self, ftw):
        """Set the frequency word (32 bits) of the channel's oscillator in the DAC."""
        self.phaser.dac_write(dac.CONFIG21.address + 2 * self.index, ftw >> 16)
        self.phaser.dac_write(dac.CONFIG20.address + 2 * self.index, ftw)

    @kernel
    def set_nco_frequency(self, frequency):
        """Set the frequency of the channel's oscillator in the DAC, in Hz."""
        self.set_nco_frequency_mu(to_word(frequency * (4294967296.0 / dac.SAMPLE_RATE)))

    @kernel
    def set_nco_phase_mu(self, pow_):
        """Set the phase word (16 bits) of the channel's oscillator in the DAC."""
        self.phaser.dac_write(dac.CONFIG18.address + self.index, pow_)

    @kernel
    def set_nco_phase(self, phase):
        """Set the phase of the channel's oscillator in the DAC, in turns."""
        self.set_nco_phase_mu(to_word(phase * _TURN) & (_TURN - 1))

    # The attenuator

    @kernel
    def set_att_mu(self, data):
        """Set the attenuator in machine units: 255 less eight times the attenuation in dB."""
        self.phaser.spi_cfg(ATTENUATOR_SELECT << self.index, _DIV, 1)
        self.phaser.spi_transfer(data)

    @kernel
    def set_att(self, att):
        """Set the attenuation in dB, 0 to 31.5. ValueError if it is out of bounds."""
        self.set_att_mu(ATTENUATION.code(att))

    @kernel
    def get_att_mu(self) -> TInt32:
        """Read the attenuator, which is written back."""
        self.phaser.spi_cfg(ATTENUATOR_SELECT << self.index, _DIV, 0)
        self.phaser.spi_transfer(0)
        data = self.phaser.spi_read()
        delay(20 * us)
        self.phaser.spi_cfg(ATTENUATOR_SELECT << self.index, _DIV, 1)
        self.phaser.spi_transfer(data)
        return data

    # The upconverter

    @kernel
    def trf_write(self, data, readback=False) -> TInt32:
        """Write a word of 32 bits to the upconverter's chip; with `readback` return what it sends
        meanwhile, else 0."""
        word, phase = 0, 1 if readback else 0
        for place in range(4):
            if place == 0 or place == 3:
                self.phaser.spi_cfg(TRF_SELECT << self.index, _DIV, place // 3, clk_phase=phase, lsb_first=1)
            self.phaser.spi_transfer(data >> (_BYTE * place))
            if readback:
                word |= self.phaser.spi_read() << (_BYTE * place)
                delay(20 * us)
        return word

    @kernel
    def trf_read(self, addr, cnt_mux_sel=0) -> TInt32:
        """Read a register of the upconverter's chip, 32 bits; `cnt_mux_sel`: which extreme of the
        oscillator register 0 shows."""
        self.trf_write(_TRF_READ | (addr << 28) | (cnt_mux_sel << 27))
        # A clock without a selected chip lets it prepare its answer
        self.phaser.spi_cfg(0, _DIV, 1, lsb_first=0, length=1)
        self.phaser.spi_write(0)
        delay_mu(int64(2 * _DIV * _TICK))
        return self.trf_write(_TRF_ANSWER | (cnt_mux_sel << 27), True)

    @kernel
    def cal_trf_vco(self):
        """Calibrate the upconverter's oscillator with its register words `trf_mmap`."""
        self.trf_write(REGISTER2.en_cal.put(self.trf_mmap[1], 1))

    @kernel
    def en_trf_out(self, rf=1, lo=0):
        """Switch the outputs of the modulator and of the local oscillator on (1) or off."""
        data = self.trf_read(0xC)
        delay(0.1 * ms)
        word = REGISTER4.pwd_tx_div.put(data, 1 - rf)
        self.trf_write(REGISTER4.pwd_out_buff.put(REGISTER4.pwd_lo_div.put(word, 1 - lo), 1 - lo))

    # The servo

    @kernel
    def set_servo(self, profile=0, enable=0, hold=0):
        """Choose the servo's profile (0 to 3), switch it on, and hold its output, which it does
        while it is off, too. ValueError for another profile."""
        self._check_profile(profile)
        holds = 1 if hold == 1 or enable == 0 else 0
        self.phaser.write8(SERVO.address + self.index, SERVO.word(enable, holds, profile))

    @portable
    def _check_profile(self, profile):
        if profile < 0 or profile >= SERVO_PROFILES:
            raise ValueError("invalid profile index")

    @kernel
    def set_iir_mu(self, profile, b0, b1, a1, offset):
        """Set the coefficients of a servo's profile (16 bits, signed). ValueError for another profile."""
        self._check_profile(profile)
        address = SERVO_COEFFICIENTS + SERVO_SPACING * self.index + 8 * profile
        self.phaser.write16(address, b0)
        self.phaser.write16(address + 2, b1)
        self.phaser.write16(address + 4, a1)
        self.phaser.write16(address + 6, offset)

    @kernel
    def set_iir(self, profile, kp: TFloat, ki=0.0, g=0.0, x_offset=0.0, y_offset=0.0):
        """Set a servo's profile to proportional gain `kp`, integral gain `ki` in rad/s, limited at
        zero frequency to `g` (0: unlimited), with offsets of input and output in full scales.
        ValueError for what the servo cannot represent."""
        gain = kp * _UNIT
        a1, b1, b0 = 0, 0, nearest(gain)
        if ki != 0.0:
            rate, share = ki * (_UNIT * _PERIOD / 2.0), 1.0
            a1 = _UNIT
            if g != 0.0:
                share = 1.0 / (1.0 + rate / (g * _UNIT))
                a1 = nearest((2.0 * share - 1.0) * _UNIT)
            b0 = nearest(gain + rate * share)
            b1 = nearest(gain + (rate - 2.0 * gain) * share)
            if b1 == -b0:
                raise ValueError("low integrator gain and/or gain limit")
        if max(b0, b1) > _HIGHEST or min(b0, b1) < -_HIGHEST - 1:
            raise ValueError("high gains")
        forward = float(b0 + b1)
        offset = nearest(y_offset * (_HIGHEST + 1) + forward * 2.0 * x_offset)
        if offset > _HIGHEST or offset < -_HIGHEST - 1:
            raise ValueError("effective offset out of bounds")
        self.set_iir_mu(profile, b0, b1, a1, offset)
