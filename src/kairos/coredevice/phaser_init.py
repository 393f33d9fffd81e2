"""The initialisation of a Phaser: checks of card and link, the settings of its DAC and their tests, then its channels.

`Phaser` and `PhaserChannel` have these as base classes. Each step that fails raises a ValueError that
names it.
"""

from ..language import TFloat, TInt32, delay, kernel, ms, us
from .chips import dac34h84 as dac
from .chips.phaser import BOARD, BOARD_ID, GW_REV, HW_REV, STA
from .chips.trf372017 import IDENTITY
from .dac34h84 import FIFO_OFFSETS, HIGHEST_LOCKED, LOWEST_LOCKED, middle

__all__ = ["PATTERNS", "ChannelInitialisation", "Initialisation", "MiqroInitialisation"]

_MOST_ERRORS = 20
_COLDEST, _WARMEST = 10, 90
PATTERNS = [
    [0xF05A, 0x05AF, 0x5AF0, 0xAF05],
    [0x7A7A, 0xB6B6, 0xEAEA, 0x4545],
    [0x1A1A, 0x1616, 0xAAAA, 0xC6C6],
]
"""Samples of the tests of the DAC's inputs."""
_IGNORED = 0x40
"""Alarm of the DAC's PLL."""
_SILENT, _LOUD = 0, 0x7FFF
_OSCILLATOR_POW, _UPCONVERTER_POW = 0xC000, 0x6000
"""Phases that add up to an eighth of a turn, where I and Q are the same."""
_LEAST, _MOST, _APART = 0x5A63, 0x5A81, 2
_ATTENUATOR_TEST = 0x5A
_TRF_IDENTITY_MASK, _TRF_SATURATED = 0x7F, 0x1000


