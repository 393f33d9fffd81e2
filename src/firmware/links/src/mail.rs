//! Orders received from other boards that wait to be processed, in one memory area.

use kairos_proto::order::Head;

/// Bytes before a payload: the head, the line it came by, the number of payload bytes received.
const PREFIX: usize = 12 + 8;

/// Received orders, oldest first.
pub struct Mail<'m> {
    memory: &'m mut [u8],
    used: usize,
}

/// Position of an order, valid until one is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(usize);

impl<'m> Mail<'m> {
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self { memory, used: 0 }
    }

    /// Longest payload that is accepted; half of all room, so that one order does not keep all
    /// others out.
    pub fn longest(&self) -> usize {
        self.memory.len() / 2 - PREFIX
    }

    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Whether there is room for an order now.
    pub fn has_room(&self, head: &Head) -> bool {
        self.used + PREFIX + head.length as usize <= self.memory.len()
    }

    /// Reserves room for an order that arrives on `line`; false if there is none yet.
    pub fn begin(&mut self, line: u8, head: &Head) -> bool {
        if !self.has_room(head) {
            return false;
        }
        let end = self.used + PREFIX + head.length as usize;
        let place = &mut self.memory[self.used..end];
        place[..12].copy_from_slice(&head.encode());
        place[12..16].copy_from_slice(&u32::from(line).to_le_bytes());
        place[16..PREFIX].copy_from_slice(&0u32.to_le_bytes());
        self.used = end;
        true
    }

    /// The space for the next payload bytes from `line`; empty if the payload is complete, or none
    /// has begun.
    pub fn room(&mut self, line: u8) -> &mut [u8] {
        match self.open(line) {
            Some((place, length)) => {
                let filled = self.word(place + 16);
                &mut self.memory[place + PREFIX + filled..place + PREFIX + length]
            }
            None => &mut [],
        }
    }

    /// Records that `count` bytes have been stored there.
    pub fn filled(&mut self, line: u8, count: usize) {
        if let Some((place, _)) = self.open(line) {
            let filled = (self.word(place + 16) + count) as u32;
            self.memory[place + 16..place + PREFIX].copy_from_slice(&filled.to_le_bytes());
        }
    }

    /// Discards an incomplete order of a line that is lost.
    pub fn lose(&mut self, line: u8) {
        if let Some((place, _)) = self.open(line) {
            self.remove(Place(place));
        }
    }

    /// The oldest order that is complete and wanted.
    pub fn find(&self, mut wanted: impl FnMut(&Head) -> bool) -> Option<(Place, Head)> {
        self.places().find_map(|(place, length)| {
            let head = self.head(place)?;
            (self.word(place + 16) == length && wanted(&head)).then_some((Place(place), head))
        })
    }

    /// The line by which it was received.
    pub fn line(&self, place: Place) -> u8 {
        self.word(place.0 + 12) as u8
    }

    /// The payload of an order found by [`Self::find`].
    pub fn payload(&self, place: Place) -> &[u8] {
        let start = place.0 + PREFIX;
        &self.memory[start..start + self.length(place.0)]
    }

    /// Removes a processed order. All other places become invalid.
    pub fn remove(&mut self, place: Place) {
        let end = place.0 + PREFIX + self.length(place.0);
        self.memory.copy_within(end..self.used, place.0);
        self.used -= end - place.0;
    }

    /// Removes all complete orders that are not wanted.
    pub fn retain(&mut self, wanted: impl Fn(&Head) -> bool) {
        while let Some((place, _)) = self.find(|head| !wanted(head)) {
            self.remove(place);
        }
    }

    /// Removes unwanted complete orders before a place.
    pub fn remove_before(&mut self, place: Place, unwanted: impl Fn(&Head) -> bool) {
        let mut end = place.0;
        while let Some((older, _)) = self.find(|head| unwanted(head)).filter(|(older, _)| older.0 < end) {
            end -= PREFIX + self.length(older.0);
            self.remove(older);
        }
    }

    fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut next = 0;
        core::iter::from_fn(move || {
            let place = next;
            if place >= self.used {
                return None;
            }
            let length = self.length(place);
            next = place + PREFIX + length;
            Some((place, length))
        })
    }

    /// The incomplete order of a line: its place and the length of its payload.
    fn open(&self, line: u8) -> Option<(usize, usize)> {
        let mut places = self.places();
        places.find(|&(place, length)| self.word(place + 12) == usize::from(line) && self.word(place + 16) < length)
    }

    fn head(&self, place: usize) -> Option<Head> {
        Head::decode(self.memory[place..].first_chunk()?)
    }

    fn length(&self, place: usize) -> usize {
        self.word(place + 8)
    }

    fn word(&self, at: usize) -> usize {
        let bytes = self.memory[at..].first_chunk();
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use kairos_proto::order::Order;
    use std::vec;

    use super::*;

    fn message(number: u32, length: u32) -> Head {
        Head {
            order: Order::Message,
            board: 1,
            number,
            length,
        }
    }

    fn put(mail: &mut Mail, line: u8, bytes: &[u8]) {
        mail.room(line)[..bytes.len()].copy_from_slice(bytes);
        mail.filled(line, bytes.len());
    }

    #[test]
    fn what_is_complete_is_found_in_its_order() {
        let mut memory = vec![0; 200];
        let mut mail = Mail::new(&mut memory);
        assert!(mail.begin(1, &message(7, 5)));
        put(&mut mail, 1, b"ab");
        // Another line's order is interleaved.
        assert!(mail.begin(2, &message(8, 3)));
        put(&mut mail, 2, b"xyz");
        assert!(mail.begin(2, &Head::new(Order::Finished, 9)));
        assert_eq!(mail.room(2), b"");
        assert_eq!(mail.find(|head| head.number == 7), None);
        let (place, head) = mail.find(|_| true).unwrap();
        assert_eq!((head, mail.payload(place)), (message(8, 3), &b"xyz"[..]));
        assert_eq!(mail.line(place), 2);
        put(&mut mail, 1, b"cde");
        let (place, _) = mail.find(|_| true).unwrap();
        assert_eq!(mail.payload(place), b"abcde");
        mail.remove(place);
        let numbers = |mail: &Mail, number| mail.find(|head| head.number == number).is_some();
        assert_eq!([7, 8, 9].map(|number| numbers(&mail, number)), [false, true, true]);
        mail.retain(|head| head.order == Order::Finished);
        assert_eq!([7, 8, 9].map(|number| numbers(&mail, number)), [false, false, true]);
    }

    #[test]
    fn what_is_older_than_another_one_goes() {
        let mut memory = vec![0; 200];
        let mut mail = Mail::new(&mut memory);
        for number in [7, 8, 7, 9, 7] {
            assert!(mail.begin(1, &Head::new(Order::Finished, number)));
        }
        let (place, _) = mail.find(|head| head.number == 9).unwrap();
        mail.remove(place);
        mail.remove_before(place, |head| head.number == 7);
        let mut left = vec![];
        while let Some((place, head)) = mail.find(|_| true) {
            mail.remove(place);
            left.push(head.number);
        }
        assert_eq!(left, [8, 7]);
    }

    #[test]
    fn what_has_no_room_waits_and_what_is_cut_off_is_forgotten() {
        let mut memory = vec![0; 2 * PREFIX + 10];
        let mut mail = Mail::new(&mut memory);
        assert!(!mail.has_room(&message(1, 2 * PREFIX as u32)) && !mail.begin(1, &message(1, 2 * PREFIX as u32)));
        assert!(mail.begin(1, &message(1, 10)));
        put(&mut mail, 1, b"abc");
        assert!(mail.begin(2, &message(2, 0)));
        assert!(!mail.begin(2, &message(3, 0)));
        mail.lose(1);
        assert!(mail.begin(2, &message(3, 10)));
        assert_eq!(mail.find(|_| true).unwrap().1.number, 2);
        mail.lose(1);
        mail.clear();
        assert_eq!(mail.find(|_| true), None);
    }
}
