//! The rings between two threads, each acting as a core.

// All unsafe code creates ends (one of each, and a bell), as the tests show.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::*;
use proptest::prelude::*;
use std::boxed::Box;
use std::vec;
use std::vec::Vec;

fn shared() -> &'static Shared {
    // SAFETY: all zero is a valid state of the shared memory.
    Box::leak(unsafe { Box::<Shared>::new_zeroed().assume_init() })
}

fn bell() {}

/// Both cores' ends, through the real handshake with a thread as the kernel core.
fn ends(s: &'static Shared) -> [(Sender<'static>, Receiver<'static>); 2] {
    s.request_restart();
    // SAFETY: one pair of ends for each side.
    let kernel = std::thread::spawn(move || unsafe { s.kernel_enter(bell, std::thread::yield_now) });
    while !s.has_restarted() {
        std::thread::yield_now();
    }
    let comms = unsafe { s.grant(bell) }.unwrap();
    let kernel = kernel.join().unwrap();
    [comms, kernel]
}

fn receive(from: &mut Receiver, wait: fn()) -> (Kind, Vec<u8>) {
    let mut all = Vec::new();
    loop {
        let Some(frame) = from.next_frame().unwrap() else {
            wait();
            continue;
        };
        let start = all.len();
        all.resize(start + frame.len, 0);
        assert_eq!(from.read(&mut all[start..]), Ok(frame.len));
        if !frame.more {
            return (frame.kind, all);
        }
    }
}

#[test]
fn frame_has_the_documented_layout() {
    let s = shared();
    let [(mut send, _), _] = ends(s);
    assert_eq!(send.try_send(Kind::RpcReply, b"abcde", true), Some(5));
    // SAFETY: the test's only reader of this ring.
    let raw = unsafe { s.to_kernel.consumer() };
    let mut bytes = [0xaa; 17];
    assert_eq!(raw.peek(&mut bytes), Ok(16));
    assert_eq!(&bytes, b"\x03\x01\0\0\x05\0\0\0abcde\0\0\0\xaa");
}

#[test]
fn silent_message_arrives_without_interrupt() {
    static RUNG: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);
    fn ring() {
        RUNG.fetch_add(1, Ordering::Relaxed);
    }
    let s = shared();
    let [(_, mut receive_end), (mut send, _)] = ends(s);
    send.bell = ring;
    assert!(send.send_silently(Kind::RpcDone, &[1, 2, 3, 4, 5]));
    assert_eq!(RUNG.load(Ordering::Relaxed), 0);
    assert_eq!(
        receive(&mut receive_end, || unreachable!()),
        (Kind::RpcDone, vec![1, 2, 3, 4, 5])
    );
    // It is sent as a whole or not at all.
    while send.try_send(Kind::Log, &[0; 100], false) == Some(100) {}
    assert!(!send.send_silently(Kind::RpcDone, &[0; 100]));
}

#[test]
fn handshake_restarts_with_empty_rings() {
    let s = shared();
    assert_eq!(s.state(), State::Silent);
    assert!(unsafe { s.grant(bell) }.is_none());
    let [(mut send, _), (mut back, _)] = ends(s);
    assert_eq!(s.state(), State::Running);
    send.try_send(Kind::Run, &[], false).unwrap();
    back.try_send(Kind::Finished, &[], false).unwrap();
    s.kernel_faulted("a long reason");
    s.kernel_faulted("a reason");
    assert_eq!(s.state(), State::Faulted);
    assert_eq!(s.reason(&mut [0; REASON_MAX]), "a reason");
    s.kernel_faulted(&"\u{e9}".repeat(REASON_MAX));
    assert_eq!(s.reason(&mut [0; REASON_MAX]), "\u{e9}".repeat(REASON_MAX / 2));
    let [(_, mut at_comms), (_, mut at_kernel)] = ends(s);
    assert_eq!(at_comms.next_frame(), Ok(None));
    assert_eq!(at_kernel.next_frame(), Ok(None));
}

#[test]
fn request_during_handshake_is_answered_again() {
    let s = shared();
    s.request_restart();
    let kernel = std::thread::spawn(move || unsafe {
        s.kernel_enter(bell, std::thread::yield_now);
    });
    while !s.has_restarted() {}
    s.request_restart();
    while !s.has_restarted() {}
    assert!(unsafe { s.grant(bell) }.is_some());
    kernel.join().unwrap();
    assert_eq!(s.state(), State::Running);
}

#[test]
fn corrupt_ring_is_reported() {
    let s = shared();
    let [_, (_, mut at_kernel)] = ends(s);
    // SAFETY: the other producer is gone.
    let mut raw = unsafe { s.to_kernel.producer() };
    raw.write(&[Kind::Run as u8, 0, 0, 0, 200, 0, 0, 0]);
    raw.publish();
    assert_eq!(at_kernel.next_frame(), Err(Corrupt));
    let [_, (_, mut at_kernel)] = ends(s);
    let mut raw = unsafe { s.to_kernel.producer() };
    raw.write(&[99, 0, 0, 0, 0, 0, 0, 0]);
    raw.publish();
    assert_eq!(at_kernel.next_frame(), Err(Corrupt));
}

