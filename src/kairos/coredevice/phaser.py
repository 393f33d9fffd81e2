"""Phaser: a card with two RF channels, each with a digital upconverter and, with the base gateware, five oscillators
in the device's logic, or with Miqro a pulse generator in the card's.

Here are the registers of its link, LEDs, fan, upconverters, oscillators; in `phaser_init` its initialisation, in
`phaser_chips` its SPI bus with the chips on it and the servos, in `phaser_miqro` the pulse generators, in
`phaser_mtdds` the drivers of a card whose own gateware is a satellite.
"""

from ..language import TFloat, TInt32, TInt64, delay, delay_mu, kernel, now_mu, portable
from ..numeric import Wide
from .chips.dac34h84 import CONFIG2
from .chips.phaser import (
    CFG,
    CHANNELS,
    CRC_ERR,
    DAC_DATA,
    DAC_TEST,
    DUC_CFG,
    DUC_F,
    DUC_P,
    DUC_STB,
    FAN,
    FRAME_CYCLES,
    FREQUENCY_STEPS,
    GW_REV,
    LED,
    OSCILLATOR_RATE,
    OSCILLATORS,
    PORT,
    STA,
    SYNC_DLY,
    TONE,
    UPCONVERTER_RATE,
    UPCONVERTER_SPACING,
)
from .dac34h84 import DAC34H84
from .parts.channel import RTIODevice
from .parts.numbers import to_word
from .parts.scales import Scale
from .phaser_chips import ChannelChips, SpiBus
from .phaser_init import PATTERNS, ChannelInitialisation, Initialisation, MiqroInitialisation
from .phaser_miqro import Miqro
from .phaser_mtdds import PhaserDDS, PhaserMTDDS, PhaserMTDDSChannel
from .rtio import rtio_input_data, rtio_input_timestamp, rtio_output
from .trf372017 import TRF372017

__all__ = [
    "Miqro",
    "MiqroChannel",
    "Phaser",
    "PhaserChannel",
    "PhaserDDS",
    "PhaserMTDDS",
    "PhaserMTDDSChannel",
    "PhaserOscillator",
]

_BITS = 8
_BYTE = 0xFF
_TURN = DUC_P.pow.steps
_MIQRO = GW_REV.gateware.number("MIQRO")
_MIQRO_DAC = {"pll_m": 16, "pll_n": 3, "interpolation": 2}
"""Settings of the DAC for the samples of that gateware."""
_SETTLING = 100e-6
_WAIT_FRAMES = 4


class _Fraction(Scale):
    @portable
    def refuse(self):
        raise ValueError("a fraction of full scale on a Phaser is between 0 and 1")


_DUTY = _Fraction(bits=FAN.width, steps=FAN.duty.steps)
_AMPLITUDE = _Fraction(bits=TONE.asf.width, steps=TONE.asf.steps)


