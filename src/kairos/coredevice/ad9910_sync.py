"""Synchronisation of several AD9910: the delay of the synchronisation clock, and the time at which updates take
effect.

Chips are synchronous if each samples SYNC_IN away from its edges, and if IO_UPDATE arrives away
from the edges of SYNC_CLK, a quarter of the system clock (data sheet, "Synchronization of multiple
devices" and "I/O update"). Both delays are found by exhaustive search.
"""

from ..language import TInt32, TInt64, TTuple, delay, delay_mu, kernel, us
from ..numeric import int64
from .chips.ad9910 import CFR1, FTW, RAMP_LIMIT, RAMP_RATE, RAMP_STEP, SYNC
from .chips.urukul import checked_channel
from .urukul import CS_DDS_MULTI, urukul_sta_smp_err

__all__ = ["Synchronisation"]

_DELAYS = 1 << SYNC.in_delay.width
_WIDEST = SYNC.window.mask
_SYSTEM_CYCLES = 4
"""System clock cycles per SYNC_CLK cycle."""
_TRIES = 16


class Synchronisation:
    """Base of `AD9910`, which supplies its registers, its Urukul `cpld`, ``_update``, ``_align``
    and `sync_generator`: whether the chip generates the synchronisation clock."""

    @kernel
    def set_sync(self, in_delay, window, en_sync_gen=0):
        """Enable the synchronisation receiver with a delay and a validation window (steps of about
        75 ps).

        `en_sync_gen`: 1 to generate the clock as well; it reaches the other chips if the Urukul's
        `sync_sel` is 1 and this is the chip of channel 0. Takes effect with an update.
        """
        word = SYNC.word(window=window, receiver_enable=1, generator_enable=en_sync_gen, in_delay=in_delay)
        self.write32(SYNC.address, word)

    @kernel
    def clear_smp_err(self):
        """Clear synchronisation errors and enable their detection again."""
        for disable in [1, 0]:
            self.set_cfr2(sync_validation_disable=disable)
            self._update()
            delay(disable * (10 * us))

    @kernel
    def _is_synchronous(self, in_delay, window, channel):
        """Return whether no edge of SYNC_IN falls into the window."""
        self.set_sync(in_delay, window, self.sync_generator)
        self.clear_smp_err()
        delay(100 * us)
        errors = urukul_sta_smp_err(self.cpld.sta_read())
        delay(50 * us)
        return (errors >> channel) & 1 == 0

    @kernel
    def tune_sync_delay(self, search_seed=15, dds_channel_idx=0) -> TTuple([TInt32, TInt32]):
        """Find and set the delay of the synchronisation clock with the widest window without edges;
        of several the one nearest to `search_seed` (0 to 31). Returns delay and window.

        `dds_channel_idx`: if the chip select addresses all chips, the channel whose errors are
        read. Takes up to 0.1 s. ValueError if the Urukul has no synchronisation clock, or no delay
        is valid.
        """
        channel = checked_channel(dds_channel_idx if self.chip_select == CS_DDS_MULTI else self.channel)
        if self.cpld.sync_div == 0 and self.cpld.sync_sel == 0:
            raise ValueError("the Urukul of the AD9910 has no synchronisation clock")
        for window in range(_WIDEST, -1, -1):
            # Outwards from the seed: 0, 1, -1, 2, -2 ...
            for step in range(2 * _DELAYS):
                place = search_seed + ((step + 1) // 2 if step % 2 == 1 else -(step // 2))
                if 0 <= place < _DELAYS and self._is_synchronous(place, window, channel):
                    return place, window
        raise ValueError("no delay of the synchronisation clock is good for the AD9910")

    @kernel
    def _update_after(self, delay_from_grid: TInt64):
        """Issue an update at the given delay after a multiple of 8 machine units."""
        delay_mu(8)
        self._align()
        delay_mu(delay_from_grid)
        self.io_update.pulse_mu(8)
        delay_mu(8)

    @kernel
    def measure_io_update_alignment(self, delay_start: TInt64, delay_stop: TInt64) -> TInt32:
        """Return the parity of the number of SYNC_CLK cycles between two updates, which occur the
        given numbers of machine units after multiples of 8: 0 if even, 1 if odd.

        The digital ramp is the counter: the first update starts it, the second sets its step to
        zero.
        """
        self.write64(RAMP_LIMIT.address, -1, 0)
        self.write32(RAMP_RATE.address, RAMP_RATE.word(1, 1))
        self.write64(RAMP_STEP.address, 1, 1)
        self.set_cfr2(drg_enable=1, drg_nodwell_high=1, drg_nodwell_low=1)
        self.write32(CFR1.address, CFR1.word(sdio_input_only=1, drg_clear=1))
        self._update()
        self.set_cfr1()
        self._update_after(delay_start)
        self.write64(RAMP_STEP.address, 0, 0)
        self._update_after(delay_stop)
        counted = self.read32(FTW.address)
        delay(100 * us)
        self.set_cfr2()
        self._update()
        return counted & 1

    @kernel
    def tune_io_update_delay(self) -> TInt32:
        """Find the delay of updates, in machine units after a multiple of 8, that is farthest from
        the edges of SYNC_CLK. ValueError if no edge is found."""
        period = int(round(_SYSTEM_CYCLES / (self.sysclk * self.core.ref_period)))
        edge, most = 0, 0
        for start in range(period):
            # The updates are one unit more apart than a multiple of 8: odd if the edge lies in that
            # unit
            odd = 0
            for _ in range(_TRIES):
                odd += self.measure_io_update_alignment(int64(start), int64(start + 1))
            if odd > most:
                edge, most = start, odd
        if 2 * most <= _TRIES:
            raise ValueError("no edge of SYNC_CLK was found at the AD9910")
        return (edge + 1 + period // 2) % period
