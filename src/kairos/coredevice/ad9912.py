"""The DDS chip AD9912 on an Urukul: a channel of 1 GS/s with a frequency word of 48 bits.

The registers follow the data sheet (`kairos.coredevice.chips.ad9912`). Machine units: frequency
word `ftw` (int64, 48 bits for the system clock), phase word `pow` (14 bits per turn).
"""

from ..language import TFloat, TInt32, TInt64, TTuple, delay, kernel, ms, ns, portable, us
from ..numeric import Wide, int32, int64
from .chips.ad9912 import (
    FREQUENCY,
    INSTRUCTION,
    LOWER_FREQUENCY,
    N_DIVIDER,
    PART_ID,
    PHASE,
    PLL,
    POWER,
    SERIAL_CONFIG,
    SLOW_REFERENCE,
    TONE,
)
from .parts.numbers import to_wide_word, to_word
from .parts.spi import SPI_END, SPI_INPUT, SizedTransfer, Transfer
from .parts.urukul_channel import UrukulChannel
from .urukul import CS_DDS_CH0, CS_DDS_CH3, SPI_CONFIG, SPIT_DDS_RD, SPIT_DDS_WR

__all__ = ["AD9912"]

_REFCLK_DIVIDERS = [1, 1, 2, 4]
_FASTEST_SYSCLK = 1e9
_WORD = 32
_TURN = PHASE.pow.steps
_FTW_BITS = Wide((1 << FREQUENCY.width) - 1)
_START_SERIAL_PORT = SERIAL_CONFIG.encode(sdo_active=1, long_instruction=1, mirrored=0b1001)
_PARTS = PART_ID.part.values
_ONE, _OTHER = _PARTS["AD9912"], _PARTS["AD9912_OTHER"]
_STREAM = INSTRUCTION.encode(length="STREAM", register=TONE.address)


def reference_clock(refclk, clk_div):
    """Chip reference in Hz, given the card's reference `refclk` in Hz, and its multiplication ahead
    of the PLL."""
    reference = refclk / _REFCLK_DIVIDERS[clk_div]
    return reference, 2 if reference < SLOW_REFERENCE else 1


def system_clock(refclk, clk_div, pll_n, pll_en):
    """System clock of the chip in Hz, given the card's reference `refclk` in Hz."""
    reference, doubling = reference_clock(refclk, clk_div)
    return reference * doubling * pll_n if pll_en else reference


