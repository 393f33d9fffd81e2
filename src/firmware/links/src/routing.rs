//! The key `routing_table` (wire protocols, section 6): the routes to the boards according to
//! ARTIQ's tools. Here the gateware numbers the boards by their position in the tree, so a table
//! either agrees with that or is wrong.

use core::fmt;

use kairos_contracts::rtio::BOARDS;

/// Rows, one for each destination, and bytes per row: the link, from 1 on, by which each board on
/// the way forwards, terminated by 0.
const ROWS: usize = 256;
const HOPS: usize = 32;
/// Size of a table in bytes.
pub const TABLE: usize = ROWS * HOPS;
/// In place of a link: the board is unreachable.
const NONE: u8 = 0xff;
/// Most links of a board, and most boards on a route.
pub const LINKS: usize = BOARDS - 1;

/// The route from the board with the network to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The first link, from 1 on, or 0 for this board itself.
    pub link: u8,
    /// Whether the other board is at the end of that link, or is this one.
    pub is_near: bool,
}

/// Errors of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// Another length in bytes than a table has.
    Length(usize),
    /// The first destination with another route, its actual route, and the number of such
    /// destinations.
    Routes {
        destination: u8,
        route: Option<Route>,
        count: usize,
    },
    /// The first destination whose route begins correctly but does not end: too long, like a loop,
    /// or through links that no board has.
    NoEnd(u8),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (destination, route, count) = match self {
            TableError::Length(bytes) => return write!(f, "it has {bytes} bytes, not {TABLE}"),
            TableError::NoEnd(destination) => {
                return write!(f, "the route to destination {destination} ends at no board")
            }
            TableError::Routes {
                destination,
                route,
                count,
            } => (destination, route, count),
        };
        write!(f, "destination {destination} ")?;
        match route {
            None => f.write_str("does not exist")?,
            Some(Route { link: 0, .. }) => f.write_str("is this board")?,
            Some(Route { link, is_near: true }) => write!(f, "is at the end of link {link}")?,
            Some(Route { link, .. }) => write!(f, "is behind the board at the end of link {link}")?,
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
/// [`TableError`].
pub fn check(table: &[u8], route: impl Fn(u8) -> Option<Route>) -> Result<(), TableError> {
    if table.len() != TABLE {
        return Err(TableError::Length(table.len()));
    }
    let row = |destination: u8| &table[usize::from(destination) * HOPS..][..HOPS];
    let is_right = |destination: u8| {
        let row = row(destination);
        match route(destination) {
            None => row[0] == NONE,
            Some(Route { link: 0, .. }) => row[0] == 0,
            Some(Route { link, is_near }) => row[0] == link && (row[1] == 0) == is_near && row[1] != NONE,
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
            .map_or(Ok(()), |destination| Err(TableError::NoEnd(destination))),
        Some(destination) => Err(TableError::Routes {
            destination,
            route: route(destination),
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
    fn route(destination: u8) -> Option<Route> {
        let (link, is_near) = [(0, true), (1, true), (1, false), (2, true)]
            .get(usize::from(destination))
            .copied()?;
        Some(Route { link, is_near })
    }

    fn table(rows: &[(u8, &[u8])]) -> vec::Vec<u8> {
        let mut table = vec![NONE; TABLE];
        for (destination, hops) in rows {
            table[usize::from(*destination) * HOPS..][..hops.len()].copy_from_slice(hops);
        }
        table
    }

    #[test]
    fn table_of_the_actual_tree_matches() {
        let right = table(&[(0, &[0]), (1, &[1, 0]), (2, &[1, 2, 0]), (3, &[2, 0])]);
        assert_eq!(check(&right, route), Ok(()));
        assert_eq!(check(&right[1..], route), Err(TableError::Length(TABLE - 1)));
    }

    #[test]
    fn table_of_another_tree_is_rejected_with_the_first_difference() {
        let say = |rows: &[(u8, &[u8])]| check(&table(rows), route).unwrap_err().to_string();
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
