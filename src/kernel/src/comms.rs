//! Talking to the comms core: the ends of the channel, its bell, and the last text of a core that
//! cannot go on.

use core::fmt::Write;
use core::panic::PanicInfo;

use heapless::String;
use kairos_channel::{Frame, Kind, Message, Receiver, Sender, Shared, REASON_MAX};
use kairos_chip::gic;
use kairos_proto::rpc::Sink;

use crate::owned::Lent;
use crate::timer::{self, mask_interrupts, unmask_interrupts};

/// Longest text of [`report`].
pub type Text = String<REASON_MAX>;

/// The ends of the channel, from the handshake of a restart to the next one.
static SENDER: Lent<Sender<'static>> = Lent::absent();
static RECEIVER: Lent<Receiver<'static>> = Lent::absent();

/// Tells the comms core that there is something in the channel.
fn bell() {
    gic::send_sgi(0, kairos_channel::SGI_DATA);
}

/// In a restart: the ends of before are not used any more.
pub fn forget() {
    SENDER.forget();
    RECEIVER.forget();
}

/// Completes a restart: waits until the comms core has emptied the channel.
pub fn begin() {
    // SAFETY: core 1, which has forgotten the ends of before: putting other ones would panic.
    let (sender, receiver) = unsafe { Shared::get().kernel_enter(bell, timer::sleep_masked) };
    SENDER.put(sender);
    RECEIVER.put(receiver);
}

/// Lends the sending end, which outlives no restart.
pub fn sending<R>(action: impl FnOnce(&mut Sender<'static>) -> R) -> R {
    SENDER.with(action)
}

/// Lends the receiving end.
pub fn receiving<R>(action: impl FnOnce(&mut Receiver<'static>) -> R) -> R {
    RECEIVER.with(action)
}

/// Sends a message.
pub fn send(kind: Kind, payload: &[u8]) {
    sending(|sender| sender.send(kind, payload, timer::sleep_briefly));
}

/// Sends a message of as many pieces as `write` makes.
pub fn send_pieces<R>(kind: Kind, write: impl FnOnce(&mut Pieces<'_>) -> R) -> R {
    sending(|sender| {
        let mut pieces = Pieces(sender.message(kind, timer::sleep_briefly));
        let result = write(&mut pieces);
        pieces.0.finish();
        result
    })
}

/// A message under way.
pub struct Pieces<'s>(Message<'s, 'static, fn()>);

impl Sink for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
}

/// Whether a message can be sent: nobody is about to send one, and the channel has not been
/// overwritten, as far as can be seen.
pub fn intact() -> bool {
    SENDER.try_with(|sender| sender.intact()).unwrap_or(false)
}

/// Sleeps until a frame arrives.
pub fn next_frame(receiver: &mut Receiver<'static>) -> Frame {
    // Looked at first without masking interrupts: it may be there already.
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

/// Takes what has arrived of the frame, as much as fits in `buffer`; returns how much.
pub fn read_some(receiver: &mut Receiver<'_>, buffer: &mut [u8]) -> usize {
    match receiver.read(buffer) {
        Ok(length) => length,
        Err(_) => overwritten(),
    }
}

fn overwritten() -> ! {
    report("the channel between the cores has been overwritten")
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

/// As [`report`], for a formatted text.
pub fn report_fmt(arguments: core::fmt::Arguments<'_>) -> ! {
    let mut text = Text::new();
    // What does not fit is lost, and the beginning says most.
    let _ = text.write_fmt(arguments);
    report(&text)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    report_fmt(format_args!("kernel core firmware: {info}"))
}
