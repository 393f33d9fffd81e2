//! Remote procedure calls (kernel ABI, section 2.6).

use kairos_intercore::memory::KERNEL_STACK;
use kairos_intercore::{Frame, Kind, Receiver};
use kairos_proto::exception::{Id, Record};
use kairos_proto::intercore::Surplus;
use kairos_proto::layout::Layout;
use kairos_proto::rpc::{encode_request, split_value, Decoder, Memory, Signature, Sink, Source, Step};

use super::answer;
use crate::comms::{self, next_frame, read_some, receiving, report, report_fmt, send_pieces, sending};
use crate::fault::broken;
use crate::memory::KernelMemory;
use crate::owned::{BorrowCell, Owned};
use crate::raise;

/// Free stack that a reply must leave, for the kernel and this firmware.
const STACK_RESERVE: u32 = 64 * 1024;

/// A reply that needs more bytes than this is not meant for a device: it ends the session.
const DROPPED_MAX: u32 = 256 << 20;

/// Longest request that is assembled before it is sent, in bytes.
const SHORT: usize = 64;

/// The newest call that the kernel waits for.
#[derive(Clone, Copy)]
enum Call {
    /// The kernel has the result.
    Over,
    /// The reply, or the host's exception, has not been read yet.
    Sent,
    /// The reply is being decoded, and the kernel allocates memory for it.
    Arriving,
    /// A message of another board has arrived, and its values are taken one by one.
    Message(Values),
}

/// The values of a message after the one that is being decoded: number, and types.
#[derive(Clone, Copy)]
struct Values {
    count: u32,
    tags: &'static [u8],
}

static CALL: Owned<Call> = Owned::new(Call::Over);
/// Decodes the reply; in place, as the decoder is large.
static DECODER: BorrowCell<Decoder<'static>> = BorrowCell::new(Decoder::new(&[]));

/// Clears the state, before a kernel and in a restart: no call is pending.
pub fn reset() {
    CALL.set(Call::Over);
    DECODER.reclaim();
}

/// Consumes bytes.
type Write<'w> = dyn FnMut(&[u8]) + 'w;

/// Buffers a short request. For a longer one the first pass only checks that it can be encoded; the
/// second passes the bytes on.
struct Request<'m> {
    bytes: [u8; SHORT],
    length: usize,
    /// The consumer of a long request's bytes; dynamic, so that the image contains the encoder
    /// once.
    long: Option<&'m mut Write<'m>>,
}

impl Sink for Request<'_> {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(long) = &mut self.long {
            return long(bytes);
        }
        let end = self.length.saturating_add(bytes.len());
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
        }
        self.length = end;
    }
}

/// Sends a request; `tag_at` is the address of the tag string's {pointer, length}, `data` that of
/// the pointers to the arguments. Returns the tag of the result.
///
/// A request that cannot be encoded ends the kernel: calls cannot raise. A long one is encoded
/// twice, because half a message would corrupt the stream to the host; the first pass only follows
/// pointers.
pub fn send(kind: Kind, service: u32, tag_at: u32, data: u32) -> &'static [u8] {
    let memory: &'static KernelMemory = &KernelMemory;
    let tag = memory
        .word(tag_at)
        .and_then(|pointer| memory.bytes(pointer, memory.word(tag_at.wrapping_add(4))?));
    let tag: &'static [u8] = match tag {
        Ok(tag) => tag,
        Err(error) => broken(format_args!("RPC to service {service}: tag: {error}")),
    };
    let mut request = Request {
        bytes: [0; SHORT],
        length: 0,
        long: None,
    };
    let result = match encode_request(&mut request, memory, service, tag, data) {
        Ok(Signature { result, .. }) => result,
        Err(error) => broken(format_args!("RPC to service {service}: {error}")),
    };
    if let Some(bytes) = request.bytes.get(..request.length) {
        comms::send(kind, bytes);
        return result;
    }
    send_pieces(kind, |message| {
        let mut write = |bytes: &[u8]| message.write(bytes);
        let mut request = Request {
            long: Some(&mut write),
            ..request
        };
        // Cannot fail: the first pass has succeeded.
        let _ = encode_request(&mut request, memory, service, tag, data);
    });
    result
}

