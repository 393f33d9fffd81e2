//! The key `routing_table` (wire protocols, section 6): the routes to the boards according to
//! ARTIQ's tools. Here the gateware numbers the boards by their place in the tree, so a table
//! either agrees with that or is wrong.

use core::fmt;

use kairos_contracts::rtio::BOARDS;

/// Rows, one for each destination, and bytes per row: the link, from 1 on, by which each board on
/// the way forwards, terminated by 0.
const ROWS: usize = 256;
const RANKS: usize = 32;
/// Size of a table in bytes.
pub const TABLE: usize = ROWS * RANKS;
/// In place of a link: the board is unreachable.
const NONE: u8 = 0xff;
/// Most links of a board, and most boards on a way.
pub const LINKS: usize = BOARDS - 1;

/// The route from the board with the network to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The first link, from 1 on, or 0 for this board itself.
    pub link: u8,
    /// Whether the other board is at the end of that link, or is this one.
    pub is_near: bool,
}

/// Errors of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Wrong length in bytes.
    Length(usize),
    /// The first destination with another route, its actual route, and the number of such
    /// destinations.
    Ways {
        destination: u8,
        way: Option<Way>,
        count: usize,
    },
    /// The first destination whose route begins correctly but does not end: too long, like a loop,
    /// or through links that no board has.
    Endless(u8),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (destination, way, count) = match self {
            Wrong::Length(bytes) => return write!(f, "it has {bytes} bytes, not {TABLE}"),
            Wrong::Endless(destination) => return write!(f, "the route to destination {destination} ends at no board"),
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
            count => write!(f, ", and {} others differ, too", count - 1),
        }
    }
}

/// Compares a table with the actual routes, as far as the board with the network knows them.
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
        // An unreachable board has no route
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

    /// Boards 1 and 3 are neighbours, 2 is behind 1.
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
        assert_eq!(say(&[]), "destination 0 is this board, and 3 others differ, too");
        assert_eq!(
            say(&[(0, &[0]), (1, &[1, 1, 0]), (2, &[1, 1, 0]), (3, &[2, 0])]),
            "destination 1 is at the end of link 1"
        );
        for beyond in [&[1, 2, 1, 2, 1, 2, 1, 2, 0][..], &[1, 8, 0], &[1, 2, NONE]] {
            assert_eq!(
                say(&[(0, &[0]), (1, &[1, 0]), (2, beyond), (3, &[2, 0])]),
                "the route to destination 2 ends at no board"
            );
        }
    }
}