class Initialisation:
    """Of the card."""

    @kernel
    def init(self, debug=False):
        """Check and configure the card, with its DAC and the chips of its channels; takes about 50 ms.
        With `debug`, alarms of the DAC are printed, and raise no error. ValueError for a check that fails."""
        self._check_card()
        self._begin()
        self._begin_dac()
        for number in range(len(PATTERNS)):
            delay(0.5 * ms)
            if self.dac_iotest(self.patterns[number]) != 0:
                raise ValueError("DAC iotest failure")
        self._check_dac(debug)
        self._start_mixers()
        self.set_cfg(clk_sel=self.clk_sel, dac_txena=0)
        for number in range(len(self.channel)):
            self.channel[number].begin(self.has_upconverter)
        self.set_cfg(clk_sel=self.clk_sel)

    @kernel
    def check_board(self):
        """ValueError if the card is not a Phaser, or has another gateware than `gw_rev`; advances by 0.3 ms."""
        board = self.read8(BOARD_ID.address)
        delay(0.1 * ms)
        if board != BOARD:
            raise ValueError("invalid board id: the card is not a Phaser")
        self.has_upconverter = HW_REV.baseband.get(self.read8(HW_REV.address)) == 0
        delay(0.1 * ms)
        gateware = self.read8(GW_REV.address)
        delay(0.1 * ms)
        if gateware != self.gw_rev:
            raise ValueError("the gateware of the Phaser does not match gw_rev")

    @kernel
    def _check_card(self):
        self.check_board()
        if self.get_crc_err() > _MOST_ERRORS:
            raise ValueError("large number of frame CRC errors")
        delay(0.1 * ms)
        self.measure_frame_timestamp()

    @kernel
    def _begin(self):
        """Set card and DAC to the state after a reset."""
        for awake in range(2):
            self.set_cfg(
                self.clk_sel * awake, awake, 1 - awake, dac_txena=0, trf0_ps=1, trf1_ps=1, att0_rstn=0, att1_rstn=0
            )
            if awake == 0:
                self.set_leds(0)
                self.set_fan_mu(0)
        delay(0.1 * ms)
        self.set_sync_dly(self.sync_dly)

    @kernel
    def _begin_dac(self):
        """Check the DAC, and write its settings."""
        self.dac_write(dac.CONFIG2.address, dac.CONFIG2.sif4_ena.put(0, 1))
        if self.dac_read(dac.ID.address) != dac.VERSION:
            raise ValueError("DAC version readback invalid")
        delay(0.1 * ms)
        if self.dac_read(dac.CONFIG0.address) != dac.AFTER_RESET:
            raise ValueError("DAC config0 reset readback invalid")
        delay(0.1 * ms)
        temperature = self.get_dac_temperature()
        delay(0.1 * ms)
        if temperature < _COLDEST or temperature > _WARMEST:
            raise ValueError("DAC temperature out of bounds")
        for word in self.dac_mmap:
            self.dac_write(word >> 16, word)
            delay(120 * us)
        self.dac_sync()
        delay(40 * us)
        tuned = self.dac_read(dac.CONFIG24.address)
        delay(0.1 * ms)
        self.dac_write(dac.CONFIG24.address, dac.CONFIG24.pll_ndivsync_ena.put(tuned, 0))

    @kernel
    def dac_iotest(self, pattern) -> TInt32:
        """Compare samples with those that the DAC gets: `pattern` are four words of 16 bits, I and Q of
        both channels. Returns the bits of the DAC's inputs that were wrong, 0 if none. The channels go on
        with these samples. ValueError if the card has not taken them."""
        for place in range(dac.IOTEST_WORDS):
            self.dac_write(dac.IOTEST_PATTERN + place, pattern[place])
            self.dac_write(dac.IOTEST_PATTERN + dac.IOTEST_WORDS + place, pattern[place])
        delay(0.1 * ms)
        for number in range(len(self.channel)):
            self.channel[number].set_dac_test(pattern[2 * number] | (pattern[2 * number + 1] << 16))
            self.channel[number].set_duc_cfg(select=1)
        self.duc_stb()
        delay(0.1 * ms)
        for number in range(len(self.channel)):
            word = self.channel[number].get_dac_data()
            delay(0.1 * ms)
            if word != pattern[2 * number] | (pattern[2 * number + 1] << 16):
                raise ValueError("DAC test data readback failed")
        kept = self.dac_read(dac.CONFIG1.address)
        delay(0.1 * ms)
        self.dac_write(dac.CONFIG1.address, dac.CONFIG1.iotest_ena.put(kept, 1))
        self.dac_write(dac.IOTEST.address, 0)
        delay(0.2 * ms)
        errors = 0
        if dac.ALARMS.io_test.get(self.get_dac_alarms()) != 0:
            delay(0.1 * ms)
            errors = self.dac_read(dac.IOTEST.address)
        delay(0.1 * ms)
        self.dac_write(dac.CONFIG1.address, kept)
        self.dac_write(dac.IOTEST.address, 0)
        self.clear_dac_alarms()
        return errors

    @kernel
    def dac_tune_fifo_offset(self) -> TInt32:
        """Find, set and return the distance of the pointers of the DAC's FIFO in the middle of those
        without an alarm. ValueError if there is none."""
        kept = self.dac_read(dac.CONFIG9.address)
        delay(0.1 * ms)
        good = 0
        for offset in range(FIFO_OFFSETS):
            self.dac_write(dac.CONFIG9.address, dac.CONFIG9.fifo_offset.put(kept, offset))
            if dac.ALARMS.fifo.get(self._alarms_within(0.1 * ms)) == 0:
                good |= 1 << offset
        if good == 0:
            raise ValueError("no good fifo offset")
        best = middle(good)
        self.dac_write(dac.CONFIG9.address, dac.CONFIG9.fifo_offset.put(kept, best))
        return best

    @kernel
    def _check_dac(self, debug):
        """Check that the DAC's PLL has locked, and that nothing alarms it."""
        delay(2 * ms)
        voltage = dac.CONFIG24.lfvolt.get(self.dac_read(dac.CONFIG24.address))
        delay(0.1 * ms)
        if voltage < LOWEST_LOCKED or voltage > HIGHEST_LOCKED:
            raise ValueError("DAC PLL lock failed, check clocking")
        if self.tune_fifo_offset:
            self.dac_tune_fifo_offset()
        delay(0.1 * ms)
        alarms = self._alarms_within(2 * ms) & ~_IGNORED
        if alarms == 0:
            return
        if not debug:
            raise ValueError("DAC alarm: see get_dac_alarms")
        print("DAC alarms:", alarms)
        self.core.break_realtime()

    @kernel
    def _alarms_within(self, time: TFloat) -> TInt32:
        """Return the alarms of the next seconds."""
        self.clear_dac_alarms()
        delay(time)
        alarms = self.get_dac_alarms()
        delay(0.1 * ms)
        return alarms

    @kernel
    def _start_mixers(self):
        """Synchronise the DAC's oscillators, which are on meanwhile."""
        for word in [dac.CONFIG2.nco_ena.put(self.dac_config2, 1), self.dac_config2]:
            self.dac_write(dac.CONFIG2.address, word)
            delay(40 * us)
            self.dac_sync()
            delay(100 * us)


