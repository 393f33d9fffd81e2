//! Clocks of devices: [`query`] queries those of one device (access); `service` watches those of a
//! laboratory, and waits for them (control).

mod query;
mod service;
