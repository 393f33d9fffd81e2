//! The key `routing_table` (wire protocols, section 6): by which links ARTIQ's tools say that
//! boards are reached. Here the gateware numbers the boards as they stand in the tree, so a table
//! agrees with that or is wrong.

use core::fmt;

use kairos_contracts::rtio::BOARDS;

/// Rows, one for each destination, and bytes of each: the link, from 1 on, by which each board on
/// the way passes on, 0 at the end.
const ROWS: usize = 256;
const RANKS: usize = 32;
/// Bytes of a table.
pub const TABLE: usize = ROWS * RANKS;
/// In place of a link: the board is not reached.
const NONE: u8 = 0xff;
/// Links that a board may have, and boards that a way may pass before it ends.
pub const LINKS: usize = BOARDS - 1;

/// How the board with the network reaches another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Its link, from 1 on, or 0 for itself.
    pub link: u8,
    /// The other one is at the end of that link, or is this one.
    pub is_near: bool,
}

/// What is wrong with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// So many bytes.
    Length(usize),
    /// The first destination that is reached otherwise, how, and how many there are.
    Ways {
        destination: u8,
        way: Option<Way>,
        count: usize,
    },
    /// The first destination whose way begins right, but comes to no end: too long, as a loop is,
    /// or by links that no board has.
    Endless(u8),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (destination, way, count) = match self {
            Wrong::Length(bytes) => return write!(f, "it has {bytes} bytes, not {TABLE}"),
            Wrong::Endless(destination) => return write!(f, "the way to destination {destination} ends at no board"),
            Wrong::Ways {
                destination,
                way,
                count,
            } => (destination, way, count),
        };
        write!(f, "destination {destination} ")?;
        match way {
            None => f.write_str("does not exist")?,
            Some(Way { link: 0, .. }) => f.write_str("is this board")?,
            Some(Way { link, is_near: true }) => write!(f, "is at the end of link {link}")?,
            Some(Way { link, .. }) => write!(f, "is behind the board at the end of link {link}")?,
        }
        match count {
            1 => Ok(()),
            count => write!(f, ", and {} others are elsewhere, too", count - 1),
        }
    }
}

/// Compares a table with the ways that there are, as far as the board with the network knows them.
///
/// # Errors
/// [`Wrong`].
pub fn check(table: &[u8], way: impl Fn(u8) -> Option<Way>) -> Result<(), Wrong> {
    if table.len() != TABLE {
        return Err(Wrong::Length(table.len()));
    }
    let row = |destination: u8| &table[usize::from(destination) * RANKS..][..RANKS];
    let is_right = |destination: u8| {
        let row = row(destination);
        match way(destination) {
            None => row[0] == NONE,
            Some(Way { link: 0, .. }) => row[0] == 0,
            Some(Way { link, is_near }) => row[0] == link && (row[1] == 0) == is_near && row[1] != NONE,
        }
    };
    let ends = |destination: u8| {
        let mut hops = row(destination).iter().take(LINKS + 1);
        // A board that is not reached has no way
        row(destination)[0] == NONE || hops.find(|hop| !(1..=LINKS).contains(&usize::from(**hop))) == Some(&0)
    };
    let mut wrong = (0..=u8::MAX).filter(|destination| !is_right(*destination));
    match wrong.next() {
        None => (0..=u8::MAX)
            .find(|destination| !ends(*destination))
            .map_or(Ok(()), |destination| Err(Wrong::Endless(destination))),
        Some(destination) => Err(Wrong::Ways {
            destination,
            way: way(destination),
            count: 1 + wrong.count(),
        }),
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;
    use std::vec;

    use super::*;

    /// Boards 1 and 3 at the ends of links, 2 behind 1.
    fn way(destination: u8) -> Option<Way> {
        let (link, is_near) = [(0, true), (1, true), (1, false), (2, true)]
            .get(usize::from(destination))
            .copied()?;
        Some(Way { link, is_near })
    }

    fn table(rows: &[(u8, &[u8])]) -> vec::Vec<u8> {
        let mut table = vec![NONE; TABLE];
        for (destination, hops) in rows {
            table[usize::from(*destination) * RANKS..][..hops.len()].copy_from_slice(hops);
        }
        table
    }

    #[test]
    fn a_table_of_the_tree_that_there_is() {
        let right = table(&[(0, &[0]), (1, &[1, 0]), (2, &[1, 2, 0]), (3, &[2, 0])]);
        assert_eq!(check(&right, way), Ok(()));
        assert_eq!(check(&right[1..], way), Err(Wrong::Length(TABLE - 1)));
    }

    #[test]
    fn a_table_of_another_tree() {
        let say = |rows: &[(u8, &[u8])]| check(&table(rows), way).unwrap_err().to_string();
        assert_eq!(
            say(&[(0, &[0]), (1, &[1, 0]), (2, &[2, 0]), (3, &[2, 0])]),
            "destination 2 is behind the board at the end of link 1"
        );
        assert_eq!(
            say(&[(0, &[0]), (1, &[1, 0]), (2, &[1, 1, 0]), (3, &[2, 0]), (9, &[3, 0])]),
            "destination 9 does not exist"
        );
        assert_eq!(say(&[]), "destination 0 is this board, and 3 others are elsewhere, too");
        assert_eq!(
            say(&[(0, &[0]), (1, &[1, 1, 0]), (2, &[1, 1, 0]), (3, &[2, 0])]),
            "destination 1 is at the end of link 1"
        );
        for beyond in [&[1, 2, 1, 2, 1, 2, 1, 2, 0][..], &[1, 8, 0], &[1, 2, NONE]] {
            assert_eq!(
                say(&[(0, &[0]), (1, &[1, 0]), (2, beyond), (3, &[2, 0])]),
                "the way to destination 2 ends at no board"
            );
        }
    }
}
