#![no_std]

pub mod exception;
pub mod rpc;
