"""The modulator with local oscillator TRF372017: of a Phaser, from settings by the data sheet's names, or alone on an
SPI bus.

Experiments for a Phaser build the words of its registers on the host and pass them on::

    words = TRF372017({"rdiv": 2, "nint": 25, "pll_div_sel": 1}).get_mmap()
"""

from difflib import get_close_matches

from ..errors import UsageError
from ..language import TFloat, TInt32, TTuple, delay, kernel, portable, us
from .chips.trf372017 import READ, REGISTER1, REGISTER2, REGISTER3, REGISTER4, REGISTER5, REGISTER6, REGISTER7
from .parts.numbers import to_int32
from .parts.spi import SPI_CLK_PHASE, SPI_END, SPI_INPUT, SPI_LSB_FIRST, Transfer

__all__ = ["TRF372017"]

_REGISTERS = [REGISTER1, REGISTER2, REGISTER3, REGISTER4, REGISTER5, REGISTER6, REGISTER7]
_READ = to_int32(READ)
"""Request to read register 0; the register's number is above bit 28."""
_IDENTITY = 0x60
_CALIBRATION_ERROR = 12
_LOWEST, _HIGHEST = 300e6, 4.8e9
_LOWEST_VCO = 2.4e9
_HIGHEST_DIVIDED = 3.0e9
_HIGHEST_PRESCALED = 375e6
_HIGHEST_PFD = 100e6
_HIGHEST_CALIBRATION = 1e6
_FRACTION = float(1 << REGISTER3.nfrac.width)
_HIGHEST_R = REGISTER1.rdiv.mask
_PRESCALERS = 2
_DIVISION = [4.0, 8.0]
_LEAST_N, _BELOW_N = [23, 75], [75, 65536]
"""Of each prescaler: its division, the least and the first impossible whole part of the divider."""
_CALIBRATION_CYCLES = 46.0
_CAL_UNDIVIDED = 8
"""Number of the calibration's clock that is that of the phase detector."""
_START = 2.875e9
"""Frequency of the local oscillator after `init`, Hz."""


