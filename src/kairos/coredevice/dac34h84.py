"""The DAC chip DAC34H84: of a Phaser, from settings by name, or alone on an SPI bus.

Settings are the names of `kairos.coredevice.chips.dac34h84`. With a dictionary of them alone, the class
makes the words of the registers::

    words = DAC34H84({"mixer_ena": 1, "nco_ena": 1}).get_mmap()
"""

from ..language import TBool, TInt32, delay, kernel, ms, portable, us
from .chips import dac34h84 as chip
from .chips.dac34h84 import (
    AFTER_RESET,
    ALARMS,
    CONFIG0,
    CONFIG2,
    CONFIG9,
    CONFIG18,
    CONFIG20,
    CONFIG22,
    CONFIG24,
    CONFIG31,
    ID,
    READ,
    SAMPLE_RATE,
    TEMPERATURE,
    VERSION,
)
from .parts.numbers import to_int32, to_word
from .parts.spi import SPI_END, SPI_INPUT, Transfer
from .registers import Register

__all__ = ["DAC34H84", "FIFO_OFFSETS", "HIGHEST_LOCKED", "LOWEST_LOCKED", "middle"]

_MAP = sorted(
    (each for each in vars(chip).values() if isinstance(each, type) and each.__name__.startswith("CONFIG")),
    key=lambda register: register.address,
)
"""Registers that are initialised, in the order of writing."""
_WIDTH, _DATA = 24, 16
_TURN = 1 << 16
FIFO_OFFSETS = 8
_OFFSETS = CONFIG9.fifo_offset
_HALF = 16
_PLL = {
    500e6: {"interpolation": 1, "pll_n": 1, "pll_m": 16, "pll_m2": 0},
    250e6: {"interpolation": 2, "pll_n": 3, "pll_m": 32, "pll_m2": 0},
}
"""Settings by the rate of the samples that arrive."""
LOWEST_LOCKED, HIGHEST_LOCKED = 2, 5
"""Voltages of the loop filter at which the PLL is locked."""
assert all(issubclass(register, Register) for register in _MAP)


