//! Configuration of the device, independent of sockets and registers, so that it is tested on the
//! host: the FAT volume of the SD card, the store of keys on it, the meaning of their values, and
//! access control.
#![no_std]
#![forbid(unsafe_code)]

pub mod auth;
pub mod card;
pub mod keys;
pub mod settings;
pub mod store;
