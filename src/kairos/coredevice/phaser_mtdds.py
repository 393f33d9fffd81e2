"""A Phaser whose own gateware is a satellite: each RF channel adds up many tones, and the chips of the card are on SPI
buses of RTIO.

`PhaserMTDDS` has the controls of the card and its DAC, `PhaserMTDDSChannel` the chips of an RF channel and its
tones, which are `PhaserDDS`.
"""

from ..language import TBool, TFloat, TInt32, TList, delay, kernel, portable, us
from .chips import dac34h84 as dac
from .chips.phaser import CHANNELS as _CHANNELS
from .chips.phaser_mtdds import (
    AMPLITUDE,
    ASF,
    ATTENUATORS,
    CLEAR,
    DAC_PINS,
    FREQUENCY,
    FTW_BITS,
    GATEWARE,
    HARDWARE,
    LOCKED,
    PHASE,
    PINS,
    PORT,
    POW_BITS,
    SAMPLES,
    SOURCE,
    SOURCE_TEST,
    SOURCE_TONES,
    SOURCES,
    TEST_WORDS,
    TONES,
    VARIANT,
    checked_rf_channel,
)
from .parts.channel import RTIODevice
from .parts.numbers import to_word
from .parts.scales import Scale
from .phaser_init import PATTERNS
from .rtio import rtio_input_data, rtio_output

__all__ = ["PhaserDDS", "PhaserMTDDS", "PhaserMTDDSChannel"]

_PATTERNS = PATTERNS[:2]
_FTW_STEPS = float(1 << FTW_BITS)
_TURN = 1 << POW_BITS


class _Fraction(Scale):
    @portable
    def refuse(self):
        raise ValueError("a fraction of full scale on a Phaser is between 0 and 1")


_AMPLITUDE = _Fraction(bits=ASF.width, steps=ASF.asf.steps)


class PhaserMTDDS(RTIODevice):
    """The controls of the card on RTIO channel `channel`, and its DAC `dac_device`; `sysclk`: frequency of
    its logic in Hz."""

    kernel_invariants = {"dac", "patterns", "samples"}

    def __init__(self, dmgr, channel, sysclk, dac_device, core_device="core"):
        super().__init__(dmgr, channel, core_device)
        self.sysclk, self.dac = sysclk, dmgr.get(dac_device)
        self.samples = round(self.dac.input_sample_rate / sysclk)
        self.patterns = _PATTERNS

    @kernel
    def write(self, addr, data):
        """Write a control of the card."""
        rtio_output(self.target | PORT.word(0, addr), data)

    @kernel
    def read(self, addr) -> TInt32:
        """Wait for and return a control of the card. The cursor does not move."""
        rtio_output(self.target | PORT.word(1, addr), 0)
        return rtio_input_data(self.channel)

    @kernel
    def init(self):
        """Check the card, reset and initialise its DAC, and test its inputs. ValueError for a check that
        fails."""
        if self.read(VARIANT) != GATEWARE:
            raise ValueError("PhaserMTDDS gateware variant mismatch")
        delay(100 * us)
        if self.read(SAMPLES) != self.samples:
            raise ValueError("PhaserMTDDS samples per cycle (DDS bandwidth) mismatch")
        delay(100 * us)
        self.set_dac_ctrl(False, True, False)
        delay(1 * us)
        self.set_dac_ctrl(False, False, False)
        delay(10 * us)
        self.dac.init()
        for number in range(len(self.patterns)):
            self.test_dac(self.patterns[number])
        self.set_dac_ctrl(True, False, False)

    @kernel
    def set_dac_ctrl(self, txena, reset, sleep):
        """Set the pins of the DAC: whether it transmits, is in reset, sleeps."""
        self.write(DAC_PINS, PINS.word(1 if sleep else 0, 0 if reset else 1, 1 if txena else 0))

    @kernel
    def select_dac_source(self, channel, source):
        """Choose what the DAC gets of an RF channel: 0 the test words, 1 the tones. The other channel's stays."""
        place = checked_rf_channel(channel)
        kept = self.read(SOURCES)
        delay(10 * us)
        self.write(SOURCES, SOURCE.source.put_at(kept, place, source))
        delay(1 * us)

    @kernel
    def test_dac(self, pattern: TList(TInt32)):
        """Let the DAC compare its inputs with four words (I and Q of RF channel 0, then of 1), and return
        to the tones. ValueError if they differ, or `pattern` has another length."""
        if len(pattern) != dac.IOTEST_WORDS:
            raise ValueError("pattern length mismatch")
        for place in range(dac.IOTEST_WORDS):
            self.dac.write(dac.IOTEST_PATTERN + place, pattern[place])
            self.dac.write(dac.IOTEST_PATTERN + dac.IOTEST_WORDS + place, pattern[place])
            self.write(TEST_WORDS + place, pattern[place])
            delay(1 * us)
        for channel in range(_CHANNELS):
            self.select_dac_source(channel, SOURCE_TEST)
        kept = self.dac.read(dac.CONFIG1.address)
        delay(100 * us)
        self.dac.write(dac.CONFIG1.address, dac.CONFIG1.iotest_ena.put(kept, 1))
        self.dac.write(dac.IOTEST.address, 0)
        delay(100 * us)
        wrong = self.dac.read(dac.IOTEST.address)
        delay(100 * us)
        self.dac.write(dac.CONFIG1.address, kept)
        for channel in range(_CHANNELS):
            self.select_dac_source(channel, SOURCE_TONES)
        if wrong != 0:
            raise ValueError("DAC iotest failure")

    # RF channels

    @kernel
    def reset_attenuator(self, channel):
        """Reset the attenuator of an RF channel; the other channel's stays."""
        bit = 1 << checked_rf_channel(channel)
        kept = self.read(ATTENUATORS)
        delay(10 * us)
        self.write(ATTENUATORS, kept & ~bit)
        delay(1 * us)
        self.write(ATTENUATORS, kept | bit)
        delay(1 * us)

    @kernel
    def is_upconverter_variant(self) -> TBool:
        """Whether the card has upconverters."""
        return self.read(HARDWARE) == 0

    @kernel
    def upconverter_pll_locked(self, channel) -> TBool:
        """Whether the upconverter of an RF channel has locked."""
        place = checked_rf_channel(channel)
        return (self.read(LOCKED) >> place) & 1 == 1

    @kernel
    def get_available_tones(self) -> TInt32:
        """Return the number of tones of an RF channel."""
        return self.read(TONES)


