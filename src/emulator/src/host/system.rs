//! What is emulated: one board, or several that are joined by links, as a small file in TOML
//! describes them (docs/emulator.md, "Several boards").

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::boards::Boards;
use super::image::Image;
use crate::machine::params::Params;
use crate::machine::schedule::{Machine, NamedMachine, System};
use crate::machine::time::{self, NS_PER_PL_CYCLE};
use crate::peripherals::{Board, Cable, Card};
use crate::pl::join::join;
use crate::pl::library::Library;
use crate::pl::link::{self, Delay, Quality};
use crate::pl::Pl;

/// The descriptions that come with the emulator, by name.
const KNOWN: [(&str, &str); 4] = [
    ("pair", include_str!("pair.toml")),
    ("chain", include_str!("chain.toml")),
    ("star", include_str!("star.toml")),
    ("tree", include_str!("tree.toml")),
];

/// A file that describes boards.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The first is the master. The others have the destinations 1, 2… in this order, which is that
    /// of a walk through the tree: behind each board stand those below it, each with its own.
    board: Vec<BoardEntry>,
    #[serde(default)]
    link: Vec<LinkEntry>,
    /// Where the file is.
    #[serde(skip)]
    folder: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardEntry {
    name: String,
    /// Of the gateware.
    variant: String,
    /// Name of an image in the folder of built firmware, or a path. Without one the cores are held in reset.
    firmware: Option<PathBuf>,
    /// Image of the card in its slot; a path from the folder of the description.
    sd: Option<PathBuf>,
    /// DDR in MiB.
    #[serde(default = "default_memory")]
    memory: u32,
    /// Each reset loads the gateware anew, as a loader does.
    #[serde(default)]
    reloads: bool,
    /// As `--set`.
    #[serde(default)]
    set: BTreeMap<String, u64>,
}

fn default_memory() -> u32 {
    256
}

/// `from`: the board above, `to`: the one below.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkEntry {
    from: String,
    to: String,
    #[serde(default)]
    delay_ns: u64,
    /// Probability that a bit is wrong.
    #[serde(default)]
    bit_errors: f64,
    /// Probability that a word is lost.
    #[serde(default)]
    losses: f64,
    #[serde(default)]
    seed: u64,
    /// When it is pulled out, and plugged in again.
    #[serde(default)]
    unplugged_ns: Vec<[u64; 2]>,
}

impl Description {
    /// Reads a file, or takes one that comes with the emulator. The error is a line for the user.
    pub fn load(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = match KNOWN.iter().find(|(name, _)| path.to_str() == Some(name)) {
            Some((_, text)) => text.to_string(),
            None => std::fs::read_to_string(path).map_err(|e| format!("description of boards {shown}: {e}"))?,
        };
        let mut this: Self = toml::from_str(&text).map_err(|e| {
            format!(
                "description of boards {shown}: {}",
                e.to_string().trim().replace('\n', " ")
            )
        })?;
        this.check()
            .map_err(|e| format!("description of boards {shown}: {e}"))?;
        this.folder = path.parent().unwrap_or(Path::new("")).into();
        Ok(this)
    }

    /// Boards have different names, and are a tree with the first one at its root.
    fn check(&self) -> Result<(), String> {
        let Some(root) = self.board.first() else {
            return Err("there is no board".into());
        };
        if root.firmware.is_none() {
            return Err(format!("the first board, {}, needs a firmware", root.name));
        }
        let place = |name: &str| {
            let found = self.board.iter().position(|board| board.name == name);
            found.ok_or_else(|| format!("there is no board {name}"))
        };
        let mut path: Vec<&str> = Vec::new();
        for (n, board) in self.board.iter().enumerate() {
            if place(&board.name)? != n {
                return Err(format!("two boards have the name {}", board.name));
            }
            let above: Vec<&LinkEntry> = self.link.iter().filter(|link| link.to == board.name).collect();
            match above[..] {
                [] if n == 0 => path.push(&board.name[..]),
                [link] if n > 0 && place(&link.from)? < n => {
                    // Boards between it and the one above are below that one, too
                    let Some(at) = path.iter().position(|name| *name == link.from) else {
                        return Err(format!(
                            "{} does not stand behind {}, or behind a board below that",
                            board.name, link.from
                        ));
                    };
                    path.truncate(at + 1);
                    path.push(&board.name);
                }
                [_] if n > 0 => return Err(format!("{} stands before the board above it", board.name)),
                _ if n == 0 => return Err(format!("no link can lead to the first board, {}", board.name)),
                [] => {
                    return Err(format!(
                        "no link leads to {}: each board but the first needs one, from the board above it",
                        board.name
                    ))
                }
                _ => {
                    return Err(format!(
                    "{} links lead to {}: boards are a tree, so each has one from the board above it, and a ring or \
                         a mesh cannot be",
                    above.len(),
                    board.name
                ))
                }
            }
        }
        for link in &self.link {
            place(&link.to)?;
            if !link.unplugged_ns.as_flattened().is_sorted() {
                return Err(format!(
                    "the times at which the link to {} is pulled out and plugged in are not in order",
                    link.to
                ));
            }
            if ![link.bit_errors, link.losses]
                .iter()
                .all(|rate| (0.0..=1.0).contains(rate))
            {
                return Err(format!(
                    "the link to {} has a probability that is not within 0 and 1",
                    link.to
                ));
            }
        }
        Ok(())
    }

    /// The boards' gateware, in their order. The error is a line for the user.
    pub fn libraries(&self, build: &Path) -> Result<Vec<Library>, String> {
        let all = self.board.iter();
        all.map(|entry| entry.library(build).map_err(|e| format!("board {}: {e}", entry.name)))
            .collect()
    }

