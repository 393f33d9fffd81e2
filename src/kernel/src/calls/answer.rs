//! Reads the comms core's answers about subkernels and distributed traces.

use kairos_intercore::{Kind, Shared};
use kairos_proto::intercore::{Concerned, Outcome};
use kairos_proto::layout::Layout;
use kairos_proto::rpc::Source;

use crate::comms::{next_frame, read_some, receiving, report_fmt};
use crate::owned::Owned;

/// Unread bytes of the answer's last part.
static REST: Owned<u32> = Owned::new(0);

/// Clears the state, before a kernel and in a restart.
pub fn reset() {
    REST.set(0);
}

/// Begins a wait for other boards, which lasts until the first frame of the answer.
pub fn expect() {
    Shared::get().await_boards(true);
}

/// Reads bytes of an answer, which may span several frames.
fn read(buffer: &mut [u8]) {
    receiving(|receiver| {
        let mut done = 0;
        while done < buffer.len() {
            if receiver.remaining() == 0 {
                expect();
                let frame = next_frame(receiver);
                Shared::get().await_boards(false);
                match frame.kind {
                    Kind::SubkernelAnswer => {}
                    kind => report_fmt(format_args!("{kind:?} instead of an answer about a subkernel")),
                }
            }
            done += read_some(receiver, &mut buffer[done..]);
        }
    });
}

/// Reads the outcome, with which an answer begins; `None` if it is unknown.
pub fn outcome() -> Option<Outcome> {
    let mut bytes = [0];
    read(&mut bytes);
    Outcome::try_from(bytes[0]).ok()
}

/// Reads the record that belongs to the outcome.
pub fn record<L: Layout>() -> L {
    let mut bytes = L::Bytes::default();
    read(bytes.as_mut());
    L::from_bytes(&bytes)
}

/// Reads the destination of the board that a failure concerns.
pub fn board() -> u8 {
    record::<Concerned>().board
}

/// Begins the last part of an answer, a report or values, of this length. It must be taken or
/// skipped.
pub fn begin(bytes: u32) {
    REST.set(bytes);
}

/// Reads the whole last part.
pub fn take(place: &mut [u8]) {
    read(place);
    REST.set(0);
}

/// Skips the unread rest of the last part.
pub fn skip() {
    let mut rest = REST.replace(0) as usize;
    let mut dropped = [0; 64];
    while rest > 0 {
        let count = rest.min(dropped.len());
        read(&mut dropped[..count]);
        rest -= count;
    }
}

/// The unread rest of the last part, as a source of values.
pub struct Rest;

impl Source for Rest {
    type Error = &'static str;

    fn read(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error> {
        let rest = REST.get().checked_sub(buffer.len() as u32);
        let rest = rest.ok_or("it is too short for its types")?;
        REST.set(rest);
        read(buffer);
        Ok(())
    }
}
