//! The file that describes several boards and their links (docs/emulator.md, "Several boards").
//! Each error is a line with its position in the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kairos_bench::file::Source;
use kairos_contracts::rtio::BOARDS;
use serde::Deserialize;
use toml::Spanned;

/// Built-in descriptions, by name.
const KNOWN: [(&str, &str); 5] = [
    ("pair", include_str!("pair.toml")),
    ("pulse_pair", include_str!("pulse_pair.toml")),
    ("chain", include_str!("chain.toml")),
    ("star", include_str!("star.toml")),
    ("tree", include_str!("tree.toml")),
];
/// Longest delay of a fibre that the time transfer can measure (docs/gateware/link.md, "Time
/// transfer").
const LONGEST_NS: u64 = 260_000;

/// A file that describes boards.
#[derive(Debug)]
pub struct Description {
    /// Parsed contents.
    pub boards: Entries,
    /// Folder of the file.
    pub folder: PathBuf,
    name: String,
    text: String,
}

/// The boards and their links.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entries {
    /// The first board is the master. The others have destinations 1, 2… in this order, which is
    /// the depth-first (pre-order) order of the tree.
    #[serde(default)]
    pub board: Vec<BoardEntry>,
    #[serde(default)]
    pub link: Vec<LinkEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardEntry {
    pub name: Spanned<String>,
    /// Gateware variant.
    pub variant: Spanned<String>,
    /// Name of an image in the folder of built firmware, or a path. If omitted, the cores are held
    /// in reset.
    pub firmware: Option<Spanned<PathBuf>>,
    /// Image of the SD card; a path relative to the folder of the description.
    pub sd: Option<Spanned<PathBuf>>,
    /// DDR in MiB.
    #[serde(default = "default_memory")]
    pub memory: Spanned<u32>,
    /// Each reset reloads the gateware, as a boot loader does.
    #[serde(default)]
    pub reloads: bool,
    /// Parameters, as with `--set`.
    #[serde(default)]
    pub set: BTreeMap<Spanned<String>, u64>,
}

fn default_memory() -> Spanned<u32> {
    Spanned::new(0..0, 256)
}

/// Default of omitted fields: zero or empty.
fn omitted<T: Default>() -> Spanned<T> {
    Spanned::new(0..0, T::default())
}

/// A link from the upstream board (`from`) to the downstream board (`to`), or between any two boards beside the tree.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkEntry {
    pub from: Spanned<String>,
    pub to: Spanned<String>,
    /// It is beside the tree.
    #[serde(default)]
    pub cross: bool,
    #[serde(default = "omitted")]
    pub delay_ns: Spanned<u64>,
    /// Bit error probability.
    #[serde(default = "omitted")]
    pub bit_errors: Spanned<f64>,
    /// Word loss probability.
    #[serde(default = "omitted")]
    pub losses: Spanned<f64>,
    #[serde(default)]
    pub seed: u64,
    /// Times at which the link is unplugged and plugged in again.
    #[serde(default = "omitted")]
    pub unplugged_ns: Spanned<Vec<[u64; 2]>>,
}

/// Offset into the text, and error message.
type Wrong = (usize, String);

impl Description {
    /// Reads a file or a built-in description. The error is a one-line message for the user.
    pub fn load(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = match KNOWN.iter().find(|(name, _)| path.to_str() == Some(name)) {
            Some((_, text)) => text.to_string(),
            None => std::fs::read_to_string(path).map_err(|e| format!("description of boards {shown}: {e}"))?,
        };
        Self::parse(shown.to_string(), text, path.parent().unwrap_or(Path::new("")).into())
    }

    fn parse(name: String, text: String, folder: PathBuf) -> Result<Self, String> {
        let source = Source {
            name: &name,
            text: &text,
        };
        let boards: Entries = source.read()?;
        boards.check().map_err(|(at, why)| source.error(at, &why))?;
        Ok(Self {
            boards,
            folder,
            name,
            text,
        })
    }