/// `rpc_send_async`
pub extern "C" fn rpc_send_async(service: u32, tag_at: u32, data: u32) {
    send(Kind::RpcAsync, service, tag_at, data);
}

/// `rpc_send`
pub extern "C" fn rpc_send(service: u32, tag_at: u32, data: u32) {
    let result = send(Kind::RpcSync, service, tag_at, data);
    DECODER.with(|decoder| decoder.restart(result));
    // The kernel must not allocate memory before the answer shows that there is a value.
    CALL.set(Call::Sent);
}

/// The payload of a reply, which spans several frames.
struct Reply<'c> {
    receiver: &'c mut Receiver<'static>,
}

impl Source for Reply<'_> {
    type Error = core::convert::Infallible;

    fn read(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error> {
        let mut done = 0;
        while done < buffer.len() {
            if self.receiver.remaining() == 0 {
                match next_frame(self.receiver).kind {
                    Kind::RpcReply => {}
                    kind => report_fmt(format_args!("{kind:?} within the reply to an RPC")),
                }
            }
            done += read_some(self.receiver, &mut buffer[done..]);
        }
        Ok(())
    }
}

const NO_STACK: &str = "the reply to an RPC needs {0} bytes of stack, of which {1} are free: return less at once";
const NO_STACK_FOR_MESSAGE: &str =
    "a message of another board needs {0} bytes of stack, of which {1} are free: send less at once";
const OTHER_TAG: &str = "the reply to an RPC has another return tag than the call";

/// Checks the start of the reply, the length and a copy of the tag that was sent: any other tag
/// belongs to another call.
fn check_tag(receiver: &mut Receiver<'static>) {
    let mut expected = DECODER.with(|decoder| decoder.tag());
    let mut reply = Reply { receiver };
    let mut bytes = [0; 16];
    if expected.len() <= bytes.len() - 4 && reply.receiver.remaining() >= 4 + expected.len() {
        // The usual case: all of it has arrived.
        let head = &mut bytes[..4 + expected.len()];
        let Ok(()) = reply.read(head);
        let (length, tag) = head.split_at(4);
        if length != (expected.len() as u32).to_le_bytes() || tag != expected {
            report(OTHER_TAG);
        }
        return;
    }
    let mut read = |length: usize| {
        let Ok(()) = reply.read(&mut bytes[..length]);
        bytes
    };
    let [a, b, c, d, ..] = read(4);
    let mut matches = u32::from_le_bytes([a, b, c, d]) as usize == expected.len();
    while matches && !expected.is_empty() {
        let (part, rest) = expected.split_at(expected.len().min(16));
        matches = read(part.len()).starts_with(part);
        expected = rest;
    }
    if !matches {
        report(OTHER_TAG);
    }
}

/// The number of bytes received after a complete value: the host has sent more than the type
/// allows.
fn surplus(receiver: &mut Receiver<'static>) -> u32 {
    let mut bytes = receiver.remaining();
    while let Ok(Some(Frame {
        kind: Kind::RpcReply,
        len,
        ..
    })) = receiver.next_frame()
    {
        bytes += len;
    }
    bytes as u32
}

/// `rpc_recv`: decodes the reply into `slot` as far as possible. Returns how much memory is needed
/// to continue, 0 at the end.
pub extern "C" fn rpc_recv_value(slot: u32) -> u32 {
    let call = CALL.replace(Call::Over);
    if let Call::Message(next) = call {
        return message_value(slot, next);
    }
    if matches!(call, Call::Over) {
        broken(format_args!("the kernel waits for the reply to an RPC it has not sent"));
    }
    receiving(|receiver| {
        if matches!(call, Call::Sent) && raised(receiver) {
            return 0;
        }
        decode(receiver, slot)
    })
}

