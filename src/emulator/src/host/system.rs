//! Builds the boards and links of a description: their gateware, firmware and cards.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use toml::Spanned;

use super::boards::{Boards, Joined};
use super::description::{BoardEntry, Description, LinkEntry};
use super::image::Image;
use crate::machine::bus::Bus;
use crate::machine::params::Params;
use crate::machine::schedule::{Machine, NamedMachine, System};
use crate::machine::time::{self, NS_PER_PL_CYCLE};
use crate::peripherals::{Board, Cable, Card};
use crate::pl::join::join;
use crate::pl::library::Library;
use crate::pl::link::{self, Delay, Link, Quality};
use crate::pl::Pl;

impl Description {
    /// Loads the gateware of all boards, in order. The error is a one-line message for the user.
    pub fn libraries(&self, build: &Path) -> Result<Vec<Library>, String> {
        let all = self.boards.board.iter();
        all.map(|entry| self.library(entry, build)).collect()
    }

    /// Builds the boards. `build`: the folder with the built gateware and firmware; `cable`:
    /// connected to the first board. The error is a one-line message for the user.
    pub fn build(&self, build: &Path, params: &Params, skip: bool, cable: Box<dyn Cable>) -> Result<Boards, String> {
        let mut cable = Some(cable);
        let mut boards = Vec::new();
        for entry in &self.boards.board {
            let library = self.library(entry, build)?;
            if boards.is_empty() && library.info.links.iter().any(|name| name == link::UP) {
                let why = format!(
                    "the first board is the master, and {} is a satellite's",
                    entry.variant.as_ref()
                );
                return Err(self.wrong(entry, &entry.variant, &why));
            }
            let mut params = params.clone();
            for (name, value) in &entry.set {
                let set = params.set(&format!("{}={value}", name.as_ref()));
                set.map_err(|why| self.wrong(entry, name, why.trim_start_matches("--set ")))?;
            }
            let mut pl = Pl::new(library, &params, skip);
            pl.set_reloads(entry.reloads);
            boards.push(NamedMachine {
                name: entry.name.as_ref().clone(),
                machine: self.machine(entry, build, params, pl, cable.take())?,
            });
        }
        let mut links = Vec::new();
        let mut numbers = BTreeMap::new();
        // A board's links are numbered in the order of its downstream boards, those beside the tree in that of the
        // description
        let index_of = |name: &Spanned<String>| boards.iter().position(|board| board.name == *name.as_ref());
        let mut entries: Vec<&LinkEntry> = self.boards.link.iter().collect();
        entries.sort_by_key(|link| (link.cross, index_of(&link.to).filter(|_| !link.cross)));
        for entry in entries {
            let (Some(from), Some(to)) = (index_of(&entry.from), index_of(&entry.to)) else {
                continue;
            };
            let mut next = |board: usize, kind: &str| {
                let number: &mut u32 = numbers.entry((board, kind.to_string())).or_default();
                *number += 1;
                format!("{kind}{number}")
            };
            let names = match entry.cross {
                true => [next(from, link::CROSS), next(to, link::CROSS)],
                false => [next(from, link::DOWN), link::UP.into()],
            };
            let ends = [(from, &names[0][..]), (to, &names[1][..])];
            let ends = ends.map(|(board, name)| (&boards[board].machine.bus, name));
            let (from, to) = (boards[from].name.clone(), boards[to].name.clone());
            let link = entry.join(ends).map_err(|why| {
                let why = format!("link from {from} to {to}: {why}");
                self.error(entry.from.span().start, &why)
            })?;
            let cross = entry.cross;
            links.push(Joined { from, to, cross, link });
        }
        let shortest = links.iter().map(|joined| joined.link.delay()).min();
        let lookahead = shortest.map_or(u64::MAX, time::from_pl);
        Ok(Boards::new(System::new(boards, lookahead), links))
    }

    /// Loads the gateware of a board.
    fn library(&self, entry: &BoardEntry, build: &Path) -> Result<Library, String> {
        let variant = entry.variant.as_ref();
        let library = build.join("gateware").join(variant).join("libkairos_pl.so");
        let loaded = match library.exists() {
            true => Library::load(&library),
            false => Err(format!(
                "{} does not exist; `make gateware VARIANT={variant}` builds it if a description exists",
                library.display()
            )),
        };
        loaded.map_err(|why| self.wrong(entry, &entry.variant, &why))
    }

    /// Builds a board with its gateware, card and firmware.
    fn machine(
        &self,
        entry: &BoardEntry,
        build: &Path,
        params: Params,
        pl: Pl,
        cable: Option<Box<dyn Cable>>,
    ) -> Result<Machine, String> {
        let card = entry.sd.as_ref().map(|path| {
            let opened = Card::open(&self.folder.join(path.as_ref()), &params);
            opened.map_err(|why| self.wrong(entry, path, &why))
        });
        let board = Board {
            card: card.transpose()?,
            mib: *entry.memory.as_ref() as usize,
            params,
            pl: Some(pl),
            cable,
            ..Board::default()
        };
        match &entry.firmware {
            Some(firmware) => {
                let image = Image::load(&build.join("firmware").join(firmware.as_ref()));
                let loaded = image.and_then(|image| board.with_firmware(move |memory| image.copy_to(memory)));
                loaded.map_err(|why| self.wrong(entry, firmware, &why))
            }
            None => board.held().map_err(|why| self.wrong(entry, &entry.name, &why)),
        }
    }

    /// Formats an error about one field of a board.
    fn wrong<T>(&self, entry: &BoardEntry, what: &Spanned<T>, why: &str) -> String {
        let why = format!("board {}: {why}", entry.name.as_ref());
        self.error(what.span().start, &why)
    }
}

impl LinkEntry {
    /// Connects the named links of two boards; see [`join`].
    fn join(&self, ends: [(&Rc<RefCell<Bus>>, &str); 2]) -> Result<Link, String> {
        let quality = Quality {
            bit_errors: *self.bit_errors.as_ref(),
            losses: *self.losses.as_ref(),
        };
        let out = self.unplugged_ns.as_ref().iter();
        let out = out.map(|times| times.map(|ns| ns / NS_PER_PL_CYCLE)).collect();
        let delay = Delay::from_ns(*self.delay_ns.as_ref());
        join(ends, delay, quality, self.seed, out)
    }
}
