"""The synthesiser ADF5356 on a Mirny: a fractional-N PLL with its oscillator, 53.125 MHz to 6.8
GHz.

The registers follow the data sheet (`kairos.coredevice.chips.adf5356`); `ADF5356.regs` holds the
words to be written to them. Calculation of the dividers: `kairos.coredevice.adf5356_pll`.
"""

from ..language import TBool, TFloat, TInt32, TInt64, delay, host_only, kernel, portable, us
from ..numeric import int64
from .adf5356_pll import band_divider, bleed_current, calculate_pll, fixed_words, gcd, split_msb_lsb_28b
from .chips.adf5356 import (
    CALIBRATION_PFD,
    HIGHEST_VCO,
    LAST,
    LEAST_PRESCALED_N,
    LOWEST_VCO,
    MODULUS1,
    PRESCALED,
    R0,
    R1,
    R2,
    R4,
    R6,
    R9,
    R13,
)
from .chips.mirny import STATUS

__all__ = ["ADF5356", "calculate_pll", "gcd", "split_msb_lsb_28b"]

_SYNTHESISER = 4
"""Mirny destination of channel 0's chip."""
_WORD = 32
_MUXOUT_HIGH, _MUXOUT_LOW, _MUXOUT_LOCK = (R4.muxout.number(name) for name in ("HIGH", "LOW", "DIGITAL_LOCK"))
_LOWEST_OUTPUT = LOWEST_VCO / (1 << R6.rf_divider.range[1])
_CHANGED = [R13.address, R4.address, R2.address, R1.address]
"""Registers that differ between calibration and operation of a fast phase detector, in write order.
"""


