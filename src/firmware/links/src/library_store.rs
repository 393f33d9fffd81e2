//! Libraries of subkernels, stored consecutively in one memory area: on the board with the network
//! as the host has sent them, on a satellite as received from there. Satellites store DMA traces in
//! the same way.

use heapless::Vec;
use kairos_proto::kernel_message::KernelMessage;
use kairos_proto::link::DESTINATION_MASTER;

/// Most libraries kept.
pub const LIBRARIES: usize = 256;

/// The kernel core reads words of a library.
const ALIGNMENT: usize = 8;

/// A library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library {
    pub number: u32,
    pub destination: u8,
    /// Number of the stream on which it has been sent to its board; 0 if none.
    pub sent: u32,
    pub state: SubkernelState,
    /// The board whose kernel has started it.
    pub starter: u8,
    start: usize,
    length: usize,
    filled: usize,
}

/// State of a subkernel, as known to the board that has started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubkernelState {
    Idle,
    /// Its board has been requested to run it, and has not answered.
    Starting,
    Running,
    /// It was running when its board was requested to run it again, and may have ended before.
    Restarting,
    /// It was running when its board was lost.
    Lost,
}

impl SubkernelState {
    /// Whether it runs, as far as is known, or will run.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Restarting)
    }

    /// Records that its board is requested to run it.
    pub fn start(&mut self) {
        *self = match self.is_running() {
            true => Self::Restarting,
            false => Self::Starting,
        };
    }

    /// Records a message of its board about it.
    pub fn update(&mut self, kind: KernelMessage) {
        *self = match (kind, *self) {
            (KernelMessage::Ready, Self::Starting | Self::Restarting) => Self::Running,
            (KernelMessage::Busy, Self::Starting) => Self::Idle,
            (KernelMessage::Busy, Self::Restarting) => Self::Running,
            // The answer to the second start is still to come.
            (KernelMessage::Finished | KernelMessage::Exception | KernelMessage::Refused, Self::Restarting) => {
                Self::Starting
            }
            (KernelMessage::Finished | KernelMessage::Exception | KernelMessage::Refused, _) => Self::Idle,
            (_, state) => state,
        };
    }
}

/// There is no space for another library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A store of at most `MOST` libraries.
pub struct LibraryStore<'m, const MOST: usize = LIBRARIES> {
    memory: &'m mut [u8],
    alignment: usize,
    list: Vec<Library, MOST>,
}

