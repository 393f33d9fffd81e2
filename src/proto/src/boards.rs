//! The loader's table of boards (`docs/interfaces.md`, section 1): the board of a boot image, and
//! the properties of all boards.
//!
//! [`MARKER`], the chosen board's index and the number of boards as u32, then for each its name and
//! what its description assumes. The table is anywhere in the loader, which reads it in place. The
//! program that makes an image searches for it, and writes the index.

use core::str;

use crate::bytes::words;

pub use kairos_contracts::boot::{ASSUMED, MARKER, NAME};

/// Size of an entry in bytes.
const BOARD: usize = NAME + ASSUMED;

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board<'a> {
    pub name: &'a str,
    /// Properties that no public source confirms; empty if there are none.
    pub assumed: &'a str,
}

/// The table in a loader.
#[derive(Clone, Copy, Debug)]
pub struct Boards<'a> {
    at: usize,
    chosen: u32,
    entries: &'a [[u8; BOARD]],
}

fn text(field: &[u8]) -> Option<&str> {
    str::from_utf8(field.split(|byte| *byte == 0).next()?).ok()
}

impl<'a> Boards<'a> {
    /// Finds the table in the bytes of a loader. `None` if there is not exactly one, or it is
    /// invalid.
    pub fn find(loader: &'a [u8]) -> Option<Self> {
        let mut places = (0..loader.len()).filter(|at| loader[*at..].starts_with(MARKER));
        let (at, other) = (places.next()?, places.next());
        let (numbers, rest) = loader[at + MARKER.len()..].split_first_chunk::<8>()?;
        let [chosen, count] = words(numbers);
        let entries = rest.as_chunks::<BOARD>().0.get(..count as usize)?;
        let found = Self { at, chosen, entries };
        let sound = (chosen as usize) < entries.len() && found.iter().count() == entries.len();
        (other.is_none() && sound).then_some(found)
    }

    /// Index of the board that the loader is for.
    pub fn chosen(&self) -> usize {
        self.chosen as usize
    }

    /// All boards, the default first.
    pub fn iter(&self) -> impl Iterator<Item = Board<'a>> {
        self.entries.iter().filter_map(|entry| {
            let (name, assumed) = entry.split_at(NAME);
            let (name, assumed) = (text(name)?, text(assumed)?);
            Some(Board { name, assumed })
        })
    }

    /// Returns the offset in the loader of the chosen board's index, and the bytes that select
    /// another one. `None` if there is no such board.
    pub fn choose(&self, index: usize) -> Option<(usize, [u8; 4])> {
        (index < self.entries.len()).then_some((self.at + MARKER.len(), (index as u32).to_le_bytes()))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn table(chosen: u32, boards: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut bytes = MARKER.to_vec();
        bytes.extend(chosen.to_le_bytes());
        bytes.extend((boards.len() as u32).to_le_bytes());
        for (name, assumed) in boards {
            let at = bytes.len();
            bytes.extend(*name);
            bytes.resize(at + NAME, 0);
            bytes.extend(*assumed);
            bytes.resize(at + BOARD, 0);
        }
        bytes
    }

    #[test]
    fn board_table_is_found_and_one_board_selected() {
        let mut loader = std::vec![9; 33];
        loader.extend(table(
            1,
            &[(b"one", b""), (b"two", b"its clock"), (b"a name as long!!", b"")],
        ));
        loader.extend([1; 5]);
        let found = Boards::find(&loader).unwrap();
        assert_eq!(found.chosen(), 1);
        let names: Vec<_> = found.iter().map(|board| (board.name, board.assumed)).collect();
        assert_eq!(names, [("one", ""), ("two", "its clock"), ("a name as long!!", "")]);
        assert_eq!(found.choose(3), None);
        let (at, index) = found.choose(2).unwrap();
        loader[at..at + 4].copy_from_slice(&index);
        assert_eq!(Boards::find(&loader).unwrap().chosen(), 2);
    }

    #[test]
    fn missing_board_table_is_not_found() {
        let good = table(0, &[(b"one", b"")]);
        let none = |loader: &[u8]| assert!(Boards::find(loader).is_none());
        none(b"");
        none(&good[..good.len() - 1]);
        none(&[&good[..], &good].concat());
        none(&table(1, &[(b"one", b"")]));
        none(&table(0, &[]));
        none(&table(0, &[(b"\xff", b"")]));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_after_marker_never_panic(rest in proptest::collection::vec(any::<u8>(), 0..400), count in 0u8..4) {
            let mut loader = MARKER.to_vec();
            loader.extend(rest);
            if let Some(byte) = loader.get_mut(MARKER.len() + 4) {
                *byte = count;
            }
            if let Some(found) = Boards::find(&loader) {
                prop_assert!(found.chosen() < found.iter().count());
            }
        }
    }
}
