"""Decodes SPI transfers to the chips on a bus, for the monitor: frequency words of an Urukul's
synthesisers, codes of a DAC's channels. Clock domain sys.

An SPI master reports each transfer in the cycle in which it starts (`SENT`); a monitor assembles
transfers into messages, as the chips do, and keeps those that set an output. A probe changes in the
cycle after the start of the message's last transfer, so before the chip has received all of it, and
regardless of whether an update pulse (IO_UPDATE, LDAC) follows. Registers and fields are those of
`src/contracts/chips`, as checked by a test.
"""

from migen import *

from ..contracts import spi

__all__ = ["SENT", "MONITORS", "Ad9910Monitor", "Ad9912Monitor", "Ad53xxMonitor"]

SENT = [("stb", 1), ("data", spi.WORD_BITS), ("length", spi.LENGTH_BITS + 1), ("cs", spi.CS_BITS), ("end", 1)]
"""A transfer: its data, the first bit highest; its length in bits; chip select; whether it ends the
message."""

_BYTE = 8
CHIPS = 4
CS_CONFIGURATION, CS_ALL, CS_FIRST = 1, 3, 4
"""Chip selects of an Urukul: its configuration, all chips that are not masked, the first chip."""
MASK_8, MASK_9, LOW_9 = 13, 36, 28
"""Bit of the mask in the configuration of protocol revisions 8 and 9, and bits of the latter's
second transfer."""
CONFIGURATION_BITS = 24
"""Of the only transfer in revision 8, of the first one in revision 9."""

AD9910_FTW, AD9910_PROFILES = 0x07, range(0x0E, 0x16)
AD9912_TONE, AD9912_STREAMED = 0x1AD, 3 << 13
"""Address at which a message contains both phase and frequency, and the bits that select this."""

AD53XX_CHANNELS, AD53XX_FIRST, AD53XX_BITS = 40, 8, 24
AD53XX_DATA, AD53XX_MODE_AT, AD53XX_TARGET_AT = 3, 22, 16
AD53XX_CS = 1


class _Monitor(Module):
    """`sent` (in): see `SENT`. `first` (out): the transfer begins a message."""

    def __init__(self):
        self.sent = Record(SENT)
        self.first = Signal(reset=1)
        self.sync += If(self.sent.stb, self.first.eq(self.sent.end))

    def top(self, bits):
        """The first bits of a transfer's data."""
        return self.sent.data[spi.WORD_BITS - bits :]


class _UrukulMonitor(_Monitor):
    """`probes`: for each chip the frequency word that was sent to it last. A subclass drives `complete`
    (out), at the end of a message to a chip, and the `frequency` (out, `width` bits)."""

    def __init__(self, width):
        super().__init__()
        self.probes = [Signal(width, name=f"frequency_{i}") for i in range(CHIPS)]
        self.complete = Signal()
        self.frequency = Signal(width)

        # # #

        masked = Signal(CHIPS)
        chosen = Signal(CHIPS)
        sent, begin = self.sent, spi.WORD_BITS - CONFIGURATION_BITS
        revision_8, revision_9 = (begin + bit for bit in (MASK_8, MASK_9 - LOW_9))
        self.comb += Case(
            sent.cs, {CS_ALL: chosen.eq(~masked)} | {CS_FIRST + i: chosen.eq(1 << i) for i in range(CHIPS)}
        )
        self.sync += [
            If(
                sent.stb & self.first & (sent.cs == CS_CONFIGURATION) & (sent.length == CONFIGURATION_BITS),
                masked.eq(Mux(sent.end, sent.data[revision_8:][:CHIPS], sent.data[revision_9:][:CHIPS])),
            ),
            If(self.complete, [If(chosen[i], probe.eq(self.frequency)) for i, probe in enumerate(self.probes)]),
        ]


class Ad9910Monitor(_UrukulMonitor):
    """A message to an AD9910 that sets its frequency: 8 bits of address, of the frequency register
    or of a profile, then that register, whose last 32 bits are the frequency word. (A profile that
    plays the RAM has no frequency: its last 32 bits are nevertheless shown as one.)"""

    def __init__(self):
        super().__init__(32)

        # # #

        sets = Signal()
        sent, address = self.sent, self.top(_BYTE)
        of_profile = (address >= AD9910_PROFILES.start) & (address < AD9910_PROFILES.stop)
        self.sync += If(
            sent.stb & self.first,
            sets.eq((sent.length == _BYTE) & ((address == AD9910_FTW) | of_profile)),
        )
        self.comb += [
            self.complete.eq(sent.stb & sent.end & ~self.first & sets & (sent.length == 32)),
            self.frequency.eq(sent.data),
        ]


class Ad9912Monitor(_UrukulMonitor):
    """A message to an AD9912 that sets its frequency: 16 bits of address, phase word and the
    frequency word's upper 16 bits, its lower 32 bits."""

    def __init__(self):
        super().__init__(48)

        # # #

        sets = Signal()
        second = Signal()
        upper = Signal(16)
        sent = self.sent
        header = self.top(16)
        self.sync += If(
            sent.stb,
            If(
                self.first,
                sets.eq((sent.length == 16) & (header == AD9912_STREAMED | AD9912_TONE)),
                second.eq(1),
            ).Else(second.eq(0), upper.eq(sent.data)),
        )
        self.comb += [
            self.complete.eq(sent.stb & sent.end & ~self.first & ~second & sets & (sent.length == 32)),
            self.frequency.eq(Cat(sent.data, upper)),
        ]


class Ad53xxMonitor(_Monitor):
    """A message to an AD53xx that sets a channel's code: 24 bits with mode, channel and code.
    (Addresses of several channels at once are not decoded.)

    `probe_port`: port of the memory of codes, for the monitor.
    """

    def __init__(self):
        super().__init__()
        memory = Memory(16, 1 << (AD53XX_CHANNELS - 1).bit_length())
        self.probe_port = memory.get_port(async_read=True)
        write = memory.get_port(write_capable=True)
        self.specials += memory, self.probe_port, write

        # # #

        sent, word = self.sent, self.top(AD53XX_BITS)
        target = word[AD53XX_TARGET_AT:AD53XX_MODE_AT]
        self.comb += [
            write.adr.eq(target - AD53XX_FIRST),
            write.dat_w.eq(word[:AD53XX_TARGET_AT]),
            write.we.eq(
                sent.stb
                & self.first
                & sent.end
                & (sent.length == AD53XX_BITS)
                & (sent.cs == AD53XX_CS)
                & (word[AD53XX_MODE_AT:] == AD53XX_DATA)
                & (target >= AD53XX_FIRST)
                & (target < AD53XX_FIRST + AD53XX_CHANNELS)
            ),
        ]


MONITORS = {"ad9910": Ad9910Monitor, "ad9912": Ad9912Monitor, "ad53xx": Ad53xxMonitor}
"""By the names of `variant.MONITORED`."""
