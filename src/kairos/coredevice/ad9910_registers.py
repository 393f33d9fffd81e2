"""Access to the registers of an AD9910 over the SPI bus of its Urukul. Numbers and bits are those of the data sheet."""

from numpy import int64

from ..language import TInt32, TInt64, TList, kernel
from . import spi2 as spi
from . import urukul

_AD9910_REG_CFR1 = 0x00
_AD9910_REG_CFR2 = 0x01
_AD9910_REG_CFR3 = 0x02
_AD9910_REG_AUX_DAC = 0x03
_AD9910_REG_IO_UPDATE = 0x04
_AD9910_REG_FTW = 0x07
_AD9910_REG_POW = 0x08
_AD9910_REG_ASF = 0x09
_AD9910_REG_SYNC = 0x0A
_AD9910_REG_RAMP_LIMIT = 0x0B
_AD9910_REG_RAMP_STEP = 0x0C
_AD9910_REG_RAMP_RATE = 0x0D
_AD9910_REG_PROFILE0 = 0x0E
_AD9910_REG_RAM = 0x16
_READ = 0x80


class Registers:
    """What `AD9910` inherits; it has the attributes `bus` and `chip_select`."""

    @kernel
    def _address(self, byte):
        self.bus.set_config_mu(urukul.SPI_CONFIG, 8, urukul.SPIT_DDS_WR, self.chip_select)
        self.bus.write(byte << 24)

    @kernel
    def _write_word(self, flags, data):
        self.bus.set_config_mu(urukul.SPI_CONFIG | flags, 32, urukul.SPIT_DDS_WR, self.chip_select)
        self.bus.write(data)

    @kernel
    def _read_word(self, flags, length):
        self.bus.set_config_mu(urukul.SPI_CONFIG | spi.SPI_INPUT | flags, length, urukul.SPIT_DDS_RD, self.chip_select)
        self.bus.write(0)

    @kernel
    def write16(self, addr, data):
        """Write a 16-bit register."""
        self.bus.set_config_mu(urukul.SPI_CONFIG | spi.SPI_END, 24, urukul.SPIT_DDS_WR, self.chip_select)
        self.bus.write((addr << 24) | ((data & 0xFFFF) << 8))

    @kernel
    def write32(self, addr, data):
        """Write a 32-bit register."""
        self._address(addr)
        self._write_word(spi.SPI_END, data)

    @kernel
    def write64(self, addr, data_high, data_low):
        """Write a 64-bit register, given as two words."""
        self._address(addr)
        self._write_word(0, data_high)
        self._write_word(spi.SPI_END, data_low)

    @kernel
    def read16(self, addr) -> TInt32:
        """Read a 16-bit register."""
        self._address(addr | _READ)
        self._read_word(spi.SPI_END, 16)
        return self.bus.read()

    @kernel
    def read32(self, addr) -> TInt32:
        """Read a 32-bit register."""
        self._address(addr | _READ)
        self._read_word(spi.SPI_END, 32)
        return self.bus.read()

    @kernel
    def read64(self, addr) -> TInt64:
        """Read a 64-bit register."""
        self._address(addr | _READ)
        self._read_word(0, 32)
        self._read_word(spi.SPI_END, 32)
        high = self.bus.read()
        low = self.bus.read()
        return (int64(high) << 32) | (int64(low) & 0xFFFFFFFF)

    @kernel
    def write_ram(self, data: TList(TInt32)):
        """Write words to the RAM range of the selected profile."""
        self._address(_AD9910_REG_RAM)
        for i in range(len(data) - 1):
            self._write_word(0, data[i])
        self._write_word(spi.SPI_END, data[len(data) - 1])

    @kernel
    def read_ram(self, data: TList(TInt32)):
        """Fill a list with the RAM range of the selected profile."""
        self._address(_AD9910_REG_RAM | _READ)
        n = len(data)
        # Reads are kept a few ahead of their results, so that the bus does not wait for the kernel.
        ahead = min(n, 8)
        for i in range(n):
            self._read_word(spi.SPI_END if i == n - 1 else 0, 32)
            if i >= ahead - 1:
                data[i - (ahead - 1)] = self.bus.read()
        for i in range(n - (ahead - 1), n):
            data[i] = self.bus.read()

    @kernel
    def set_cfr1(
        self,
        power_down=0b0000,
        phase_autoclear=0,
        drg_load_lrr=0,
        drg_autoclear=0,
        phase_clear=0,
        internal_profile=0,
        ram_destination=0,
        ram_enable=0,
        manual_osk_external=0,
        osk_enable=0,
        select_auto_osk=0,
    ):
        """Write control register 1 (takes effect at the next update)."""
        self.write32(
            _AD9910_REG_CFR1,
            (ram_enable << 31)
            | (ram_destination << 29)
            | (manual_osk_external << 23)
            | (internal_profile << 17)
            | (drg_load_lrr << 15)
            | (drg_autoclear << 14)
            | (phase_autoclear << 13)
            | (phase_clear << 11)
            | (osk_enable << 9)
            | (select_auto_osk << 8)
            | (power_down << 4)
            | 2,
        )

    @kernel
    def set_cfr2(
        self,
        asf_profile_enable=1,
        drg_destination=0,
        drg_enable=0,
        drg_nodwell_high=0,
        drg_nodwell_low=0,
        effective_ftw=1,
        sync_validation_disable=0,
        matched_latency_enable=0,
    ):
        """Write control register 2 (takes effect at the next update)."""
        self.write32(
            _AD9910_REG_CFR2,
            (asf_profile_enable << 24)
            | (drg_destination << 20)
            | (drg_enable << 19)
            | (drg_nodwell_high << 18)
            | (drg_nodwell_low << 17)
            | (effective_ftw << 16)
            | (matched_latency_enable << 7)
            | (sync_validation_disable << 5),
        )
