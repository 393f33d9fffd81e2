//! Clocks of devices: [`look`] queries those of one device (access); `service` watches those of a
//! laboratory, and waits for them (control).

mod look;
mod service;
