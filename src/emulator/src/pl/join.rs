//! Links between the gateware of two boards.

use std::cell::RefCell;
use std::rc::Rc;

use super::fabric::Fabric;
use super::link::{link, Delay, Link, Quality};
use crate::machine::bus::Bus;

/// Connects the named links of two libraries, the upstream board first; the other parameters
/// are those of [`link`]. The error is a one-line message for the user.
pub fn join(
    boards: [(&Rc<RefCell<Bus>>, &str); 2],
    delay: Delay,
    quality: Quality,
    seed: u64,
    out: Vec<[u64; 2]>,
) -> Result<Link, String> {
    let (link, ends) = link(delay, quality, seed, out);
    for ((bus, name), end) in boards.into_iter().zip(ends) {
        let connected = bus
            .borrow_mut()
            .with(|fabric: &mut Fabric, _| fabric.connect(end, name));
        connected.unwrap_or_else(|| Err("it has no PL".into()))?;
    }
    Ok(link)
}