/// Reads the beginning of the reply; returns true if it is an exception of the host.
fn raised(receiver: &mut Receiver<'static>) -> bool {
    match next_frame(receiver).kind {
        Kind::RpcReply => check_tag(receiver),
        Kind::RpcException => {
            let mut bytes = [0; 48];
            if read_some(receiver, &mut bytes) != bytes.len() {
                report("exception from the host is too short");
            }
            comms::send(Kind::RpcDone, &[]);
            raise::record(Record::from_host(&bytes));
            return true;
        }
        kind => report_fmt(format_args!("{kind:?} instead of the reply to an RPC")),
    }
    false
}

/// Decodes the next part of the reply into `slot`.
fn decode(receiver: &mut Receiver<'static>, slot: u32) -> u32 {
    let mut reply = Reply {
        receiver: &mut *receiver,
    };
    match DECODER.with(|decoder| decoder.resume(slot, &mut reply, &mut KernelMemory)) {
        Ok(Step::Done) => {
            done(receiver);
            0
        }
        Ok(Step::Allocate(bytes)) => {
            let free = free_stack();
            if bytes > free {
                return refuse(receiver, bytes, free);
            }
            CALL.set(Call::Arriving);
            bytes
        }
        Err(error) => report_fmt(format_args!("reply to an RPC: {error}")),
    }
}

/// Tells the comms core that the reply has been read.
fn done(receiver: &mut Receiver<'static>) {
    let bytes = surplus(receiver);
    if bytes != 0 {
        return comms::send(Kind::RpcSurplus, &Surplus { bytes }.encode());
    }
    // The comms core reads this before anything sent after the reply, and has nothing to do until
    // then: it need not be woken.
    if !sending(|sender| sender.send_silently(Kind::RpcDone, &[])) {
        comms::send(Kind::RpcDone, &[]);
    }
}

/// Discards the rest of a reply that needs `bytes` more of the stack, of which `free` are left, and
/// raises.
#[cold]
fn refuse(receiver: &mut Receiver<'static>, bytes: u32, free: u32) -> u32 {
    if bytes > DROPPED_MAX {
        report_fmt(format_args!("reply to an RPC: invalid length of {bytes} bytes"));
    }
    let mut reply = Reply {
        receiver: &mut *receiver,
    };
    if let Err(error) = DECODER.with(|decoder| decoder.discard(&mut reply)) {
        report_fmt(format_args!("reply to an RPC: {error}"));
    }
    done(receiver);
    raise::firmware(Id::RuntimeError, NO_STACK, [bytes.into(), free.into(), 0]);
    0
}

/// Stack space that a kernel may use; a kernel does not check its own allocations.
fn free_stack() -> u32 {
    let here = 0u8;
    (core::ptr::from_ref(&here) as u32).saturating_sub(KERNEL_STACK.start as u32 + STACK_RESERVE)
}

/// Prepares to take `count` values of a message, with the types `tags`.
pub fn take_message(tags: &'static [u8], count: u32) {
    next_value(Values { count, tags });
}

/// Prepares the next value of a message, if there is one.
fn next_value(values: Values) {
    match (values.count.checked_sub(1), split_value(values.tags)) {
        (Some(count), Ok((first, tags))) => {
            DECODER.with(|decoder| decoder.restart(first));
            CALL.set(Call::Message(Values { count, tags }));
        }
        _ => answer::skip(),
    }
}

/// Decodes the next part of a message into `slot`; `next` are the values after it.
fn message_value(slot: u32, next: Values) -> u32 {
    match DECODER.with(|decoder| decoder.resume(slot, &mut answer::Rest, &mut KernelMemory)) {
        Ok(Step::Done) => {
            next_value(next);
            0
        }
        Ok(Step::Allocate(bytes)) => {
            let free = free_stack();
            if bytes > free {
                answer::skip();
                raise::firmware(Id::RuntimeError, NO_STACK_FOR_MESSAGE, [bytes.into(), free.into(), 0]);
                return 0;
            }
            CALL.set(Call::Message(next));
            bytes
        }
        Err(error) => report_fmt(format_args!("message of another board: {error}")),
    }
}

raise::raising! {
    rpc_recv => rpc_recv_value;
}