    /// The boards. `build`: the folder with the built gateware and firmware; `cable`: into the
    /// first one. The error is a line for the user.
    pub fn build(&self, build: &Path, params: &Params, skip: bool, cable: Box<dyn Cable>) -> Result<Boards, String> {
        let mut cable = Some(cable);
        let mut boards = Vec::new();
        for entry in &self.board {
            let machine = entry.build(build, &self.folder, params, skip, cable.take());
            let machine = machine.map_err(|e| format!("board {}: {e}", entry.name))?;
            let name = entry.name.clone();
            boards.push(NamedMachine { name, machine });
        }
        let mut links = Vec::new();
        let mut below = BTreeMap::new();
        // A board's links are numbered as the boards behind them stand
        let place = |link: &&LinkEntry| self.board.iter().position(|board| board.name == link.to);
        let mut entries: Vec<&LinkEntry> = self.link.iter().collect();
        entries.sort_by_key(place);
        for entry in entries {
            let bus = |name: &str| {
                boards
                    .iter()
                    .find(|board| board.name == name)
                    .map(|board| &board.machine.bus)
            };
            let (Some(from), Some(to)) = (bus(&entry.from), bus(&entry.to)) else {
                continue;
            };
            let number: &mut u32 = below.entry(&entry.from).or_default();
            *number += 1;
            let quality = Quality {
                bit_errors: entry.bit_errors,
                losses: entry.losses,
            };
            let ends = [(from, &format!("down{number}")[..]), (to, link::UP)];
            let out = entry
                .unplugged_ns
                .iter()
                .map(|times| times.map(|ns| ns / NS_PER_PL_CYCLE));
            let delay = Delay::from_ns(entry.delay_ns);
            let joined = join(ends, delay, quality, entry.seed, out.collect());
            let joined = joined.map_err(|e| format!("link from {} to {}: {e}", entry.from, entry.to))?;
            links.push((entry.from.clone(), entry.to.clone(), joined));
        }
        let shortest = links.iter().map(|(_, _, link)| link.delay()).min();
        let lookahead = shortest.map_or(u64::MAX, time::from_pl);
        Ok(Boards::new(System::new(boards, lookahead), links))
    }
}

impl BoardEntry {
    /// Its gateware. The error is a line for the user.
    fn library(&self, build: &Path) -> Result<Library, String> {
        let library = build.join("gateware").join(&self.variant).join("libkairos_pl.so");
        if !library.exists() {
            return Err(format!(
                "{} does not exist; build it with `make gateware VARIANT={}`",
                library.display(),
                self.variant
            ));
        }
        Library::load(&library)
    }

    fn build(
        &self,
        build: &Path,
        folder: &Path,
        params: &Params,
        skip: bool,
        cable: Option<Box<dyn Cable>>,
    ) -> Result<Machine, String> {
        let mut params = params.clone();
        for (name, value) in &self.set {
            params.set(&format!("{name}={value}"))?;
        }
        let mut pl = Pl::new(self.library(build)?, &params, skip);
        pl.reloads = self.reloads;
        let card = self.sd.as_ref().map(|path| Card::open(&folder.join(path), &params));
        let board = Board {
            card: card.transpose()?,
            mib: self.memory as usize,
            params,
            pl: Some(pl),
            cable,
            ..Board::default()
        };
        // An image that has not been built yet leaves the board without a processor
        let image = self
            .firmware
            .as_ref()
            .map(|firmware| build.join("firmware").join(firmware));
        match image {
            Some(path) if path.exists() || cable_expected(&board) => {
                let image = Image::load(&path)?;
                board.with_firmware(move |memory| image.place(memory))
            }
            _ => board.held(),
        }
    }
}

/// Whether this is the board that the host knows.
fn cable_expected(board: &Board) -> bool {
    board.cable.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), String> {
        toml::from_str::<Description>(text).map_err(|e| e.to_string())?.check()
    }

    #[test]
    fn boards_are_a_tree() {
        let board = |name: &str| format!("[[board]]\nname='{name}'\nvariant='v'\nfirmware='f'\n");
        let link = |from: &str, to: &str| format!("[[link]]\nfrom='{from}'\nto='{to}'\n");
        let (a, b, c) = (board("a"), board("b"), board("c"));
        for (name, text) in KNOWN {
            assert_eq!(checked(text), Ok(()), "{name}");
        }
        assert_eq!(
            checked(&format!("{a}{b}{c}{}{}", link("a", "b"), link("b", "c"))),
            Ok(())
        );
        let tree = [link("a", "c"), link("a", "b"), link("c", "d")].concat();
        let d = board("d");
        assert_eq!(checked(&format!("{a}{c}{d}{b}{tree}")), Ok(()));
        for (wrong, why) in [
            (
                format!("{a}{c}{b}{d}{tree}"),
                "d does not stand behind c, or behind a board below that",
            ),
            (
                format!("{a}{a}{}", link("a", "a")),
                "no link can lead to the first board, a",
            ),
            (format!("{a}{b}"), "no link leads to b: each board but the first needs one, from the board above it"),
            (format!("{a}{b}{}", link("c", "b")), "there is no board c"),
            (
                format!("{a}{b}{}{}", link("a", "b"), link("a", "b")),
                "2 links lead to b: boards are a tree, so each has one from the board above it, and a ring or a mesh cannot be",
            ),
            (
                format!("{a}{b}{c}{}{}", link("c", "b"), link("b", "c")),
                "b stands before the board above it",
            ),
            (
                format!("{a}{b}{}unplugged_ns=[[5, 9], [8, 12]]", link("a", "b")),
                "the times at which the link to b is pulled out and plugged in are not in order",
            ),
        ] {
            assert_eq!(checked(&wrong), Err(why.into()));
        }
    }
}
