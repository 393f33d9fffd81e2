"""The serial port of an AD9910 on the SPI bus of its Urukul: reads and writes registers and RAM.

The contents of the registers are described in `kairos.coredevice.chips.ad9910`.
"""

from ..language import TInt32, TInt64, TList, kernel
from ..numeric import int64
from .chips.ad9910 import INSTRUCTION, RAM, SHORT_WRITE
from .parts.spi import SPI_END, SPI_INPUT, Transfer
from .urukul import SPI_CONFIG, SPIT_DDS_RD, SPIT_DDS_WR

__all__ = ["SerialPort"]

WORD = 32
READS_AHEAD = 8
"""RAM words requested ahead of the one that the kernel fetches, so that the bus never waits for the
kernel."""


def transfer(length, div, flags=0):
    """Return a kind of transfer to the chip; the chip stays selected afterwards, unless `flags` has
    `SPI_END`."""
    return Transfer(length=length, div=div, cs="chip_select", flags=SPI_CONFIG | flags)


class SerialPort:
    """Base of `AD9910`, which supplies the attributes `bus` and `chip_select`.

    A message is the instruction followed by data in 32-bit words, highest first; the last word ends
    it.
    """

    instruction = transfer(INSTRUCTION.width, SPIT_DDS_WR)
    short_write = transfer(SHORT_WRITE.width, SPIT_DDS_WR, SPI_END)
    next_write = transfer(WORD, SPIT_DDS_WR)
    last_write = transfer(WORD, SPIT_DDS_WR, SPI_END)
    next_read = transfer(WORD, SPIT_DDS_RD, SPI_INPUT)
    last_read = transfer(WORD, SPIT_DDS_RD, SPI_INPUT | SPI_END)
    short_read = transfer(16, SPIT_DDS_RD, SPI_INPUT | SPI_END)

    @kernel
    def write16(self, addr, data):
        """Write a 16-bit register."""
        self.short_write.send(SHORT_WRITE.word(addr, data))

    @kernel
    def write32(self, addr, data):
        """Write a 32-bit register."""
        self.instruction.send(INSTRUCTION.word(register=addr))
        self.last_write.send(data)

    @kernel
    def write64(self, addr, data_high, data_low):
        """Write a 64-bit register, given as two words."""
        self.instruction.send(INSTRUCTION.word(register=addr))
        self.next_write.send(data_high)
        self.last_write.send(data_low)

    @kernel
    def ask(self, addr):
        """Send the read instruction of a register."""
        self.instruction.send(INSTRUCTION.word(read=1, register=addr))

    @kernel
    def read16(self, addr) -> TInt32:
        """Read a 16-bit register."""
        self.ask(addr)
        return self.short_read.exchange(0)

    @kernel
    def read32(self, addr) -> TInt32:
        """Read a 32-bit register."""
        self.ask(addr)
        return self.last_read.exchange(0)

    @kernel
    def read64(self, addr) -> TInt64:
        """Read a 64-bit register."""
        self.ask(addr)
        self.next_read.send(0)
        self.last_read.send(0)
        upper = int64(self.next_read.get()) << WORD
        return upper + (int64(self.last_read.get()) & int64(0xFFFFFFFF))

    @kernel
    def write_ram(self, data: TList(TInt32)):
        """Write words to the RAM range of the selected profile, from its last address downwards: a ramp
        up, which plays from the first address on, plays them in reverse order."""
        last = len(data) - 1
        self.instruction.send(INSTRUCTION.word(register=RAM.address))
        for word in data[:last]:
            self.next_write.send(word)
        self.last_write.send(data[last])

    @kernel
    def read_ram(self, data: TList(TInt32)):
        """Fill a list with the RAM range of the selected profile, from its last address downwards, as
        `write_ram` writes it."""
        asked = 0
        self.ask(RAM.address)
        for fetched in range(1 - READS_AHEAD, len(data)):
            if asked < len(data):
                asked += 1
                self._read_on(asked == len(data))
            if fetched >= 0:
                data[fetched] = self.last_read.get()

    @kernel
    def _read_on(self, is_last):
        """Request the next word of a message."""
        if is_last:
            self.last_read.send(0)
        else:
            self.next_read.send(0)