class Phaser(Initialisation, SpiBus, RTIODevice):
    """The card on the RTIO channels from `channel_base` on: its registers, then those of its
    channels.

    `miso_delay`: bits by which data read are delayed. `gw_rev`: gateware, 1 base, 2 Miqro. For `init`:
    `clk_sel`, the reference (0 MMCX, 1 SMA); `sync_dly`, delay of the DAC's synchronisation, 0 to 7;
    `tune_fifo_offset`, whether the distance of its FIFO's pointers is tuned; settings by name of the DAC
    (`dac`) and of the upconverters (`trf0`, `trf1`), beside those that it needs.
    """

    kernel_invariants = {
        "channel", "channel_base", "clk_sel", "dac_config2", "dac_mmap", "gw_rev", "miso_delay", "patterns", "sync_dly",
        "t_frame", "tune_fifo_offset",
    }  # fmt: skip

    def __init__(
        self,
        dmgr,
        channel_base,
        miso_delay=1,
        tune_fifo_offset=True,
        clk_sel=0,
        sync_dly=0,
        dac=None,
        trf0=None,
        trf1=None,
        gw_rev=1,
        core_device="core",
    ):
        super().__init__(dmgr, channel_base, core_device)
        if gw_rev not in GW_REV.gateware.values.values():
            raise ValueError(f"gw_rev of a Phaser is 1 (base) or 2 (Miqro), not {gw_rev}")
        self.channel_base, self.miso_delay, self.gw_rev = channel_base, miso_delay, gw_rev
        self.clk_sel, self.sync_dly, self.tune_fifo_offset = clk_sel, sync_dly, tune_fifo_offset
        self.dac_mmap = DAC34H84((_MIQRO_DAC if gw_rev == _MIQRO else {}) | (dac or {})).get_mmap()
        self.dac_config2 = next(word & 0xFFFF for word in self.dac_mmap if word >> 16 == CONFIG2.address)
        self.patterns = PATTERNS
        self.has_upconverter = True
        self.t_frame = Wide(FRAME_CYCLES * self.core.ref_multiplier)
        self.frame_tstamp = Wide(0)
        make = PhaserChannel if gw_rev != _MIQRO else MiqroChannel
        self.channel = [make(self, index, trf) for index, trf in enumerate([trf0, trf1])]

    @property
    def target(self):
        return self.channel_base << 8

    @classmethod
    def get_rtio_channels(cls, channel_base, gw_rev=1, **_arguments):
        """Return the RTIO channels of a device with these arguments: pairs of number and name
        suffix."""
        outputs = ["frequency", "phase/amplitude"] if gw_rev != _MIQRO else ["pulses"]
        names = ["registers", *(f"channel {n} {output}" for n in range(CHANNELS) for output in outputs)]
        return [(channel_base + place, name) for place, name in enumerate(names)]

    # Registers

    @kernel
    def write8(self, addr, data: TInt32):
        """Write a byte to a register; advances by a frame."""
        rtio_output(self.target + PORT.word(1, addr), data & _BYTE)
        delay_mu(self.t_frame)

    @kernel
    def read8(self, addr) -> TInt32:
        """Wait for and return a byte read from a register. The cursor does not move."""
        self._ask(addr)
        return self._answer()

    @kernel
    def _ask(self, addr):
        rtio_output(self.target + PORT.word(0, addr), 0)

    @kernel
    def _answer(self) -> TInt32:
        return (rtio_input_data(self.channel_base) >> self.miso_delay) & _BYTE

    @kernel
    def _write_bytes(self, addr, data, count):
        for place in range(count):
            self.write8(addr + place, data >> (_BITS * (count - 1 - place)))

    @kernel
    def _read_bytes(self, addr, count) -> TInt32:
        # All requests are sent before the first answer is awaited, since waiting consumes the
        # slack.
        for place in range(count):
            self._ask(addr + place)
            delay_mu(self.t_frame)
        word = 0
        for _ in range(count):
            word = (word << _BITS) | self._answer()
        return word

    @kernel
    def write16(self, addr, data: TInt32):
        """Write 16 bits to two registers, the upper ones first; advances by two frames."""
        self._write_bytes(addr, data, 2)

    @kernel
    def write32(self, addr, data: TInt32):
        """Write 32 bits to four registers, the upper ones first; advances by four frames."""
        self._write_bytes(addr, data, 4)

    @kernel
    def read16(self, addr) -> TInt32:
        """Read two registers, the upper bits first; advances by two frames."""
        return self._read_bytes(addr, 2)

    @kernel
    def read32(self, addr) -> TInt32:
        """Read four registers, the upper bits first; advances by four frames."""
        return self._read_bytes(addr, 4)

    # The card

    @kernel
    def get_sta(self) -> TInt32:
        """Read the status."""
        return self.read8(STA.address)

    @kernel
    def get_crc_err(self) -> TInt32:
        """Read the number of frames with a wrong checksum."""
        return self.read8(CRC_ERR.address)

    @kernel
    def set_leds(self, leds):
        """Light the LEDs whose bits in `leds` (8 bits) are 1."""
        self.write8(LED.address, leds)

    @kernel
    def set_fan_mu(self, pwm):
        """Set the duty cycle of the fan, 0 to 255."""
        self.write8(FAN.address, pwm)

    @kernel
    def set_fan(self, duty):
        """Set the duty cycle of the fan, 0 to 1. ValueError if it is out of range."""
        self.set_fan_mu(_DUTY.code(duty))

    @kernel
    def set_cfg(
        self, clk_sel=0, dac_resetb=1, dac_sleep=0, dac_txena=1, trf0_ps=0, trf1_ps=0, att0_rstn=1, att1_rstn=1
    ):
        """Set the control lines of the card: resets (0 holds in reset), power saving, reference."""
        lines = CFG.word(clk_sel, dac_resetb, dac_sleep, dac_txena, trf0_ps, trf1_ps, att0_rstn, att1_rstn)
        self.write8(CFG.address, lines)

    @kernel
    def set_sync_dly(self, dly):
        """Set the delay of the DAC's synchronisation, 0 to 7. ValueError for other values."""
        if dly < 0 or dly > SYNC_DLY.steps.mask:
            raise ValueError("SYNC delay out of bounds")
        self.write8(SYNC_DLY.address, dly)

    @kernel
    def duc_stb(self):
        """Apply the settings of both upconverters."""
        self.write8(DUC_STB.address, 0)

    @kernel
    def measure_frame_timestamp(self):
        """Determine when a frame begins, for `get_next_frame_mu`; advances by 0.1 ms. ValueError if the
        card does not answer."""
        rtio_output(self.target, 0)
        self.frame_tstamp = rtio_input_timestamp(now_mu() + _WAIT_FRAMES * self.t_frame, self.channel_base)
        if self.frame_tstamp < 0:
            raise ValueError("frame timestamp measurement timed out")
        delay(_SETTLING)

    @kernel
    def get_next_frame_mu(self) -> TInt64:
        """Return the time at which the next frame after the cursor begins; requires
        `measure_frame_timestamp`."""
        since = now_mu() - self.frame_tstamp
        # A time before the measured one counts as in the frame that begins with it
        frames = since // self.t_frame if since >= 0 else -(-since // self.t_frame)
        return self.frame_tstamp + (frames + 1) * self.t_frame


