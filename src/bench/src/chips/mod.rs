//! Models of chips and cards, written from their data sheets on the register tables that the
//! drivers use (`kairos_contracts::chips`).

pub mod ad4115;
pub mod ad53xx;
mod ad53xx_chip;
pub mod ad9834;
pub mod ad9910;
pub mod ad9912;
pub mod ad9914;
pub mod adf5356;
pub mod converter;
pub mod dac34h84;
pub mod dds;
pub mod ddsbus;
pub mod fastino;
pub mod fastlink;
pub mod hmc542b;
pub mod measuring;
pub mod mirny;
pub mod novogorny;
pub mod phaser;
pub mod reported;
pub mod sampler;
pub mod serial_dac;
pub mod shift;
pub mod shuttler;
pub mod songbird;
pub mod trf372017;
pub mod urukul;
pub mod zotino;

#[cfg(test)]
mod any_lines;
