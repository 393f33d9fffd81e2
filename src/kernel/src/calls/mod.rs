//! The functions that kernels call, by subject; `symbols.rs` maps their names to them. Those of
//! RTIO are in `rtio/`.

pub mod answer;
pub mod cache;
pub mod dma;
pub mod i2c;
pub mod linalg;
pub mod log;
pub mod math;
pub mod pulse;
pub mod remote;
pub mod rpc;
pub mod subkernel;
pub mod unavailable;