class PhaserChannel(ChannelInitialisation, ChannelChips):
    """Channel `index` of a Phaser: its upconverter, and five `oscillator`s or the pulse generator `miqro`."""

    kernel_invariants = {
        "core", "first", "index", "miqro", "oscillator", "phaser", "trf_mmap",
    }  # fmt: skip

    def __init__(self, phaser, index, trf=None):
        self.trf_mmap = TRF372017(trf or {}).get_mmap()
        self.phaser, self.index, self.core = phaser, index, phaser.core
        self.first = UPCONVERTER_SPACING * index
        self.miqro = Miqro(phaser, index)
        base = phaser.channel_base + 1 + 2 * index
        count = OSCILLATORS if phaser.gw_rev != _MIQRO else 0
        self.oscillator = [PhaserOscillator(phaser.core, base, number) for number in range(count)]

    @kernel
    def get_dac_data(self) -> TInt32:
        """Read a sample sent to the DAC: I in the lower 16 bits, Q in the upper ones."""
        return self.phaser.read32(self.first + DAC_DATA.address)

    @kernel
    def set_dac_test(self, data: TInt32):
        """Set the sample sent to the DAC when the upconverter selects the test value."""
        self.phaser.write32(self.first + DAC_TEST.address, data)

    @kernel
    def set_duc_cfg(self, clr=0, clr_once=0, select=0):
        """Configure the upconverter: hold its phase at zero, clear it once, and select the DAC's
        source (0 the upconverter, 1 the test value). Takes effect with `Phaser.duc_stb`."""
        self.phaser.write8(self.first + DUC_CFG.address, DUC_CFG.word(clr, clr_once, select))

    @kernel
    def set_duc_frequency_mu(self, ftw):
        """Set the upconverter's frequency word (32 bits, signed)."""
        self.phaser.write32(self.first + DUC_F.address, ftw)

    @kernel
    def set_duc_frequency(self, frequency):
        """Set the upconverter's frequency in Hz (float)."""
        self.set_duc_frequency_mu(to_word(frequency * (FREQUENCY_STEPS / UPCONVERTER_RATE)))

    @kernel
    def set_duc_phase_mu(self, pow_):
        """Set the upconverter's phase word (16 bits)."""
        self.phaser.write16(self.first + DUC_P.address, pow_)

    @kernel
    def set_duc_phase(self, phase):
        """Set the upconverter's phase in turns (float)."""
        self.set_duc_phase_mu(to_word(phase * _TURN))


class MiqroChannel(MiqroInitialisation, PhaserChannel):
    """Such a channel with the gateware Miqro."""


class PhaserOscillator:
    """Oscillator `index` of a channel whose RTIO channels begin at `channel_base`. The cursor does
    not move."""

    kernel_invariants = {"amplitude_target", "core", "frequency_target"}

    def __init__(self, core, channel_base, index):
        self.core = core
        self.frequency_target, self.amplitude_target = (
            channel << 8 | index for channel in (channel_base, channel_base + 1)
        )

    @kernel
    def set_frequency_mu(self, ftw):
        """Set the frequency word (32 bits, signed)."""
        rtio_output(self.frequency_target, ftw)

    @kernel
    def set_frequency(self, frequency):
        """Set the frequency in Hz (float)."""
        self.set_frequency_mu(to_word(frequency * (FREQUENCY_STEPS / OSCILLATOR_RATE)))

    @kernel
    def set_amplitude_phase_mu(self, asf=0x7FFF, pow=0, clr=0):
        """Set amplitude word (15 bits), phase word (16 bits), and whether the phase is held at zero."""
        rtio_output(self.amplitude_target, TONE.word(pow, clr, asf))

    @kernel
    def set_amplitude_phase(self, amplitude: TFloat, phase=0.0, clr=0):
        """Set amplitude (0 to 1) and phase in turns. ValueError if the amplitude is out of range."""
        self.set_amplitude_phase_mu(_AMPLITUDE.code(amplitude), to_word(phase * _TURN), clr)
