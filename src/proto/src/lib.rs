#![no_std]

pub mod rpc;
