"""The DDS chip AD9834 on an SPI bus: 75 MHz, two frequency and two phase registers, one of each
active.

Machine units: frequency word of 28 bits per period of the chip's clock, phase word of 12 bits per
turn. Each change of the control register is a word of its own.
"""

from ..language import TInt32, kernel, portable
from .chips.ad9834 import CONTROL, FREQUENCY, FTW_BITS, PHASE, checked_frequency_register, checked_phase_register
from .parts.numbers import to_word
from .parts.spi import SPI_CLK_POLARITY, SPI_END, Transfer

__all__ = ["AD9834"]

_HALF = FREQUENCY.half.width
_TURN = PHASE.pow.steps


class AD9834:
    """The chip on the SPI bus `spi_device`. `spi_freq`: clock of the bus, `clk_freq`: clock of the chip, in Hz."""

    kernel_invariants = {"bus", "clk_freq", "core", "div", "spi_freq"}

    word = Transfer(length=CONTROL.width, div="div", cs=1, flags=SPI_END | SPI_CLK_POLARITY)

    def __init__(self, dmgr, spi_device, spi_freq=10e6, clk_freq=75e6, core_device="core"):
        self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)
        self.spi_freq, self.clk_freq = spi_freq, clk_freq
        self.div = self.bus.frequency_to_div(spi_freq)
        self.ctrl_reg = 0

    @kernel
    def init(self):
        """Configure the bus, and hold the chip in reset; `output_enable` releases it. The registers
        keep what they have."""
        self.word.prepare()
        self.enable_reset()

    @kernel
    def write(self, data: TInt32):
        """Send a word (16 bits)."""
        self.word.put(data)

    @kernel
    def _control(self, word):
        self.ctrl_reg = word
        self.write(word)

    # Registers

    @kernel
    def _put_frequency(self, freq_reg, half):
        self.write(FREQUENCY.word(freq_reg, 1 - freq_reg, half))

    @kernel
    def set_frequency_reg(self, freq_reg, freq_word: TInt32):
        """Set frequency register 0 or 1 to a word of 28 bits, which takes effect as a whole.
        ValueError, here and below, for another register."""
        checked_frequency_register(freq_reg)
        self._control(CONTROL.b28.put(self.ctrl_reg, 1))
        self._put_frequency(freq_reg, freq_word)
        self._put_frequency(freq_reg, freq_word >> _HALF)

    @kernel
    def set_frequency_reg_msb(self, freq_reg, word):
        """Set the upper 14 bits of a frequency register."""
        checked_frequency_register(freq_reg)
        self._control(CONTROL.hlb.put(CONTROL.b28.put(self.ctrl_reg, 0), 1))
        self._put_frequency(freq_reg, word)

    @kernel
    def set_frequency_reg_lsb(self, freq_reg, word):
        """Set the lower 14 bits of a frequency register."""
        checked_frequency_register(freq_reg)
        self._control(CONTROL.hlb.put(CONTROL.b28.put(self.ctrl_reg, 0), 0))
        self._put_frequency(freq_reg, word)

    @kernel
    def select_frequency_reg(self, freq_reg):
        """Use frequency register 0 or 1."""
        self._control(CONTROL.pin_sw.put(CONTROL.fsel.put(self.ctrl_reg, checked_frequency_register(freq_reg)), 0))

    @kernel
    def set_phase_reg(self, phase_reg, phase):
        """Set phase register 0 or 1 to a 12-bit phase word."""
        self.write(PHASE.word(checked_phase_register(phase_reg), phase))

    @kernel
    def select_phase_reg(self, phase_reg):
        """Use phase register 0 or 1."""
        self._control(CONTROL.pin_sw.put(CONTROL.psel.put(self.ctrl_reg, checked_phase_register(phase_reg)), 0))

    # Output

    @kernel
    def enable_reset(self):
        """Hold the phase at zero and the output at midscale."""
        self._control(CONTROL.core_reset.put(self.ctrl_reg, 1))

    @kernel
    def output_enable(self):
        """Release the reset: the output follows the phase."""
        self._control(CONTROL.core_reset.put(self.ctrl_reg, 0))

    @kernel
    def awake(self):
        """Power DAC and clock up."""
        self._control(CONTROL.sleep1.put(CONTROL.sleep12.put(self.ctrl_reg, 0), 0))

    @kernel
    def enable_triangular_waveform(self):
        """Output a triangle; the pin SIGN BIT OUT is off."""
        self._control(CONTROL.opbiten.put(CONTROL.mode.put(self.ctrl_reg, 1), 0))

    @kernel
    def disable_triangular_waveform(self):
        """Output a sine."""
        self._control(CONTROL.mode.put(self.ctrl_reg, 0))

    @kernel
    def sleep(self, dac_pd=False, clk_dis=False):
        """Power the DAC down, and stop the clock."""
        word = CONTROL.sleep12.put(self.ctrl_reg, 1 if dac_pd else 0)
        self._control(CONTROL.sleep1.put(word, 1 if clk_dis else 0))

    @kernel
    def config_sign_bit_out(self, high_z=False, msb_2=False, msb=False, comp_out=False):
        """Output half the frequency of the DAC's highest bit, that bit, or the comparator on the
        pin SIGN BIT OUT; with `high_z`, or without any of them, the pin is off. While it is on, the
        triangle waveform is unavailable.
        """
        shows = (msb or msb_2 or comp_out) and not high_z
        word = CONTROL.opbiten.put(self.ctrl_reg, 1 if shows else 0)
        if shows:
            word = CONTROL.mode.put(word, 0)
        word = CONTROL.div2.put(word, 1 if shows and (msb or comp_out) else 0)
        self._control(CONTROL.sign_pib.put(word, 1 if shows and comp_out else 0))

    @kernel
    def set_mu(self, freq_word=0, phase_word=0, freq_reg=0, phase_reg=0):
        """Set a frequency and a phase register in machine units, select them, and enable the
        output. Between the halves of the frequency word the register holds a mixture of old and
        new."""
        checked_phase_register(phase_reg)
        self.set_frequency_reg_lsb(freq_reg, freq_word)
        self.set_frequency_reg_msb(freq_reg, freq_word >> _HALF)
        self.set_phase_reg(phase_reg, phase_word)
        self.select_frequency_reg(freq_reg)
        self.select_phase_reg(phase_reg)
        self.output_enable()

    @kernel
    def set(self, frequency=0.0, phase=0.0, freq_reg=0, phase_reg=0):
        """As `set_mu`, with Hz and turns (float)."""
        self.set_mu(self.frequency_to_ftw(frequency), self.turns_to_pow(phase), freq_reg, phase_reg)

    @portable
    def frequency_to_ftw(self, frequency) -> TInt32:
        """Frequency word at or below a frequency in Hz. ValueError above half of the chip's clock."""
        if not 0.0 <= frequency <= self.clk_freq / 2.0:
            raise ValueError("the frequency of an AD9834 is at most half of its clock's")
        return int(frequency * (1 << FTW_BITS) / self.clk_freq)

    @portable
    def turns_to_pow(self, turns) -> TInt32:
        """Phase word for turns, modulo one turn. ValueError if it is not a finite number."""
        return PHASE.pow.get(to_word(turns * _TURN))
