//! Talking to the comms core: bell, frames, and the last text of a core that cannot go on.

use core::fmt::Write;
use core::panic::PanicInfo;

use heapless::String;
use kairos_channel::{Frame, Message, Receiver, Shared, REASON_MAX};
use kairos_chip::gic;
use kairos_proto::rpc::Sink;

use crate::timer::{self, mask_interrupts, unmask_interrupts};

/// Longest text of [`report`].
pub type Text = String<REASON_MAX>;

/// Tells the comms core that there is something in the channel.
pub fn bell() {
    gic::send_sgi(0, kairos_channel::SGI_DATA);
}

/// A message written by an encoder.
pub struct MessageSink<'s, W: FnMut()>(pub Message<'s, 'static, W>);

impl<W: FnMut()> Sink for MessageSink<'_, W> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
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
