//! Transfers of SPI masters, through the registers that the gateware has for this
//! (`docs/gateware/spi.md`).

use kairos_contracts::spi::{
    CS_AT, CS_BITS, DIV_AT, DIV_BITS, DIV_LEAST, LENGTH_AT, LENGTH_BITS, LENGTH_LEAST, SPI_FLAG_CLK_PHASE,
    SPI_FLAG_CLK_POLARITY, SPI_FLAG_CS_POLARITY, SPI_FLAG_END, SPI_FLAG_HALF_DUPLEX, SPI_FLAG_INPUT,
    SPI_FLAG_LSB_FIRST, WORD_BITS,
};
use kairos_proto::batch::Operation;
use tonic::Status;

use crate::v1::step::Spi;

/// Longer than the wait for an experiment plus any transfer.
const TIMEOUT_US: u32 = 2000;

/// Register addresses.
pub struct Registers {
    pub channel: u32,
    pub config: u32,
    pub data: u32,
    pub state: u32,
    pub value: u32,
}

/// The instructions of a transfer: operations and operands. INVALID_ARGUMENT if the transfer is
/// invalid.
pub fn instructions(
    spi: &Spi,
    channel: u32,
    registers: &Registers,
) -> Result<impl Iterator<Item = (Operation, [u32; 4])>, Status> {
    let fits = |value: u32, least: u32, bits: usize| value.checked_sub(least).filter(|code| code >> bits == 0);
    let fields = (
        fits(spi.length, LENGTH_LEAST, LENGTH_BITS),
        fits(spi.divider, DIV_LEAST, DIV_BITS),
        fits(spi.cs, 0, CS_BITS),
    );
    let (Some(length), Some(divider), Some(cs)) = fields else {
        return Err(Status::invalid_argument(
            "an SPI transfer has 1 to 32 bits, a divider of 2 to 257, and 8 bits of chip selects",
        ));
    };
    // The register is sent from its highest bits, or from its lowest with `lsb_first`.
    let unused = WORD_BITS as u32 - spi.length;
    if spi.data.checked_shr(spi.length).unwrap_or(0) != 0 {
        return Err(Status::invalid_argument(format!(
            "{} has more than {} bits",
            spi.data, spi.length
        )));
    }
    let data = if spi.lsb_first { spi.data } else { spi.data << unused };
    let flags = [
        (spi.input, SPI_FLAG_INPUT),
        (spi.clk_polarity, SPI_FLAG_CLK_POLARITY),
        (spi.clk_phase, SPI_FLAG_CLK_PHASE),
        (spi.cs_polarity, SPI_FLAG_CS_POLARITY),
        (spi.lsb_first, SPI_FLAG_LSB_FIRST),
        (spi.half_duplex, SPI_FLAG_HALF_DUPLEX),
    ];
    let flags = flags
        .iter()
        .filter(|(set, _)| *set)
        .fold(u32::from(SPI_FLAG_END), |all, &(_, flag)| all | u32::from(flag));
    let config = flags | length << LENGTH_AT | divider << DIV_AT | cs << CS_AT;
    let set = |address, value| (Operation::Write, [address, value, 0, 0]);
    let transfer = [
        set(registers.channel, channel),
        set(registers.config, config),
        set(registers.data, data),
        (Operation::Wait, [registers.state, 0, u32::MAX, TIMEOUT_US]),
    ];
    let value = spi.input.then_some((Operation::Read, [registers.value, 0, 0, 0]));
    Ok(transfer.into_iter().chain(value))
}
