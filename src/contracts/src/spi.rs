//! SPI masters on RTIO: addresses, and the word at the address of the configuration.
//!
//! Generated from `src/contracts/spi.toml` by `src/contracts/generate.py`: do not edit.

/// Bits of the longest transfer, and of both registers.
pub const WORD_BITS: usize = 32;

/// Address of the data; a write starts a transfer.
pub const DATA_ADDRESS: u8 = 0;

/// Address of the configuration.
pub const CONFIG_ADDRESS: u8 = 1;

/// Configuration: `SpiFlag`s.
pub const FLAGS_AT: usize = 0;

/// Width of the flags.
pub const FLAGS_BITS: usize = 8;

/// Configuration: bits of a transfer.
pub const LENGTH_AT: usize = 8;

/// Width of the length.
pub const LENGTH_BITS: usize = 5;

/// Bits of the shortest transfer.
pub const LENGTH_LEAST: u32 = 1;

/// Configuration: coarse cycles in a period of the SPI clock.
pub const DIV_AT: usize = 16;

/// Width of the divider.
pub const DIV_BITS: usize = 8;

/// Coarse cycles in the shortest period.
pub const DIV_LEAST: u32 = 2;

/// Configuration: bit mask of the chip selects.
pub const CS_AT: usize = 24;

/// Width of the chip selects.
pub const CS_BITS: usize = 8;

/// No pin is driven; state after reset.
pub const SPI_FLAG_OFFLINE: u8 = 1;

/// Chip select is released after the transfer.
pub const SPI_FLAG_END: u8 = 2;

/// The received bits are submitted as an input event.
pub const SPI_FLAG_INPUT: u8 = 4;

/// Chip select is active high.
pub const SPI_FLAG_CS_POLARITY: u8 = 8;

/// The clock idles high.
pub const SPI_FLAG_CLK_POLARITY: u8 = 16;

/// Data change on the leading clock edge and are sampled on the trailing edge.
pub const SPI_FLAG_CLK_PHASE: u8 = 32;

/// The least significant bit is sent first.
pub const SPI_FLAG_LSB_FIRST: u8 = 64;

/// With input: data are received on MOSI, which is not driven.
pub const SPI_FLAG_HALF_DUPLEX: u8 = 128;