class PhaserMTDDSChannel:
    """RF channel `channel_index` of the card `fpga_device`: its `attenuator`, its `upconverter` or None, and
    `tones` tones `ddss`, whose names in the device database are `dds_device_prefix` and a number."""

    kernel_invariants = {"attenuator", "channel_index", "core", "dac", "ddss", "fpga", "has_upconverter", "tones"}

    def __init__(
        self,
        dmgr,
        channel_index,
        tones,
        fpga_device,
        dac_device,
        att_device,
        dds_device_prefix,
        iquc_device=None,
        core_device="core",
    ):
        self.core, self.channel_index, self.tones = dmgr.get(core_device), checked_rf_channel(channel_index), tones
        self.fpga, self.dac, self.attenuator = dmgr.get(fpga_device), dmgr.get(dac_device), dmgr.get(att_device)
        self.ddss = [dmgr.get(f"{dds_device_prefix}{n}") for n in range(tones)]
        self.has_upconverter = iquc_device is not None
        self.upconverter = dmgr.get(iquc_device) if self.has_upconverter else None
        make = _Upconverted if self.has_upconverter else _Baseband
        self.modulator = make(self)

    @kernel
    def init(self):
        """Check the card, reset the attenuator, and start the upconverter. ValueError for a check that fails."""
        if self.fpga.get_available_tones() != self.tones:
            raise ValueError("PhaserMTDDS number of available tones mismatch")
        delay(100 * us)
        if self.fpga.is_upconverter_variant() != self.has_upconverter:
            raise ValueError("PhaserMTDDS hardware variant mismatch")
        delay(100 * us)
        self.fpga.reset_attenuator(self.channel_index)
        delay(10 * us)
        self.modulator.init()

    @kernel
    def upconverter_pll_locked(self) -> TBool:
        """Whether the upconverter has locked. ValueError if its oscillator is outside, or there is none."""
        return self.modulator.is_locked()

    @kernel
    def stage_dac_nco_mixer_frequency_mu(self, ftw):
        """Set the frequency word of the DAC's mixer; it takes effect with the DAC's `sync`."""
        self.dac.stage_nco_mixer_frequency_mu(self.channel_index, ftw)

    @kernel
    def stage_dac_nco_mixer_frequency(self, frequency):
        """Set the frequency of the DAC's mixer in Hz; it takes effect with the DAC's `sync`."""
        self.dac.stage_nco_mixer_frequency(self.channel_index, frequency)

    @kernel
    def stage_dac_nco_mixer_phase_offset_mu(self, pow_):
        """Set the phase word of the DAC's mixer; it takes effect with the DAC's `sync`."""
        self.dac.stage_nco_mixer_phase_offset_mu(self.channel_index, pow_)

    @kernel
    def stage_dac_nco_mixer_phase_offset(self, phase):
        """Set the phase of the DAC's mixer in turns; it takes effect with the DAC's `sync`."""
        self.dac.stage_nco_mixer_phase_offset(self.channel_index, phase)