@portable
def middle(good) -> TInt32:
    """Return the middle of the FIFO's offsets whose bits are set: those from 0 to 7 are a circle."""
    around = (good & 1) & (good >> (FIFO_OFFSETS - 1))
    turn = around * (FIFO_OFFSETS // 2)
    total, count = 0, 0
    for offset in range(FIFO_OFFSETS):
        if (good >> ((offset + turn) % FIFO_OFFSETS)) & 1 == 1:
            total += offset
            count += 1
    return (total // count + turn) % FIFO_OFFSETS


class DAC34H84:
    """The chip on the SPI bus `spi_device`, which receives `input_sample_rate` samples per second
    (250 or 500 MHz); or, constructed from a dictionary of settings alone, the words of its
    registers. KeyError for a setting that there is not, ValueError for one beyond its field."""

    kernel_invariants = {"bus", "core", "mmap"}

    message = Transfer(length=_WIDTH, div=20, cs=1, flags=SPI_END)
    question = Transfer(length=_WIDTH, div=20, cs=1, flags=SPI_END | SPI_INPUT)
    slow_question = Transfer(length=_WIDTH, div=200, cs=1, flags=SPI_END | SPI_INPUT)

    def __init__(self, dmgr=None, spi_device=None, input_sample_rate=None, core_device="core"):
        self.input_sample_rate = input_sample_rate
        self.settings = dict(dmgr) if isinstance(dmgr, dict) else {}
        if spi_device is not None:
            if input_sample_rate not in _PLL:
                raise ValueError("Invalid DAC sample rate")
            self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)
            self.settings = {"pll_p": 4, "pll_vco": 0x3F, **_PLL[input_sample_rate]}
        for name in self.settings:
            if not any(name in register.fields for register in _MAP):
                raise KeyError("invalid setting", name)
        self.mmap = self.get_mmap()

    def get_mmap(self):
        """Words to be written (list of int32): address above 16 bits of data, in their order."""
        return [
            to_int32(
                register.address << _DATA
                | register.encode(**{name: self.settings[name] for name in register.fields if name in self.settings})
            )
            for register in _MAP
        ]

    # Registers

    @kernel
    def write(self, addr, data):
        """Write a register, 16 bits."""
        self.message.send((addr << _DATA) | (data & 0xFFFF))

    @kernel
    def read(self, addr) -> TInt32:
        """Read a register, 16 bits."""
        return self.question.exchange((addr | READ) << _DATA) & 0xFFFF

    @kernel
    def read_temperature(self) -> TInt32:
        """Read the temperature of the chip in °C."""
        return TEMPERATURE.celsius.get(self.slow_question.exchange((TEMPERATURE.address | READ) << _DATA) & 0xFFFF)

    # Initialisation

    @kernel
    def init(self):
        """Configure the chip, and wait for its PLL. ValueError if it does not answer, its PLL does
        not lock, or no distance of the FIFO's pointers is good."""
        self.write(CONFIG2.address, CONFIG2.sif4_ena.put(0, 1))
        delay(100 * us)
        if self.read(ID.address) != VERSION:
            raise ValueError("DAC34H84 version mismatch")
        delay(100 * us)
        if self.read(CONFIG0.address) != AFTER_RESET:
            raise ValueError("DAC34H84 reset fail")
        delay(100 * us)
        for word in self.mmap:
            self.message.send(word)
            delay(120 * us)
        self.sync()
        delay(2 * ms)
        tuned = self.read(CONFIG24.address)
        delay(100 * us)
        voltage = CONFIG24.lfvolt.get(tuned)
        if voltage < LOWEST_LOCKED or voltage > HIGHEST_LOCKED:
            raise ValueError("DAC34H84 PLL fail to lock")
        self.write(CONFIG24.address, CONFIG24.pll_ndivsync_ena.put(tuned, 0))
        delay(100 * us)
        self.tune_fifo_offset()
        self.write(ALARMS.address, 0)

    @kernel
    def tune_fifo_offset(self) -> TInt32:
        """Find, set and return the distance of the FIFO's pointers in the middle of those without
        an alarm. ValueError if there is none."""
        kept = self.read(CONFIG9.address)
        delay(100 * us)
        good = 0
        for offset in range(FIFO_OFFSETS):
            self.write(CONFIG9.address, _OFFSETS.put(kept, offset))
            self.write(ALARMS.address, 0)
            delay(100 * us)
            if ALARMS.fifo.get(self.read(ALARMS.address)) == 0:
                good |= 1 << offset
            delay(100 * us)
        if good == 0:
            raise ValueError("no good FIFO offset")
        best = middle(good)
        self.write(CONFIG9.address, _OFFSETS.put(kept, best))
        return best

    # Mixers

    @kernel
    def sync(self):
        """Synchronise mixers, oscillators and FIFO, by the serial port."""
        kept = self.read(CONFIG31.address)
        delay(400 * us)
        self.write(CONFIG31.address, CONFIG31.sif_sync.put(kept, 0))
        self.write(CONFIG31.address, CONFIG31.sif_sync.put(kept, 1))

    @kernel
    def enable_mixer(self, enable: TBool):
        """Switch mixers and their oscillators on or off."""
        kept = self.read(CONFIG2.address)
        delay(100 * us)
        on = 1 if enable else 0
        self.write(CONFIG2.address, CONFIG2.nco_ena.put(CONFIG2.mixer_ena.put(kept, on), on))

    @portable
    def _pair(self, channel) -> TInt32:
        """Return `channel` if it is a channel pair, 0 or 1; else ValueError."""
        if channel < 0 or channel > 1:
            raise ValueError("Invalid channel number")
        return channel

    @kernel
    def stage_nco_mixer_frequency_mu(self, channel, ftw):
        """Set the frequency word (32 bits) of channel pair 0 or 1; it takes effect with `sync`."""
        first = CONFIG20.address + (CONFIG22.address - CONFIG20.address) * self._pair(channel)
        self.write(first, ftw)
        self.write(first + 1, ftw >> _HALF)

    @kernel
    def stage_nco_mixer_frequency(self, channel, frequency):
        """Set the frequency of channel pair 0 or 1 in Hz; it takes effect with `sync`."""
        self.stage_nco_mixer_frequency_mu(channel, self.frequency_to_ftw(frequency))

    @kernel
    def stage_nco_mixer_phase_offset_mu(self, channel, pow_):
        """Set the phase word (16 bits) of channel pair 0 or 1; it takes effect with `sync`."""
        self.write(CONFIG18.address + self._pair(channel), pow_)

    @kernel
    def stage_nco_mixer_phase_offset(self, channel, phase):
        """Set the phase of channel pair 0 or 1 in turns; it takes effect with `sync`."""
        self.stage_nco_mixer_phase_offset_mu(channel, self.turns_to_pow(phase))

    @portable
    def frequency_to_ftw(self, frequency) -> TInt32:
        """Frequency word for Hz, modulo the sample rate. ValueError if it is not a finite number."""
        return to_word(frequency * (4294967296.0 / SAMPLE_RATE))

    @portable
    def turns_to_pow(self, turns) -> TInt32:
        """Phase word for turns, modulo one turn. ValueError if it is not a finite number."""
        return to_word(turns * _TURN) & (_TURN - 1)
