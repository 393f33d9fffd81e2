//! What is emulated: one board, or several that are joined by links, as a small file in TOML describes them
//! (docs/emulator.md, "Several boards").

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{json, Value};

use super::image::Image;
use crate::machine::params::Params;
use crate::machine::schedule::{Machine, NamedMachine, System};
use crate::machine::time::{self, Cycles, NS_PER_PL_CYCLE};
use crate::peripherals::{Board, Cable, Card};
use crate::pl::event::Event;
use crate::pl::join::join;
use crate::pl::library::Library;
use crate::pl::link::{self, Link, Quality};
use crate::pl::sources::Report;
use crate::pl::{fabric, Pl};

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
    /// The first is the master. The others have the destinations 1, 2… in this order, which is that of a walk through
    /// the tree: behind each board stand those below it, each with its own.
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

    /// The boards. `build`: the folder with the built gateware and firmware; `cable`: into the first one. The error is a line
    /// for the user.
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
            let delay = entry.delay_ns / NS_PER_PL_CYCLE;
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
        let library = build.join("gateware").join(&self.variant).join("libkairos_pl.so");
        if !library.exists() {
            return Err(format!(
                "{} does not exist; build it with `make gateware VARIANT={}`",
                library.display(),
                self.variant
            ));
        }
        let mut pl = Pl::new(Library::load(&library)?, &params, skip);
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

/// The boards and what joins them, as the host sees them.
pub struct Boards {
    /// The machines.
    pub system: System,
    /// (board above, board below, link)
    links: Vec<(String, String, Link)>,
    /// Events of all boards' pins, and how many of each board's are among them.
    pub(super) events: Vec<Event>,
    pub(super) merged: Vec<usize>,
    /// How much of each board's text has been handed out.
    text: Vec<usize>,
}

impl Boards {
    /// One board.
    pub fn alone(machine: Machine) -> Self {
        Self::new(System::alone(machine), Vec::new())
    }

    fn new(system: System, links: Vec<(String, String, Link)>) -> Self {
        let count = system.boards().len();
        Self {
            system,
            links,
            events: Vec::new(),
            merged: vec![0; count],
            text: vec![0; count],
        }
    }

    /// The board that the host knows.
    pub fn master(&self) -> &Machine {
        self.system.master()
    }

    /// Names of all boards, if there are several.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.system.boards().iter().map(|board| &board.name[..])
    }

    /// How many outputs the kernels of each board have had.
    pub fn outputs(&self) -> Vec<usize> {
        let boards = self.system.boards().iter();
        boards
            .map(|board| fabric::of(&board.machine.bus.borrow()).map_or(0, |pl| pl.sources.len()))
            .collect()
    }

    /// Where the outputs of kernels come from; of each board from this number on.
    pub fn sources(&self, from: &[usize]) -> Report {
        let mut report = Report::default();
        for (number, board) in self.system.boards().iter().enumerate() {
            if let Some(pl) = fabric::of(&board.machine.bus.borrow()) {
                let from = from.get(number).copied().unwrap_or(0);
                report.add(&pl.sources, pl.origin_ns().unwrap_or(0), from);
            }
        }
        report
    }

    /// The board with this name, without one the first. The error is a line for the user.
    pub fn board(&self, name: Option<&str>) -> Result<&Machine, String> {
        let Some(name) = name else { return Ok(self.master()) };
        let found = self.system.boards().iter().find(|board| board.name == name);
        found
            .map(|board| &board.machine)
            .ok_or_else(|| format!("there is no board {name}"))
    }

    /// Why cores crashed since this was last asked.
    pub fn take_crashes(&mut self) -> Vec<String> {
        let several = self.system.boards().len() > 1;
        let crashes = self.system.boards_mut().iter_mut().flat_map(|board| {
            let prefix = if several {
                format!("{}: ", board.name)
            } else {
                String::new()
            };
            let crashes = std::mem::take(&mut board.machine.crashes).into_iter();
            crashes.map(move |why| format!("{prefix}{why}"))
        });
        crashes.collect()
    }

    /// When the next thing is due that waits for its time on any board and wakes no core.
    pub fn queued(&self) -> Option<Cycles> {
        let boards = self.system.boards().iter();
        boards.filter_map(|board| board.machine.bus.borrow().queued()).min()
    }

    /// Whether clock generators run on any board.
    pub fn runs_on(&self) -> bool {
        let mut boards = self.system.boards().iter();
        boards.any(|board| fabric::of(&board.machine.bus.borrow()).is_some_and(Pl::runs_on))
    }

    /// What the UARTs have sent since this was last asked. Of several boards, whole lines, each with the board's name before
    /// it; `all`: what is no whole line yet, too.
    pub fn new_text(&mut self, all: bool) -> Vec<u8> {
        let mut new = Vec::new();
        let several = self.system.boards().len() > 1;
        for (board, written) in self.system.boards().iter().zip(&mut self.text) {
            let bus = board.machine.bus.borrow();
            let text = &bus.signals.console.text[*written..];
            if !several {
                new.extend_from_slice(text);
                *written += text.len();
                continue;
            }
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                if line.ends_with(b"\n") || all {
                    new.extend_from_slice(board.name.as_bytes());
                    new.extend_from_slice(b": ");
                    new.extend_from_slice(line);
                    *written += line.len();
                }
            }
        }
        new
    }

    /// Whether the counters are moved over quiet times.
    pub fn set_skip(&mut self, skip: bool) {
        for board in self.system.boards() {
            if let Some(pl) = fabric::of_mut(&mut board.machine.bus.borrow_mut()) {
                pl.skip = skip;
            }
        }
    }

    /// Drives an input pad. The error is a line for the user.
    pub fn set_pad(&mut self, index: usize, level: bool) -> Result<(), String> {
        let now = self.master().now();
        let mut rest = index;
        for board in self.system.boards() {
            let mut bus = board.machine.bus.borrow_mut();
            let count = fabric::of(&bus).map_or(0, |pl| pl.info().pads.len());
            if rest < count {
                return fabric::set_pad(&mut bus, rest, level, now);
            }
            rest -= count;
        }
        Err(format!("there is no pad {index}"))
    }

    /// The links, for the control socket.
    pub fn links(&self) -> Vec<Value> {
        let now = time::to_pl(self.master().now());
        let shown = self.links.iter().map(|(from, to, link)| {
            let directions = link
                .counts()
                .map(|(sent, wrong, lost)| json!({"sent": sent, "wrong": wrong, "lost": lost}));
            json!({
                "from": from,
                "to": to,
                "plugged": link.is_plugged(now),
                "delay_ns": link.delay() * NS_PER_PL_CYCLE,
                "down": directions[0],
                "up": directions[1],
            })
        });
        shown.collect()
    }

    /// Plugs in, or pulls out, the link to the board `to`. The error is a line for the user.
    pub fn plug(&mut self, to: &str, plugged: bool) -> Result<(), String> {
        let now = self.master().now();
        for board in self.system.boards() {
            board.machine.bus.borrow_mut().update(now);
        }
        let found = self.links.iter().find(|(_, below, _)| below == to);
        let (_, _, link) = found.ok_or_else(|| format!("there is no link to a board {to}"))?;
        link.plug(plugged);
        Ok(())
    }
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