class ADF5356:
    """The synthesiser of channel `channel` of the Mirny `cpld_device`, followed by the switch
    `sw_device`.

    `ref_doubler`, `ref_divider`: double the reference before its divider, halve it after the
    divider.
    """

    kernel_invariants = {"channel", "core", "cpld", "least_divider", "ref_divider", "ref_doubler", "sw", "sysclk"}

    def __init__(self, dmgr, cpld_device, sw_device, channel, ref_doubler=False, ref_divider=False, core="core"):
        self.cpld, self.sw, self.core = dmgr.get(cpld_device), dmgr.get(sw_device), dmgr.get(core)
        if channel not in range(STATUS.muxout.count):
            raise ValueError(f"channel of an ADF5356 is between 0 and {STATUS.muxout.count - 1}, not {channel}")
        self.channel = channel
        self.ref_doubler, self.ref_divider = ref_doubler, ref_divider
        self.sysclk = self.cpld.refclk
        self.regs = fixed_words(self.sysclk, ref_doubler, ref_divider)
        self.least_divider = R4.r_counter.get(self.regs[R4.address])

    # Initialisation

    @kernel
    def init(self, blind=False):
        """Configure the chip, with the frequency that was set last, if any. The Mirny must be
        initialised first.

        Unless `blind`, its pin MUXOUT is tested: ValueError if it cannot be set and read back.
        """
        self.sync()
        if not blind:
            if not self._muxout_with(_MUXOUT_HIGH):
                raise ValueError("MUXOUT not high: the ADF5356 does not answer")
            if self._muxout_with(_MUXOUT_LOW):
                raise ValueError("MUXOUT not low: the ADF5356 does not answer")
            self._show(_MUXOUT_LOCK)

    @kernel
    def _show(self, signal):
        """Route a signal to the pin MUXOUT."""
        self.regs[R4.address] = R4.muxout.put(self.regs[R4.address], signal)
        self.write(self.regs[R4.address])
        delay(1000 * us)

    @kernel
    def _muxout_with(self, signal) -> TBool:
        """Return the level of the pin MUXOUT with a signal on it."""
        self._show(signal)
        level = self.read_muxout()
        delay(800 * us)
        return level

    # The card

    @kernel
    def set_att(self, att):
        """Set the channel's attenuator in dB (float)."""
        self.cpld.set_att(self.channel, att)

    @kernel
    def set_att_mu(self, att):
        """Set the channel's attenuator in machine units, 0 to 255."""
        self.cpld.set_att_mu(self.channel, att)

    @kernel
    def write(self, data):
        """Write a register; its number is in the lowest four bits."""
        self.cpld.write_ext(_SYNTHESISER | self.channel, _WORD, data)

    @kernel
    def read_muxout(self) -> TBool:
        """Return the level of the pin MUXOUT: whether the PLL has locked, once the chip is
        initialised."""
        return STATUS.muxout.get_at(self.cpld.read_reg(STATUS.address), self.channel) == 1

    # Output

    @kernel
    def set_output_power_mu(self, n):
        """Set the output power: 0 to 3 for -4, -1, 2, 5 dBm. ValueError for other values."""
        if n < 0 or n > R6.power.mask:
            raise ValueError("invalid power setting: the output power of an ADF5356 is 0 to 3")
        self._change_outputs(R6.power.put(self.regs[R6.address], n))

    @portable
    def output_power_mu(self) -> TInt32:
        """Return the output power, 0 to 3."""
        return R6.power.get(self.regs[R6.address])

    @kernel
    def enable_output(self):
        """Switch the output on."""
        self._change_outputs(R6.enable.put(self.regs[R6.address], 1))

    @kernel
    def disable_output(self):
        """Switch the output off."""
        self._change_outputs(R6.enable.put(self.regs[R6.address], 0))

    @kernel
    def _change_outputs(self, word):
        self.regs[R6.address] = word
        self.sync()

    @kernel
    def set_frequency(self, f):
        """Set the frequency in Hz (float), 53.125 MHz to 6.8 GHz; the output settles after about
        0.3 ms.

        ValueError if it is out of range.
        """
        if not _LOWEST_OUTPUT <= f <= HIGHEST_VCO:
            raise ValueError("the frequency of an ADF5356 is between 53.125 MHz and 6.8 GHz")
        doublings, f_vco = 0, f
        while f_vco < LOWEST_VCO:
            f_vco *= 2.0
            doublings += 1
        self.regs[R6.address] = R6.rf_divider.put(self.regs[R6.address], doublings)
        self.regs[R0.address] = R0.prescaler.put(self.regs[R0.address], 1 if f_vco > PRESCALED else 0)
        self._set_detector(f_vco)
        self._tune(f_vco, self.f_pfd())
        self.sync()

    @kernel
    def _set_detector(self, f_vco):
        """Choose the reference's divider for an oscillator frequency, and put what depends on the
        phase detector's frequency into `regs`."""
        divider = self.least_divider
        if f_vco > PRESCALED:
            # The smallest divider of the prescaler 8/9 requires a slower phase detector
            while self._referred() / divider * LEAST_PRESCALED_N > f_vco:
                divider += 1
        self.regs[R4.address] = R4.r_counter.put(self.regs[R4.address], divider)
        self.regs[R6.address] = R6.bleed.put(self.regs[R6.address], bleed_current(self.f_pfd()))
        self.regs[R9.address] = R9.band_divider.put(self.regs[R9.address], band_divider(self.f_pfd()))

    @kernel
    def _tune(self, f_vco, f_pfd: TInt64):
        """Put the dividers for an oscillator frequency into `regs`."""
        n, frac1, frac2, mod2 = calculate_pll(f_vco, f_pfd)
        self.regs[R0.address] = R0.n.put(self.regs[R0.address], n)
        self.regs[R1.address] = R1.word(frac1)
        self.regs[R2.address] = R2.word(frac2[1], mod2[1])
        self.regs[R13.address] = R13.word(frac2[0], mod2[0])

    @kernel
    def sync(self):
        """Write all registers and calibrate the oscillator.

        With a fast phase detector (above 75 MHz) the calibration runs at half its frequency, then
        the dividers are changed.
        """
        if self.f_pfd() > CALIBRATION_PFD:
            wanted, f_vco = [word for word in self.regs], self.f_vco()
            self.regs[R4.address] = R4.r_counter.put(wanted[R4.address], 2 * self.ref_counter())
            self._tune(f_vco, self.f_pfd())
            self._load()
            for register in _CHANGED:
                self.regs[register] = wanted[register]
                self.write(wanted[register])
            delay(200 * us)
            self.regs[R0.address] = wanted[R0.address]
            self.write(R0.autocal.put(wanted[R0.address], 0))
        else:
            self._load()

    @kernel
    def _load(self):
        """Write all registers in descending order, wait for the calibration's ADC, and calibrate."""
        for place in range(LAST):
            self.write(self.regs[LAST - place])
        delay(200 * us)
        self.write(R0.autocal.put(self.regs[R0.address], 1))

    # Decoding of `regs`

    @portable
    def ref_counter(self) -> TInt32:
        """Divider of the reference."""
        return R4.r_counter.get(self.regs[R4.address])

    @portable
    def _referred(self) -> TFloat:
        """The reference in Hz as its divider receives it."""
        doubled = self.sysclk * 2.0 if self.ref_doubler else self.sysclk
        return doubled / 2.0 if self.ref_divider else doubled

    @portable
    def f_pfd(self) -> TInt64:
        """Frequency of the phase detector in Hz."""
        return int64(self._referred() / self.ref_counter())

    @portable
    def pll_n(self) -> TInt32:
        """Whole part of the PLL's divider."""
        return R0.n.get(self.regs[R0.address])

    @portable
    def pll_frac1(self) -> TInt32:
        """Numerator of the first fraction, of 2**24."""
        return R1.frac1.get(self.regs[R1.address])

    @portable
    def pll_frac2(self) -> TInt32:
        """Numerator of the second fraction."""
        upper = R13.frac2.get(self.regs[R13.address])
        return (upper << R2.frac2.width) | R2.frac2.get(self.regs[R2.address])

    @portable
    def pll_mod2(self) -> TInt32:
        """Denominator of the second fraction."""
        upper = R13.mod2.get(self.regs[R13.address])
        return (upper << R2.mod2.width) | R2.mod2.get(self.regs[R2.address])

    @portable
    def f_vco(self) -> TFloat:
        """Frequency of the oscillator in Hz."""
        second = float(self.pll_frac2()) / float(max(self.pll_mod2(), 1))
        fraction = (float(self.pll_frac1()) + second) / float(MODULUS1)
        return (float(self.pll_n()) + fraction) * float(self.f_pfd())

    @portable
    def output_divider(self) -> TInt32:
        """Divider between oscillator and output."""
        return 1 << R6.rf_divider.get(self.regs[R6.address])

    @host_only
    def info(self):
        """Decode `regs`: frequencies in Hz, dividers, and the fields of each register, by name."""
        registers = [R0, R1, R2, R4, R6, R13]
        words = {each.name: each.decode(int(self.regs[each.address]) & 0xFFFFFFFF) for each in registers}
        f_vco, divider = self.f_vco(), self.output_divider()
        return {
            "f_out": f_vco / divider,
            "f_vco": f_vco,
            "f_pfd": int(self.f_pfd()),
            "output_divider": divider,
            "ref_counter": self.ref_counter(),
            "pll_n": self.pll_n(),
            "pll_frac1": self.pll_frac1(),
            "pll_frac2": self.pll_frac2(),
            "pll_mod2": self.pll_mod2(),
            "registers": words,
        }
