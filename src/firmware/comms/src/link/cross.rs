//! Links beside the tree, which carry no messages: only their state is reported.

use core::fmt::{self, Write};

use kairos_contracts::registers::{cross, link};
use kairos_pl::Register;

use super::counts::Counts;
use super::LINKS;

/// A link beside the tree.
pub(super) struct CrossLink {
    destination: Register,
    line: Register,
    counts: Counts,
}

impl CrossLink {
    /// Those of this board, by their numbers.
    pub(super) fn all() -> [Option<Self>; LINKS] {
        core::array::from_fn(Self::find)
    }

    fn find(number: usize) -> Option<Self> {
        let descriptor = kairos_pl::descriptor().ok()?;
        let find = |name| Register::find_numbered(&descriptor, name, number);
        Some(Self {
            destination: find(cross::DESTINATION)?,
            line: find(link::UP)?,
            counts: Counts::find(&descriptor, number),
        })
    }

    /// Writes its state as JSON: `docs/interfaces.md`, section 12.
    pub(super) fn write_to(&self, out: &mut dyn Write) -> fmt::Result {
        let found = self.destination.read();
        out.write_str("{\"cross\": true, \"destination\": ")?;
        match found & cross::DESTINATION_KNOWN_BIT {
            0 => out.write_str("null")?,
            _ => write!(out, "{}", found & (cross::DESTINATION_LEADS_BIT - 1))?,
        }
        out.write_str(", ")?;
        self.counts.write_to(out)?;
        let (line, up) = (self.line.read() != 0, found & cross::DESTINATION_LEADS_BIT != 0);
        write!(out, "\"line\": {line}, \"up\": {up}}}")
    }
}
