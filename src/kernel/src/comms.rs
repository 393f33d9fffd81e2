//! Communication with the comms core: the ends of the rings, its doorbell, and the final report
//! of a core that cannot continue.

use core::fmt::Write;
use core::panic::PanicInfo;

use heapless::String;
use kairos_chip::gic;
use kairos_intercore::{Frame, Kind, Message, Receiver, Sender, Shared, REASON_MAX};
use kairos_proto::layout::Layout;
use kairos_proto::rpc::Sink;

use crate::owned::BorrowCell;
use crate::timer::{self, mask_interrupts, unmask_interrupts};

/// Longest text of [`report`].
pub type Text = String<REASON_MAX>;

/// The ends of the rings, replaced in each restart's handshake.
static SENDER: BorrowCell<Sender<'static>> = BorrowCell::absent();
static RECEIVER: BorrowCell<Receiver<'static>> = BorrowCell::absent();

/// Signals the comms core that a ring contains data.
fn bell() {
    gic::send_sgi(0, kairos_intercore::SGI_DATA);
}

/// Drops the previous ends of the rings, in a restart.
pub fn drop_ends() {
    SENDER.remove();
    RECEIVER.remove();
}

/// Completes a restart: waits until the comms core has emptied the rings.
pub fn begin() {
    // SAFETY: core 1, which has dropped the previous ends: putting others would panic.
    let (sender, receiver) = unsafe { Shared::get().kernel_enter(bell, timer::sleep_masked) };
    SENDER.put(sender);
    RECEIVER.put(receiver);
}

/// Lends the sending end, valid until the next restart.
pub fn sending<R>(action: impl FnOnce(&mut Sender<'static>) -> R) -> R {
    SENDER.with(action)
}

/// Lends the receiving end.
pub fn receiving<R>(action: impl FnOnce(&mut Receiver<'static>) -> R) -> R {
    RECEIVER.with(action)
}

/// Sends a message. Not inlined: the image has little room left.
#[inline(never)]
pub fn send(kind: Kind, payload: &[u8]) {
    sending(|sender| sender.send(kind, payload, timer::sleep_briefly));
}

/// Sends a message in the pieces that `write` produces.
pub fn send_pieces<R>(kind: Kind, write: impl FnOnce(&mut Pieces<'_>) -> R) -> R {
    sending(|sender| {
        let mut pieces = Pieces(sender.message(kind, timer::sleep_briefly));
        let result = write(&mut pieces);
        pieces.0.finish();
        result
    })
}

/// A message being sent.
pub struct Pieces<'s>(Message<'s, 'static, fn()>);

impl Sink for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
}

/// Whether a message can be sent: no other one is being sent, and the ring does not appear to be
/// overwritten.
pub fn intact() -> bool {
    SENDER.try_with(|sender| sender.intact()).unwrap_or(false)
}

/// Sleeps until a frame arrives.
pub fn next_frame(receiver: &mut Receiver<'static>) -> Frame {
    // First checked without masking interrupts: the frame may have arrived already.
    let mut arrived = receiver.next_frame();
    if arrived == Ok(None) {
        timer::sleep_until(|| {
            arrived = receiver.next_frame();
            arrived != Ok(None)
        });
    }
    match arrived {
        Ok(Some(frame)) => frame,
        _ => overwritten(),
    }
}

/// Reads available bytes of the frame into `buffer`; returns their number.
pub fn read_some(receiver: &mut Receiver<'_>, buffer: &mut [u8]) -> usize {
    match receiver.read(buffer) {
        Ok(length) => length,
        Err(_) => overwritten(),
    }
}

/// Reads the record that is the payload of the current frame; `None` if that is too short.
pub fn record<L: Layout>(receiver: &mut Receiver<'_>) -> Option<L> {
    let mut bytes = L::Bytes::default();
    let length = read_some(receiver, bytes.as_mut());
    (length == L::LENGTH).then(|| L::from_bytes(&bytes))
}

fn overwritten() -> ! {
    report("the memory between the cores has been overwritten")
}

/// Sends `text` and waits to be restarted: the session ends.
pub fn report(text: &str) -> ! {
    mask_interrupts();
    Shared::get().kernel_faulted(text);
    bell();
    loop {
        unmask_interrupts();
        gic::wait_for_interrupt();
    }
}

/// Like [`report`], for a formatted text.
pub fn report_fmt(arguments: core::fmt::Arguments<'_>) -> ! {
    let mut text = Text::new();
    // Text that does not fit is truncated; the beginning matters most.
    let _ = text.write_fmt(arguments);
    report(&text)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    report_fmt(format_args!("kernel core firmware: {info}"))
}
