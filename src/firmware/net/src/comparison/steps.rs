//! Events in the life of a connection.

extern crate std;

use std::vec;

use proptest::prelude::*;

use crate::frame::{ACK, FIN, PSH, RST, SYN};

const URG: u8 = 1 << 5;

/// An event applied to both stacks.
#[derive(Clone, Debug)]
pub enum Step {
    /// The client sends a segment.
    Segment(Segment),
    /// The task reads, or writes, up to this many bytes.
    Read(usize),
    Write(usize),
    /// This many microseconds pass.
    Pass(i64),
    /// The controller has space for this many frames.
    Space(usize),
    /// An ARP request for the hardware address: all saved headers are dropped.
    Arp,
    Close,
}

#[derive(Clone, Debug)]
pub struct Segment {
    /// Its start: the end of the bytes sent, or of those acknowledged; and an offset.
    pub again: bool,
    pub offset: i64,
    pub length: usize,
    pub flags: u8,
    /// Kind of acknowledgement: everything, nothing new, half of it, or an invalid number.
    pub acknowledges: u8,
    pub window: u16,
    /// Length of options in words; other faults of the frame.
    pub options: usize,
    pub fault: u8,
    pub padding: usize,
}

fn segments() -> impl Strategy<Value = Segment> {
    let offset =
        prop_oneof![20 => Just(0i64), 1 => -2000i64..2000, 1 => Just(-1i64), 1 => any::<i32>().prop_map(i64::from)];
    let length = prop_oneof![3 => Just(0usize), 3 => 1usize..100, 2 => 100usize..=1460, 2 => Just(1460usize)];
    let flags = prop_oneof![
        20 => Just(ACK),
        20 => Just(ACK | PSH),
        1 => prop::sample::select(vec![0, SYN, SYN | ACK, RST, RST | ACK, FIN | ACK, ACK | URG, PSH])
    ];
    let window = prop_oneof![8 => Just(8192u16), 1 => Just(0u16), 1 => 1u16..3000, 1 => Just(u16::MAX)];
    let options = prop_oneof![20 => Just(0usize), 1 => 1usize..=10];
    let fault = prop_oneof![40 => Just(99u8), 3 => 0u8..=11];
    let acknowledges = prop_oneof![30 => 0u8..=7, 1 => 8u8..=9];
    let padding = prop_oneof![4 => Just(0usize), 1 => 0usize..8];
    (
        any::<bool>(),
        offset,
        length,
        flags,
        acknowledges,
        window,
        options,
        fault,
        padding,
    )
        .prop_map(
            |(again, offset, length, flags, acknowledges, window, options, fault, padding)| Segment {
                again: again && offset != 0,
                offset,
                length,
                flags,
                acknowledges,
                window,
                options,
                fault,
                padding,
            },
        )
}

pub fn steps() -> impl Strategy<Value = Step> {
    let again = (1i64..2000).prop_map(|length| Segment {
        again: true,
        offset: 0,
        length: length as usize % 1461,
        flags: ACK,
        acknowledges: 0,
        window: 8192,
        options: 0,
        fault: 99,
        padding: 0,
    });
    prop_oneof![
        30 => segments().prop_map(Step::Segment),
        3 => again.prop_map(Step::Segment),
        15 => (1usize..4000).prop_map(Step::Read),
        15 => (1usize..4000).prop_map(Step::Write),
        6 => (0i64..20_000).prop_map(Step::Pass),
        1 => (0i64..4_000_000).prop_map(Step::Pass),
        1 => (1usize..4).prop_map(Step::Space),
        2 => Just(Step::Space(usize::MAX)),
        1 => Just(Step::Arp),
        1 => prop::sample::select(vec![Step::Close, Step::Arp, Step::Arp, Step::Arp]),
    ]
}
