//! A camera on CoaXPress: its line from the grabber, the packets of both directions, and its registers. Numbers:
//! `docs/chips/coaxpress.md`.

pub mod camera;
pub mod line;
pub mod packets;
pub mod registers;