class TRF372017:
    """The chip on the SPI bus `spi_device` with the reference `refclk` in Hz, and its own oscillator
    or one from outside; or, constructed from a dictionary of settings alone, over the values from
    which ARTIQ's driver starts, the words of its registers. UsageError for a setting that there is
    not, ValueError for one beyond its field."""

    kernel_invariants = {"bus", "core", "refclk", "use_external_lo"}

    message = Transfer(length=32, div=10, cs=1, flags=SPI_END | SPI_LSB_FIRST)
    gap = Transfer(length=1, div=10, cs=0, flags=SPI_END | SPI_LSB_FIRST)
    answer = Transfer(length=32, div=10, cs=1, flags=SPI_END | SPI_LSB_FIRST | SPI_INPUT | SPI_CLK_PHASE)

    def __init__(self, dmgr=None, spi_device=None, refclk=None, use_external_lo=False, core_device="core"):
        self.refclk, self.use_external_lo = refclk, use_external_lo
        self.settings = dict(dmgr) if isinstance(dmgr, dict) else {}
        if spi_device is not None:
            self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)
            own = {"en_frac": 1, "en_isource": 1, "ld_ana_prec": 3}
            self.settings = {"en_extvco": 1} if use_external_lo else own
        known = [name for register in _REGISTERS for name in register.fields]
        for name in self.settings:
            if name not in known:
                near = get_close_matches(name, known, 1)
                advice = f"; did you mean {near[0]!r}?" if near else ""
                raise UsageError(f"a TRF372017 has no setting {name!r}{advice}")
        self.mmap = self.get_mmap()

    def get_mmap(self):
        """Words of the registers 1 to 7 (list of seven int32), their addresses included."""
        return [
            to_int32(
                register.encode(**{name: self.settings[name] for name in register.fields if name in self.settings})
            )
            for register in _REGISTERS
        ]

    # Registers

    @kernel
    def write(self, data):
        """Write a word of 32 bits, which has the address of its register in the lowest bits."""
        self.message.send(data)

    @kernel
    def read(self, addr, cnt_mux_sel=0) -> TInt32:
        """Read register `addr` (0 to 7), 32 bits; `cnt_mux_sel`: which extreme of the oscillator
        register 0 shows."""
        self.write(_READ | ((addr & 7) << 28) | ((cnt_mux_sel & 1) << 27))
        # A clock without a selected chip lets it prepare its answer
        self.gap.send(0)
        return self.answer.exchange(0)

    @kernel
    def init(self):
        """Configure the chip: with its own oscillator at 2.875 GHz and the modulator on; with one
        from outside, with its output on. ValueError if the chip does not answer."""
        if self.read(0) & _IDENTITY != _IDENTITY:
            raise ValueError("TRF372017 chip id mismatch")
        delay(200 * us)
        for word in self.mmap:
            self.write(word)
        if self.use_external_lo:
            self.enable_lo_output(True)
        else:
            self.enable_mixer_rf_output(False)
            self.set_mixer_frequency(_START)
            self.enable_mixer_rf_output(True)

    @kernel
    def _change(self, number, word):
        """Set the word of register `number` (1 to 7)."""
        self.mmap[number - 1] = word
        self.write(word)

    @kernel
    def enable_mixer_rf_output(self, en):
        """Switch the modulator's divider, so its output, on or off."""
        self._change(4, REGISTER4.pwd_tx_div.put(self.mmap[3], 0 if en else 1))

    @kernel
    def enable_lo_output(self, en):
        """Switch the output of the local oscillator on or off."""
        off = 0 if en else 1
        self._change(4, REGISTER4.pwd_out_buff.put(REGISTER4.pwd_lo_div.put(self.mmap[3], off), off))

    @kernel
    def set_mixer_frequency(self, f):
        """Set the frequency of the local oscillator in Hz (float), 300 MHz to 4.8 GHz, and calibrate
        it. ValueError if it is out of range, or the calibration fails."""
        r_div, prescaler, n_int, n_frac, divider, output = self.calculate_pll(self.refclk, f)
        clock = self.calculate_cal_clk_sel(self.refclk, r_div)
        self._change(1, REGISTER1.rdiv.put(REGISTER1.cal_clk_sel.put(self.mmap[0], clock), r_div))
        word = REGISTER2.pll_div_sel.put(REGISTER2.prsc_sel.put(self.mmap[1], prescaler), divider)
        self._change(2, REGISTER2.nint.put(word, n_int))
        self._change(3, REGISTER3.nfrac.put(self.mmap[2], n_frac))
        self._change(6, REGISTER6.tx_div_sel.put(REGISTER6.lo_div_sel.put(self.mmap[5], 0), output))
        self.calibrate_vco()

    @kernel
    def calibrate_vco(self):
        """Calibrate the oscillator, and leave 0.2 ms of slack. ValueError if it fails."""
        self.write(REGISTER2.en_cal.put(self.mmap[1], 1))
        pfd = self.refclk / float(REGISTER1.rdiv.get(self.mmap[0]))
        slowed = float(1 << (REGISTER1.cal_clk_sel.get(self.mmap[0]) - _CAL_UNDIVIDED))
        delay(_CALIBRATION_CYCLES * slowed / pfd)
        if (self.read(0) >> _CALIBRATION_ERROR) & 1 != 0:
            raise ValueError("TRF372017 VCO calibration error")
        delay(200 * us)  # the read took the slack

    # Dividers

    @portable
    def calculate_pll(self, f_refclk: TFloat, f_mixer: TFloat) -> TTuple(
        [TInt32, TInt32, TInt32, TInt32, TInt32, TInt32]
    ):
        """Dividers for a reference and a local oscillator in Hz: of the reference; the prescaler (0:
        4/5, 1: 8/9); whole part and fraction (of 2**25) of the multiplier; the dividers before the
        prescaler and at the output, as powers of two. ValueError if there are none."""
        if not _LOWEST <= f_mixer <= _HIGHEST:
            raise ValueError("Requested frequency out of range")
        f_vco, output = f_mixer, 0
        while f_vco < _LOWEST_VCO:
            f_vco *= 2.0
            output += 1
        for prescaler in range(_PRESCALERS):
            f, divider = f_vco, 0
            while f / _DIVISION[prescaler] > _HIGHEST_PRESCALED or f > _HIGHEST_DIVIDED:
                f /= 2.0
                divider += 1
            for r_div in range(1, _HIGHEST_R + 1):
                f_pfd = f_refclk / float(r_div)
                n_int = int(min(f / f_pfd, float(_BELOW_N[1])))
                if f_pfd <= _HIGHEST_PFD and n_int >= _LEAST_N[prescaler]:
                    if n_int < _BELOW_N[prescaler]:
                        n_frac = int((f / f_pfd - float(n_int)) * _FRACTION)
                        return r_div, prescaler, n_int, n_frac, divider, output
                    break
        raise ValueError("Cannot find a PLL parameter that fits the requirement")

    @portable
    def calculate_cal_clk_sel(self, f_refclk: TFloat, r_div) -> TInt32:
        """Number of the calibration's clock, at most 1 MHz, for a reference in Hz and its divider."""
        f_pfd, found = f_refclk / float(r_div), _CAL_UNDIVIDED
        while f_pfd > _HIGHEST_CALIBRATION:
            f_pfd /= 2.0
            found += 1
        return found