    /// Formats an error message as `FILE:LINE: text` for an offset into the text.
    pub fn error(&self, at: usize, text: &str) -> String {
        Source {
            name: &self.name,
            text: &self.text,
        }
        .error(at, text)
    }
}

impl Entries {
    /// Checks the boards and links: names are unique, and the boards are a tree whose root is the
    /// first.
    fn check(&self) -> Result<(), Wrong> {
        let Some(root) = self.board.first() else {
            return Err((0, "there is no [[board]]".into()));
        };
        if root.firmware.is_none() {
            let why = format!("the first board, {}, needs a firmware", root.name.as_ref());
            return Err((root.name.span().start, why));
        }
        let mut path: Vec<&str> = Vec::new();
        for (n, board) in self.board.iter().enumerate() {
            board.check(n)?;
            if self.index_of(&board.name)? != n {
                let why = format!("two boards have the name {}", board.name.as_ref());
                return Err((board.name.span().start, why));
            }
        }
        for link in &self.link {
            link.check()?;
            self.index_of(&link.from)?;
            self.index_of(&link.to)?;
        }
        for (n, board) in self.board.iter().enumerate() {
            self.check_place(n, board, &mut path)?;
        }
        self.check_crosses()
    }

    /// Checks that each link beside the tree joins two boards that no other link joins.
    fn check_crosses(&self) -> Result<(), Wrong> {
        for (n, link) in self.link.iter().enumerate().filter(|(_, link)| link.cross) {
            let (from, to) = (link.from.as_ref(), link.to.as_ref());
            let wrong = |why: String| Err((link.to.span().start, why));
            if from == to {
                return wrong(format!("a cross link joins two boards, not {from} to itself"));
            }
            let joins = |other: &LinkEntry| {
                let ends = (other.from.as_ref(), other.to.as_ref());
                ends == (from, to) || ends == (to, from)
            };
            let mut others = self.link.iter().enumerate();
            if let Some((_, other)) = others.find(|(m, other)| joins(other) && (!other.cross || *m < n)) {
                let kind = if other.cross {
                    "another cross link"
                } else {
                    "a link of the tree"
                };
                return wrong(format!("{kind} joins {from} and {to} already"));
            }
        }
        Ok(())
    }

    /// The index of the board with this name.
    fn index_of(&self, name: &Spanned<String>) -> Result<usize, Wrong> {
        let found = self.board.iter().position(|board| board.name.as_ref() == name.as_ref());
        found.ok_or_else(|| {
            let names: Vec<&str> = self.board.iter().map(|board| &board.name.as_ref()[..]).collect();
            let why = format!("there is no board '{}'; there is {}", name.as_ref(), names.join(", "));
            (name.span().start, why)
        })
    }

    /// Checks that the boards are listed in depth-first order. `path`: boards from the first one to
    /// the one before this one.
    fn check_place<'a>(&'a self, n: usize, board: &'a BoardEntry, path: &mut Vec<&'a str>) -> Result<(), Wrong> {
        let name: &str = board.name.as_ref();
        let tree = self.link.iter().filter(|link| !link.cross);
        let upstream: Vec<&LinkEntry> = tree.filter(|link| link.to.as_ref() == name).collect();
        let wrong = |why: String| Err((board.name.span().start, why));
        match upstream[..] {
            [] if n == 0 => {}
            [link, ..] if n == 0 => {
                return Err((
                    link.to.span().start,
                    format!("no link can lead to the first board, {name}"),
                ))
            }
            [] => {
                return wrong(format!(
                    "no link leads to {name}: each board but the first needs one, from its upstream board"
                ))
            }
            [link] if self.index_of(&link.from)? >= n => {
                return wrong(format!(
                    "{name} stands before its upstream board, {}",
                    link.from.as_ref()
                ))
            }
            [link] => {
                // Boards between this one and its upstream board must be downstream of the latter, too
                let Some(at) = path.iter().position(|name| name == link.from.as_ref()) else {
                    return wrong(format!(
                        "{name} does not stand behind {}, or behind a board downstream of that",
                        link.from.as_ref()
                    ));
                };
                path.truncate(at + 1);
            }
            [_, second, ..] => {
                return Err((
                    second.to.span().start,
                    format!(
                        "{} links lead to {name}: boards are a tree, so each has one from its upstream board; \
                         others, for remote memory only, say cross = true",
                        upstream.len()
                    ),
                ))
            }
        }
        path.push(name);
        Ok(())
    }
}

