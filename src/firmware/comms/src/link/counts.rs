//! Counts of links: how many exist, and the logic's counters at this board's end of each.

use core::fmt::{self, Write};

use kairos_contracts::registers::{exports, link};
use kairos_pl::Register;
use kairos_proto::descriptor::Descriptor;

use super::Links;

impl Links {
    /// The number of links, and of those whose other board or card answers.
    pub fn counts(&self) -> (u32, u32) {
        let links = self.all.iter().flatten();
        let cards = self.cards.iter().flatten().map(|card| card.is_up());
        let states = links.map(|link| link.end.borrow().is_up()).chain(cards);
        states.fold((0, 0), |(all, up), is_up| (all + 1, up + u32::from(is_up)))
    }
}

/// Registers, each with its name for [`Links::describe`].
type Named<const N: usize> = [(&'static str, Register); N];

/// Counters of the logic at this end of a link.
#[derive(Default)]
pub(super) struct Counts {
    words: Option<Named<5>>,
    /// Accesses of other boards to this board's memory that were refused, where links have remote
    /// memory.
    refused: Option<Named<2>>,
}

impl Counts {
    pub(super) fn find(descriptor: &Descriptor, number: usize) -> Self {
        let find = |name| Register::find_numbered(descriptor, name, number);
        let words = || {
            Some([
                ("ended", find(link::ENDED)?),
                ("corrected", find(link::CORRECTED)?),
                ("retransmitted", find(link::RETRANSMITTED)?),
                ("dropped", find(link::DROPPED)?),
                ("space", find(link::SPACE)?),
            ])
        };
        let refused = || {
            Some([
                ("accesses", find(exports::REFUSED)?),
                ("packets", find(exports::PACKETS)?),
            ])
        };
        Self {
            words: words(),
            refused: refused(),
        }
    }

    /// Writes the counters as JSON members, each followed by a separator.
    pub(super) fn write_to(&self, out: &mut dyn Write) -> fmt::Result {
        write_named(out, "words", self.words.as_ref().map_or(&[][..], |all| all))?;
        write_named(out, "refused", self.refused.as_ref().map_or(&[][..], |all| all))
    }
}

fn write_named(out: &mut dyn Write, group: &str, all: &[(&str, Register)]) -> fmt::Result {
    for (n, (name, register)) in all.iter().enumerate() {
        if n == 0 {
            write!(out, "\"{group}\": {{")?;
        }
        write!(out, "{}\"{name}\": {}", if n > 0 { ", " } else { "" }, register.read())?;
    }
    out.write_str(if all.is_empty() { "" } else { "}, " })
}