#[test]
fn unread_payload_is_dropped_before_the_next_frame() {
    let s = shared();
    let [(mut send, _), (_, mut at_kernel)] = ends(s);
    send.try_send(Kind::RpcReply, b"abcdef", false).unwrap();
    send.try_send(Kind::Run, &[], false).unwrap();
    assert_eq!(at_kernel.next_frame().unwrap().unwrap().len, 6);
    let mut two = [0; 2];
    at_kernel.read(&mut two).unwrap();
    assert_eq!((&two, at_kernel.remaining()), (b"ab", 4));
    assert_eq!(at_kernel.next_frame().unwrap().unwrap().kind, Kind::Run);
    assert_eq!(at_kernel.next_frame(), Ok(None));
}

#[test]
fn message_larger_than_ring_passes() {
    let s = shared();
    let [(mut send, _), (_, mut at_kernel)] = ends(s);
    let data: Vec<u8> = (0..3 * crate::ring::CAPACITY + 13)
        .map(|i| (i * 13 + i / 256) as u8)
        .collect();
    let expected = data.clone();
    let writer = std::thread::spawn(move || send.send(Kind::RpcReply, &data, std::thread::yield_now));
    let (kind, got) = receive(&mut at_kernel, std::thread::yield_now);
    writer.join().unwrap();
    assert_eq!(kind, Kind::RpcReply);
    assert!(got == expected);
}

/// A reader that takes odd pieces, as the room in a socket's buffer demands, does not misalign the
/// frames after a full ring.
#[test]
fn reading_in_odd_pieces_keeps_frames_intact() {
    let s = shared();
    let [(_, mut receive), (mut send, _)] = ends(s);
    let data: Vec<u8> = (0..3 * CAPACITY + 5).map(|i| (i * 13 + i / 256) as u8).collect();
    let sent = data.clone();
    let sender = std::thread::spawn(move || send.send(Kind::RpcAsync, &sent, std::thread::yield_now));
    let mut got = Vec::new();
    let mut piece = 1;
    loop {
        let Some(frame) = receive.next_frame().unwrap() else {
            std::thread::yield_now();
            continue;
        };
        while receive.remaining() > 0 {
            let mut bytes = std::vec![0; piece];
            let length = receive.read(&mut bytes).unwrap();
            got.extend_from_slice(&bytes[..length]);
            piece = piece % 1459 + 2;
        }
        if !frame.more {
            break;
        }
    }
    sender.join().unwrap();
    assert!(got == data);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Messages of any size, written in any pieces or sent without waiting, arrive complete and in
    /// order.
    #[test]
    fn messages_in_any_pieces_round_trip(messages in prop::collection::vec((any::<bool>(), prop::collection::vec(0usize..30_000, 0..4)), 1..20)) {
        let s = shared();
        let [(mut send, _), (_, mut at_kernel)] = ends(s);
        let (tx, rx) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            while let Ok(expected) = rx.recv() {
                let (_, got): (_, Vec<u8>) = receive(&mut at_kernel, std::thread::yield_now);
                assert!(got == expected);
            }
        });
        for (n, (blocking, pieces)) in messages.into_iter().enumerate() {
            let whole: Vec<u8> = (0..pieces.iter().sum::<usize>()).map(|i| (i * 7 + n) as u8).collect();
            tx.send(whole.clone()).unwrap();
            if blocking {
                let mut message = send.message(Kind::RpcSync, std::thread::yield_now);
                let mut at = 0;
                for piece in pieces {
                    message.write(&whole[at..at + piece]);
                    at += piece;
                }
                message.finish();
            } else {
                let mut rest = &whole[..];
                loop {
                    match send.try_send(Kind::RpcAsync, rest, false) {
                        Some(n) if n == rest.len() => break,
                        Some(n) => rest = &rest[n..],
                        None => std::thread::yield_now(),
                    }
                }
            }
        }
        drop(tx);
        reader.join().unwrap();
    }
}

#[test]
fn bus_is_exclusive_and_waiting_core_is_next() {
    let shared = shared();
    assert!(shared.kernel_takes_bus() && shared.kernel_takes_bus());
    assert!(!shared.take_bus());
    shared.want_bus(true);
    assert!(shared.kernel_takes_bus(), "its transaction goes on");
    shared.release_bus(COMMS);
    assert!(!shared.take_bus());
    shared.release_bus(KERNEL);
    assert!(!shared.kernel_takes_bus(), "the comms core waits");
    assert!(shared.take_bus());
    shared.want_bus(false);
    assert!(!shared.kernel_takes_bus());
    shared.release_bus(COMMS);
    assert!(shared.kernel_takes_bus());
}
