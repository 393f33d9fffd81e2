//! How many links there are.

use super::Links;

impl Links {
    /// All, and those whose other board answers.
    pub fn counts(&self) -> (u32, u32) {
        let links = self.all.iter().flatten();
        links.fold((0, 0), |(all, up), link| {
            (all + 1, up + u32::from(link.end.borrow().is_up()))
        })
    }
}
