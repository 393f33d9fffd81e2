//! Joins the gateware of two boards by a link.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use super::fabric::Fabric;
use super::link::{link, Delay, Link, Neighbour, Quality, Question};
use crate::machine::bus::Bus;
use crate::machine::time;

impl Neighbour for Weak<RefCell<Bus>> {
    fn is_there(&self) -> bool {
        self.strong_count() != 0
    }

    fn cores(&self) -> Option<(u64, bool)> {
        let bus = self.upgrade()?;
        let bus = bus.borrow();
        Some((time::to_pl(bus.acting), bus.awaiting_pl))
    }

    fn asked(&self, question: Question) -> u64 {
        let Some(bus) = self.upgrade() else { return u64::MAX };
        let mut bus = bus.borrow_mut();
        let first = bus.with(|fabric: &mut Fabric, cx| fabric.asked(question, cx.memory));
        first.unwrap_or(u64::MAX)
    }
}

/// Joins the libraries' links with these names, of the board above first; the other parameters are
/// those of [`link`]. The error is a line for the user.
pub fn join(
    boards: [(&Rc<RefCell<Bus>>, &str); 2],
    delay: Delay,
    quality: Quality,
    seed: u64,
    out: Vec<[u64; 2]>,
) -> Result<Link, String> {
    let neighbour = |(bus, _): (&Rc<RefCell<Bus>>, &str)| -> (Box<dyn Neighbour>, usize) {
        let number = bus.borrow().get::<Fabric>().map_or(0, Fabric::ends);
        (Box::new(Rc::downgrade(bus)), number)
    };
    let (link, ends) = link([neighbour(boards[1]), neighbour(boards[0])], delay, quality, seed, out);
    for ((bus, name), end) in boards.into_iter().zip(ends) {
        let connected = bus
            .borrow_mut()
            .with(|fabric: &mut Fabric, _| fabric.connect(end, name));
        connected.unwrap_or_else(|| Err("it has no PL".into()))?;
    }
    Ok(link)
}