class AD9912(UrukulChannel):
    """A channel on the Urukul `cpld_device`.

    `chip_select`: 4 to 7 for channel 0 to 3. `sw_device`: TTL channel of the RF switch. `pll_n`,
    `pll_en`: PLL multiplier (even) and whether the PLL is enabled. References below 11 MHz are
    doubled.
    """

    kernel_invariants = UrukulChannel.kernel_invariants | {"ftw_per_hz", "sysclk", "pll_en", "pll_n", "settings"}

    instruction = Transfer(length=INSTRUCTION.width, div=SPIT_DDS_WR, cs="chip_select", flags=SPI_CONFIG)
    next_write = Transfer(length=_WORD, div=SPIT_DDS_WR, cs="chip_select", flags=SPI_CONFIG)
    last_write = SizedTransfer(div=SPIT_DDS_WR, cs="chip_select", flags=SPI_CONFIG | SPI_END)
    last_read = SizedTransfer(div=SPIT_DDS_RD, cs="chip_select", flags=SPI_CONFIG | SPI_END | SPI_INPUT)

    def __init__(self, dmgr, chip_select, cpld_device, sw_device=None, pll_n=10, pll_en=1):
        if chip_select not in range(CS_DDS_CH0, CS_DDS_CH3 + 1):
            raise ValueError(f"chip_select of an AD9912 is between 4 and 7, not {chip_select}")
        super().__init__(dmgr, chip_select, cpld_device, sw_device)
        self.pll_n, self.pll_en = pll_n, pll_en
        self.sysclk = system_clock(self.cpld.refclk, self.cpld.clk_div, pll_n, pll_en)
        if self.sysclk > _FASTEST_SYSCLK:
            raise ValueError(f"the system clock of an AD9912 is at most 1 GHz, not {self.sysclk / 1e6} MHz")
        self.ftw_per_hz = (1 << FREQUENCY.width) / self.sysclk
        # Register and value, each followed by an update
        self.settings = [(POWER.address, POWER.encode(hstl_off=1, pll_off=0 if pll_en else 1))]
        if pll_en:
            _, doubling = reference_clock(self.cpld.refclk, self.cpld.clk_div)
            pll = PLL.encode(vco_high_range=1, charge_pump="UA375", doubler=doubling - 1)
            self.settings += [(N_DIVIDER.address, N_DIVIDER.encode(n=pll_n // 2 - 2)), (PLL.address, pll)]

    @kernel
    def write(self, addr, data, length):
        """Write the lowest `length` bytes (1 to 4) of `data` (int32) to the addresses from `addr`
        downwards."""
        self.instruction.send(INSTRUCTION.word(length=length - 1, register=addr))
        self.last_write.send(data, length * 8)

    @kernel
    def read(self, addr, length) -> TInt32:
        """Read `length` bytes (1 to 4) at the addresses from `addr` downwards."""
        self.instruction.send(INSTRUCTION.word(read=1, length=length - 1, register=addr))
        return self.last_read.exchange(0, length * 8)

    @kernel
    def _put(self, register, value):
        """Write a byte to a register and apply it by an update."""
        self.write(register, value, 1)
        self.io_update.pulse(2 * us)

    @kernel
    def init(self):
        """Configure the chip's serial port and clock. The Urukul must be initialised first.

        ValueError if the chip is not an AD9912.
        """
        self._put(SERIAL_CONFIG.address, _START_SERIAL_PORT)
        found = self.read(PART_ID.address, 2)
        if found != _ONE and found != _OTHER:
            raise ValueError("Urukul AD9912 product id mismatch")
        delay(50 * us)
        for register, value in self.settings:
            self._put(register, value)
        delay(1 * ms)

    # Output

    @kernel
    def set_mu(self, ftw: TInt64, pow_=0):
        """Set frequency and phase words; they take effect at the final cursor position."""
        self.instruction.send(_STREAM)
        self.next_write.send(TONE.words(pow_, int32(ftw >> _WORD), 0)[0])
        self.last_write.send(int32(ftw), _WORD)
        self.io_update.pulse(10 * ns)

    @kernel
    def get_mu(self) -> TTuple([TInt64, TInt32]):
        """Read frequency and phase words. The cursor is moved ahead of the clock in between, if
        necessary."""
        upper = self.read(TONE.address, 4)
        self.core.break_realtime()
        lower = self.read(LOWER_FREQUENCY, 4)
        mask = int64(FREQUENCY.upper.mask)
        ftw = ((int64(upper) & mask) << FREQUENCY.upper.low) | (int64(lower) & int64(0xFFFFFFFF))
        return ftw, PHASE.pow.get(upper >> PHASE.width)

    @kernel
    def set(self, frequency, phase=0.0):
        """Set frequency in Hz and phase in turns (float)."""
        self.set_mu(self.frequency_to_ftw(frequency), self.turns_to_pow(phase))

    @kernel
    def get(self) -> TTuple([TFloat, TFloat]):
        """Read frequency in Hz and phase in turns; see `get_mu`."""
        ftw, pow_ = self.get_mu()
        return self.ftw_to_frequency(ftw), self.pow_to_turns(pow_)

    # Conversions

    @portable
    def frequency_to_ftw(self, frequency) -> TInt64:
        """Frequency word for Hz, modulo the system clock. ValueError if it is not a finite number."""
        return to_wide_word(frequency * self.ftw_per_hz) & _FTW_BITS

    @portable(flags={"fast-math"})
    def ftw_to_frequency(self, ftw) -> TFloat:
        """Hz of a frequency word."""
        return ftw / self.ftw_per_hz

    @portable
    def turns_to_pow(self, turns) -> TInt32:
        """Phase word for turns. ValueError if it is not a finite number."""
        return to_word(turns * _TURN) & 0xFFFF

    @portable(flags={"fast-math"})
    def pow_to_turns(self, pow_) -> TFloat:
        """Turns of a phase word."""
        return pow_ / _TURN