impl BoardEntry {
    /// Checks the fields of a board.
    fn check(&self, number: usize) -> Result<(), Wrong> {
        let at = self.name.span().start;
        if self.name.as_ref().is_empty() {
            return Err((at, "a board without a name".into()));
        }
        if number >= BOARDS {
            return Err((
                at,
                format!("this is board {}, but a system has at most {BOARDS}", number + 1),
            ));
        }
        if !(1..=1023).contains(self.memory.as_ref()) {
            return Err((self.memory.span().start, "memory is 1 to 1023 MiB".into()));
        }
        Ok(())
    }
}

impl LinkEntry {
    /// Checks the fields of a link.
    fn check(&self) -> Result<(), Wrong> {
        if *self.delay_ns.as_ref() > LONGEST_NS {
            let why =
                format!("delay_ns must be at most {LONGEST_NS}: the boards cannot measure the delay of a longer fibre");
            return Err((self.delay_ns.span().start, why));
        }
        for (name, rate) in [("bit_errors", &self.bit_errors), ("losses", &self.losses)] {
            if !(0.0..=1.0).contains(rate.as_ref()) {
                return Err((rate.span().start, format!("{name} is a probability, 0 to 1")));
            }
        }
        if !self.unplugged_ns.as_ref().as_flattened().is_sorted() {
            let why = "times at which a link is pulled out and plugged in are in order";
            return Err((self.unplugged_ns.span().start, why.into()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), String> {
        Description::parse("a.toml".into(), text.into(), PathBuf::new()).map(drop)
    }

    fn board(name: &str) -> String {
        format!("[[board]]\nname='{name}'\nvariant='v'\nfirmware='f'\n")
    }

    fn link(from: &str, to: &str) -> String {
        format!("[[link]]\nfrom='{from}'\nto='{to}'\n")
    }

    #[test]
    fn boards_that_form_no_tree_are_refused() {
        let (a, b, c, d) = (board("a"), board("b"), board("c"), board("d"));
        for (name, text) in KNOWN {
            assert_eq!(checked(text), Ok(()), "{name}");
        }
        let chain = format!("{a}{b}{c}{}{}", link("a", "b"), link("b", "c"));
        assert_eq!(checked(&chain), Ok(()));
        let tree = [link("a", "c"), link("a", "b"), link("c", "d")].concat();
        assert_eq!(checked(&format!("{a}{c}{d}{b}{tree}")), Ok(()));
        for (wrong, why) in [
            (
                format!("{a}{c}{b}{d}{tree}"),
                "14: d does not stand behind c, or behind a board downstream of that",
            ),
            (format!("{a}{a}{}", link("a", "a")), "6: two boards have the name a"),
            (
                format!("{a}{}", link("a", "a")),
                "7: no link can lead to the first board, a",
            ),
            (
                format!("{a}{b}"),
                "6: no link leads to b: each board but the first needs one, from its upstream board",
            ),
            (
                format!("{a}{b}{}", link("c", "b")),
                "10: there is no board 'c'; there is a, b",
            ),
            (
                format!("{a}{b}{}", link("a", "c")),
                "11: there is no board 'c'; there is a, b",
            ),
            (
                format!("{a}{b}{}{}", link("a", "b"), link("a", "b")),
                "14: 2 links lead to b: boards are a tree, so each has one from its upstream board; others, for remote \
                 memory only, say cross = true",
            ),
            (
                format!("{a}{b}{c}{}{}", link("c", "b"), link("b", "c")),
                "6: b stands before its upstream board, c",
            ),
        ] {
            assert_eq!(checked(&wrong), Err(format!("a.toml:{why}")));
        }
    }

    #[test]
    fn cross_link_joins_two_boards_that_no_other_link_joins() {
        let boards = ["a", "b", "c"].map(board).concat();
        let tree = [link("a", "b"), link("a", "c")].concat();
        let cross = |from, to| link(from, to) + "cross = true\n";
        let system = format!("{boards}{tree}{}", cross("b", "c"));
        assert_eq!(checked(&system), Ok(()));
        for (added, why) in [
            (cross("c", "b"), "25: another cross link joins c and b already"),
            (cross("c", "a"), "25: a link of the tree joins c and a already"),
            (cross("b", "b"), "25: a cross link joins two boards, not b to itself"),
            (cross("b", "d"), "25: there is no board 'd'; there is a, b, c"),
        ] {
            assert_eq!(checked(&format!("{system}{added}")), Err(format!("a.toml:{why}")));
        }
        let alone = format!("{}{}{}", board("a"), board("b"), cross("a", "b"));
        let why = "a.toml:6: no link leads to b: each board but the first needs one, from its upstream board";
        assert_eq!(checked(&alone), Err(why.into()));
    }

    #[test]
    fn ninth_board_of_a_system_is_refused() {
        let star = |satellites: usize| {
            let names: Vec<String> = (1..=satellites).map(|n| format!("s{n}")).collect();
            let boards: String = names.iter().map(|name| board(name)).collect();
            let links: String = names.iter().map(|name| link("a", name)).collect();
            format!("{}{boards}{links}", board("a"))
        };
        assert_eq!(checked(&star(7)), Ok(()));
        let why = "a.toml:34: this is board 9, but a system has at most 8";
        assert_eq!(checked(&star(8)), Err(why.into()));
    }

    #[test]
    fn invalid_description_is_reported_with_its_place() {
        let pair = format!("{}{}{}", board("a"), board("b"), link("a", "b"));
        for (added, why) in [
            ("delay_ns = 260_000", ""),
            ("delay_ns = 260_001", "12: delay_ns must be at most 260000: the boards cannot measure the delay of a longer fibre"),
            ("delay_ns = 1.5", "12: invalid type: floating point `1.5`, expected a whole number, 0 or more, that is not too large"),
            ("delay = 5", "12: unknown field `delay`, expected one of `from`, `to`, `cross`, `delay_ns`, `bit_errors`, `losses`, `seed`, `unplugged_ns`"),
            ("bit_errors = 1.5", "12: bit_errors is a probability, 0 to 1"),
            ("losses = nan", "12: losses is a probability, 0 to 1"),
            ("unplugged_ns = [[5, 9], [8, 12]]", "12: times at which a link is pulled out and plugged in are in order"),
            ("[[board]]\nname=''\nvariant='v'", "13: a board without a name"),
            ("[[board]]\nname='c'\nvariant='v'\nmemory=0", "15: memory is 1 to 1023 MiB"),
            ("[[board]]\nname='c'", "12: missing field `variant`"),
            ("[[bord]]", "12: unknown field `bord`, expected `board` or `link`"),
        ] {
            let expected = if why.is_empty() { Ok(()) } else { Err(format!("a.toml:{why}")) };
            assert_eq!(checked(&format!("{pair}{added}\n")), expected);
        }
        assert_eq!(checked(""), Err("a.toml: there is no [[board]]".into()));
        let alone = "[[board]]\nname='a'\nvariant='v'\n";
        assert_eq!(
            checked(alone),
            Err("a.toml:2: the first board, a, needs a firmware".into())
        );
    }
}