impl<'m, const MOST: usize> LibraryStore<'m, MOST> {
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self {
            memory,
            alignment: ALIGNMENT,
            list: Vec::new(),
        }
    }

    /// Like [`Self::new`], for contents that begin at multiples of `alignment`, as `memory` must.
    pub fn aligned(memory: &'m mut [u8], alignment: usize) -> Self {
        Self {
            alignment,
            ..Self::new(memory)
        }
    }

    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Reserves space for a library, replacing any with the same number.
    ///
    /// # Errors
    /// [`Full`].
    pub fn begin(&mut self, number: u32, destination: u8, length: usize) -> Result<(), Full> {
        self.remove(number);
        let start = self
            .list
            .last()
            .map_or(0, |last| (last.start + last.length).next_multiple_of(self.alignment));
        if self.list.is_full() || length > self.memory.len().saturating_sub(start) {
            return Err(Full);
        }
        let library = Library {
            number,
            destination,
            sent: 0,
            state: SubkernelState::Idle,
            starter: DESTINATION_MASTER,
            start,
            length,
            filled: 0,
        };
        self.list.push(library).map_err(|_| Full)
    }

    /// The space for the next bytes of the library begun last.
    pub fn space(&mut self) -> &mut [u8] {
        match self.list.last() {
            Some(last) => &mut self.memory[last.start + last.filled..last.start + last.length],
            None => &mut [],
        }
    }

    /// Records that `count` bytes have been stored there.
    pub fn filled(&mut self, count: usize) {
        if let Some(last) = self.list.last_mut() {
            last.filled = (last.filled + count).min(last.length);
        }
    }

    /// Stores a complete library. An identical one is left unchanged.
    ///
    /// # Errors
    /// [`Full`].
    pub fn keep(&mut self, number: u32, destination: u8, bytes: &[u8]) -> Result<(), Full> {
        let known = self.find(number);
        if known.is_some_and(|known| known.destination == destination) && self.bytes(number) == Some(bytes) {
            return Ok(());
        }
        self.begin(number, destination, bytes.len())?;
        self.space().copy_from_slice(bytes);
        self.filled(bytes.len());
        Ok(())
    }

    /// The library with this number.
    pub fn find(&self, number: u32) -> Option<&Library> {
        self.list.iter().find(|library| library.number == number)
    }

    pub fn find_mut(&mut self, number: u32) -> Option<&mut Library> {
        self.list.iter_mut().find(|library| library.number == number)
    }

    /// A library that was running on a board that was lost.
    pub fn any_lost(&self) -> Option<&Library> {
        self.list.iter().find(|library| library.state == SubkernelState::Lost)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Library> {
        self.list.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Library> {
        self.list.iter_mut()
    }

    /// Its bytes, once complete.
    pub fn bytes(&self, number: u32) -> Option<&[u8]> {
        let library = self.find(number).filter(|library| library.filled == library.length)?;
        Some(&self.memory[library.start..library.start + library.length])
    }

    /// Removes a library.
    pub fn remove(&mut self, number: u32) {
        let Some(index) = self.list.iter().position(|library| library.number == number) else {
            return;
        };
        let removed = self.list.remove(index);
        let gap = removed.length.next_multiple_of(self.alignment);
        for library in &mut self.list[index..] {
            let to = library.start - gap;
            self.memory
                .copy_within(library.start..library.start + library.filled, to);
            library.start = to;
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;

    use super::*;

    #[test]
    fn library_with_known_number_is_replaced() {
        let mut memory = vec![0; 40];
        let mut libraries = LibraryStore::<LIBRARIES>::new(&mut memory);
        libraries.keep(1, 2, b"first").unwrap();
        libraries.keep(2, 2, b"second").unwrap();
        libraries.find_mut(2).unwrap().sent = 5;
        libraries.keep(3, 1, b"third").unwrap();
        // An identical library stays in place.
        libraries.keep(2, 2, b"second").unwrap();
        assert_eq!(libraries.find(2).unwrap().sent, 5);
        libraries.keep(1, 2, b"another").unwrap();
        assert_eq!(libraries.bytes(1), Some(&b"another"[..]));
        assert_eq!(libraries.bytes(2), Some(&b"second"[..]));
        assert_eq!(libraries.bytes(3), Some(&b"third"[..]));
        libraries.keep(2, 2, b"seconds").unwrap();
        assert_eq!(libraries.find(2).unwrap().sent, 0);
        assert_eq!(libraries.keep(4, 1, &[0; 40]), Err(Full));
        assert_eq!(libraries.bytes(4), None);
        assert_eq!(libraries.bytes(3), Some(&b"third"[..]));
    }

    /// Whether a subkernel still counts as running after these messages of its board.
    fn runs_after(starts: usize, messages: &[KernelMessage]) -> bool {
        let mut state = SubkernelState::Idle;
        (0..starts).for_each(|_| state.start());
        messages.iter().for_each(|kind| state.update(*kind));
        state.is_running()
    }

    #[test]
    fn second_start_does_not_end_a_running_subkernel() {
        use KernelMessage::{Busy, Exception, Finished, Ready, Refused};
        assert!(runs_after(1, &[Ready]) && !runs_after(1, &[Busy]) && !runs_after(1, &[Refused]));
        assert!(!runs_after(1, &[Ready, Finished]) && !runs_after(1, &[Ready, Exception]));
        assert!(runs_after(2, &[Ready, Busy]) && !runs_after(2, &[Ready, Busy, Finished]));
        // It ended while it was requested to start again.
        assert!(runs_after(2, &[Finished, Ready]) && !runs_after(2, &[Finished, Ready, Finished]));
        assert!(!runs_after(2, &[Finished, Refused]) && !runs_after(2, &[Exception, Busy]));
    }

    #[test]
    fn full_store_rejects_another_library() {
        let mut memory = vec![0; 80];
        let mut traces = LibraryStore::<3>::new(&mut memory);
        for number in 0..3 {
            traces.keep(number, 1, b"trace").unwrap();
        }
        assert_eq!(traces.begin(3, 1, 5), Err(Full));
        assert_eq!((traces.bytes(2), traces.bytes(3)), (Some(&b"trace"[..]), None));
        traces.remove(0);
        traces.keep(3, 1, b"other").unwrap();
        assert_eq!(traces.bytes(3), Some(&b"other"[..]));
    }

    #[test]
    fn subkernel_of_lost_board_is_found() {
        let mut memory = vec![0; 40];
        let mut libraries = LibraryStore::<LIBRARIES>::new(&mut memory);
        libraries.keep(1, 2, b"first").unwrap();
        libraries.keep(2, 3, b"second").unwrap();
        assert_eq!(libraries.any_lost(), None);
        libraries.find_mut(1).unwrap().state = SubkernelState::Lost;
        assert_eq!(libraries.any_lost().map(|library| library.destination), Some(2));
    }

    #[test]
    fn incomplete_library_is_not_returned() {
        let mut memory = vec![0; 40];
        let mut libraries = LibraryStore::<LIBRARIES>::new(&mut memory);
        libraries.begin(1, 0, 6).unwrap();
        libraries.space()[..3].copy_from_slice(b"abc");
        libraries.filled(3);
        assert_eq!(libraries.bytes(1), None);
        libraries.space().copy_from_slice(b"def");
        libraries.filled(3);
        assert_eq!(libraries.bytes(1), Some(&b"abcdef"[..]));
    }
}