class ChannelInitialisation:
    """Of a channel of the card."""

    @kernel
    def begin(self, has_upconverter):
        """Check and configure the channel, as a part of `Phaser.init`."""
        self.set_att_mu(_ATTENUATOR_TEST)
        if self.get_att_mu() != _ATTENUATOR_TEST:
            raise ValueError("attenuator test failed")
        delay(0.1 * ms)
        self.set_att_mu(0)
        self.set_servo(profile=0, enable=0, hold=1)
        self.begin_samples()
        if has_upconverter:
            self._begin_upconverter()

    @kernel
    def begin_samples(self):
        """Check with one of the oscillators that their samples reach the DAC."""
        for number in range(len(self.oscillator)):
            amplitude = _LOUD if number == 0 else _SILENT
            self.oscillator[number].set_amplitude_phase_mu(asf=amplitude, pow=_OSCILLATOR_POW, clr=1)
            delay(1 * us)
        self.set_duc_phase_mu(_UPCONVERTER_POW)
        self.set_duc_cfg(select=0, clr=1)
        self.phaser.duc_stb()
        delay(0.1 * ms)
        word = self.get_dac_data()
        delay(0.1 * ms)
        i, q = word & 0xFFFF, (word >> 16) & 0xFFFF
        if i < _LEAST or i > _MOST or abs(i - q) > _APART:
            raise ValueError("DUC+oscillator phase/amplitude test failed")
        self.oscillator[0].set_amplitude_phase_mu(asf=_SILENT, pow=_OSCILLATOR_POW, clr=1)
        delay(0.1 * ms)

    @kernel
    def _begin_upconverter(self):
        if self.trf_read(0) & _TRF_IDENTITY_MASK != IDENTITY:
            raise ValueError("TRF identification failed")
        delay(0.2 * ms)
        for word in self.trf_mmap:
            self.trf_write(word)
        self.cal_trf_vco()
        delay(2 * ms)
        if STA.locked.get_at(self.phaser.get_sta(), self.index) == 0:
            raise ValueError("TRF lock failure")
        delay(0.1 * ms)
        if self.trf_read(0) & _TRF_SATURATED != 0:
            raise ValueError("TRF R_SAT_ERR")
        delay(0.1 * ms)
        self.en_trf_out()


class MiqroInitialisation:
    """Of a channel with the gateware Miqro, beside that."""

    @kernel
    def begin_samples(self):
        """Silence the pulse generator, and let the DAC have its samples again after the tests of its inputs."""
        self.miqro.reset()
        self.set_duc_cfg(select=0)
        self.phaser.duc_stb()
        delay(0.1 * ms)