class _Baseband:
    """Of a channel without an upconverter."""

    kernel_invariants = {"core"}

    def __init__(self, channel):
        self.core = channel.core

    @kernel
    def init(self):
        """Nothing."""

    @kernel
    def is_locked(self) -> TBool:
        """ValueError."""
        raise ValueError("the channel has no upconverter")


class _Upconverted:
    """The upconverter of a channel."""

    kernel_invariants = {"core", "fpga", "index", "upconverter"}

    def __init__(self, channel):
        self.core, self.fpga, self.index = channel.core, channel.fpga, channel.channel_index
        self.upconverter = channel.upconverter

    @kernel
    def init(self):
        """Start it. ValueError if it does not lock."""
        self.upconverter.init()
        delay(500 * us)
        if not self.upconverter.use_external_lo:
            if not self.fpga.upconverter_pll_locked(self.index):
                raise ValueError("TRF372017 PLL fails to lock")
            delay(100 * us)

    @kernel
    def is_locked(self) -> TBool:
        """Whether it has locked. ValueError if its oscillator is outside."""
        if self.upconverter.use_external_lo:
            raise ValueError("External LO is used and PLL is bypassed")
        return self.fpga.upconverter_pll_locked(self.index)


class PhaserDDS(RTIODevice):
    """A tone of an RF channel; `bandwidth` in Hz: its frequencies repeat with it. The cursor does not move."""

    kernel_invariants = {"bandwidth"}

    def __init__(self, dmgr, channel, bandwidth, core_device="core"):
        super().__init__(dmgr, channel, core_device)
        self.bandwidth = float(bandwidth)

    @portable
    def frequency_to_ftw(self, frequency: TFloat) -> TInt32:
        """Frequency word for Hz, modulo the bandwidth. ValueError if it is not a finite number."""
        return to_word(frequency * (_FTW_STEPS / self.bandwidth))

    @portable
    def turns_to_pow(self, turns: TFloat) -> TInt32:
        """Phase word for turns, modulo one turn. ValueError if it is not a finite number."""
        return to_word(turns * _TURN) & (_TURN - 1)

    @portable
    def amplitude_to_asf(self, amplitude: TFloat) -> TInt32:
        """Amplitude word for a fraction of full scale. ValueError if it is not between 0 and 1."""
        return _AMPLITUDE.code(amplitude)

    @kernel
    def set_frequency_mu(self, ftw):
        """Set the frequency word."""
        rtio_output(self.target | FREQUENCY, ftw)

    @kernel
    def set_frequency(self, frequency: TFloat):
        """Set the frequency in Hz."""
        self.set_frequency_mu(self.frequency_to_ftw(frequency))

    @kernel
    def set_phase_offset_mu(self, pow_):
        """Set the phase word."""
        rtio_output(self.target | PHASE, pow_)

    @kernel
    def set_phase_offset(self, turns: TFloat):
        """Set the phase in turns."""
        self.set_phase_offset_mu(self.turns_to_pow(turns))

    @kernel
    def set_amplitude_mu(self, asf):
        """Set the amplitude word."""
        rtio_output(self.target | AMPLITUDE, asf)

    @kernel
    def set_amplitude(self, amplitude: TFloat):
        """Set the amplitude, a fraction of full scale. ValueError if it is not between 0 and 1."""
        self.set_amplitude_mu(self.amplitude_to_asf(amplitude))

    @kernel
    def enable_phase_accumulator(self, en):
        """Let the phase advance, or hold its accumulator at 0."""
        rtio_output(self.target | CLEAR, 0 if en else 1)
