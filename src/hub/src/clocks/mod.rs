//! Clocks of devices: [`look`] finds how those of one are (access), `service` watches those of a
//! laboratory, and waits for them (control).

mod look;
mod service;
