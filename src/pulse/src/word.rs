//! Decoding and encoding of the words of the stream.

use crate::{Segment, Word};
use kairos_contracts::pulse::{self as facts, Mode};

/// A decoded word. The channels it is for are given by [`channels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// Write entries of the gate table.
    Glut(Slots<GateEntry>),
    /// Write entries of the memory map.
    Mlut(Slots<MapEntry>),
    /// Write a segment into the pulse table.
    Plut { address: u16, segment: Segment },
    /// Run gates.
    Run { branch: Branch, ids: Slots<u16> },
    /// Pass a segment to the parameters in the mask.
    Bypass { parameters: u8, segment: Segment },
}

/// Source of the upper bits of the gate table's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// No upper bits: ids are addresses.
    None,
    /// Wait for a result, keep it, and insert it into the addresses.
    Wait,
    /// Insert the kept result into the addresses.
    Continue,
}

/// A gate: its first and last entry of the memory map. It is empty if the last is below the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GateEntry {
    pub address: u16,
    pub first: u16,
    pub last: u16,
}

/// An entry of the memory map: a segment, and the parameters that receive it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MapEntry {
    pub address: u16,
    pub parameters: u8,
    pub plut: u16,
}

/// Slots of a word, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots<T> {
    items: [T; facts::RUN_SLOTS_WIDE],
    count: u8,
    /// The word's count exceeds the number of slots.
    pub excess: bool,
}

impl<T: Copy + Default> Slots<T> {
    fn decode(count: u64, limit: usize, slot: impl Fn(usize) -> T) -> Self {
        let mut slots = Self {
            items: [T::default(); facts::RUN_SLOTS_WIDE],
            count: (count as usize).min(limit) as u8,
            excess: count as usize > limit,
        };
        (0..slots.count.into()).for_each(|k| slots.items[k] = slot(k));
        slots
    }

    /// The contents of the slots.
    pub fn items(&self) -> &[T] {
        &self.items[..self.count.into()]
    }
}

/// Number of gate ids per word: a build option of the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunFormat {
    /// 20 ids, and their count.
    #[default]
    Counted,
    /// 22 ids; unused slots hold a reserved id.
    Wide,
}

impl RunFormat {
    /// Number of slots per word.
    pub const fn slots(self) -> usize {
        match self {
            Self::Counted => facts::RUN_SLOTS,
            Self::Wide => facts::RUN_SLOTS_WIDE,
        }
    }
}

/// Mask of the channels that a word is for.
pub fn channels(word: &Word) -> u8 {
    word.get(facts::CHANNEL_MASK_AT, facts::CHANNEL_MASK_BITS) as u8
}

/// Decodes a word; `None` for mode 0.
pub fn decode(word: &Word, format: RunFormat) -> Option<Decoded> {
    let mode = Mode::try_from(word.get(facts::MODE_AT, facts::MODE_BITS) as u8).ok()?;
    let program_count = || word.get(facts::PROGRAM_COUNT_AT, facts::PROGRAM_COUNT_BITS);
    let run = |branch| Decoded::Run {
        branch,
        ids: run_ids(word, format),
    };
    Some(match mode {
        Mode::ProgramGlut => Decoded::Glut(Slots::decode(program_count(), facts::GLUT_SLOTS, |k| gate(word, k))),
        Mode::ProgramMlut => Decoded::Mlut(Slots::decode(program_count(), facts::MLUT_SLOTS, |k| map(word, k))),
        Mode::ProgramPlut => Decoded::Plut {
            address: word.get(facts::PLUT_ADDRESS_AT, facts::PLUT_ADDRESS_BITS) as u16,
            segment: Segment::from_word(word),
        },
        Mode::Run => run(Branch::None),
        Mode::Branch => run(Branch::Wait),
        Mode::BranchContinue => run(Branch::Continue),
        Mode::Bypass => Decoded::Bypass {
            parameters: word.get(facts::PARAMETER_MASK_AT, facts::PARAMETER_MASK_BITS) as u8,
            segment: Segment::from_word(word),
        },
    })
}

fn run_ids(word: &Word, format: RunFormat) -> Slots<u16> {
    let id = |k| word.get(facts::GATE_ID_BITS * k, facts::GATE_ID_BITS) as u16;
    match format {
        RunFormat::Counted => {
            let count = word.get(facts::RUN_COUNT_AT, facts::RUN_COUNT_BITS);
            Slots::decode(count, facts::RUN_SLOTS, id)
        }
        RunFormat::Wide => {
            let mut slots = Slots::decode(0, 0, id);
            for id in (0..facts::RUN_SLOTS_WIDE).map(id) {
                if u32::from(id) != facts::RUN_NO_GATE {
                    slots.items[usize::from(slots.count)] = id;
                    slots.count += 1;
                }
            }
            slots
        }
    }
}

fn gate(word: &Word, slot: usize) -> GateEntry {
    let field = |at, bits| word.get(facts::GLUT_SLOT_BITS * slot + at, bits) as u16;
    GateEntry {
        address: field(facts::GLUT_SLOT_ADDRESS_AT, facts::GLUT_ADDRESS_BITS),
        first: field(facts::GLUT_SLOT_FIRST_AT, facts::MLUT_ADDRESS_BITS),
        last: field(facts::GLUT_SLOT_LAST_AT, facts::MLUT_ADDRESS_BITS),
    }
}

fn map(word: &Word, slot: usize) -> MapEntry {
    let field = |at, bits| word.get(facts::MLUT_SLOT_BITS * slot + at, bits) as u16;
    MapEntry {
        address: field(facts::MLUT_SLOT_ADDRESS_AT, facts::MLUT_ADDRESS_BITS),
        parameters: field(facts::MLUT_SLOT_MASK_AT, facts::PARAMETER_MASK_BITS) as u8,
        plut: field(facts::MLUT_SLOT_PLUT_AT, facts::PLUT_ADDRESS_BITS),
    }
}

fn head(mode: Mode, channels: u8) -> Word {
    with_header(Word::default(), mode, channels)
}

fn with_header(word: Word, mode: Mode, channels: u8) -> Word {
    word.with(facts::MODE_AT, facts::MODE_BITS, mode as u64).with(
        facts::CHANNEL_MASK_AT,
        facts::CHANNEL_MASK_BITS,
        channels.into(),
    )
}

/// Makes a word that writes entries of the gate table: at most 6.
pub fn program_glut(channels: u8, entries: &[GateEntry]) -> Word {
    let entries = &entries[..entries.len().min(facts::GLUT_SLOTS)];
    let word = head(Mode::ProgramGlut, channels).with(
        facts::PROGRAM_COUNT_AT,
        facts::PROGRAM_COUNT_BITS,
        entries.len() as u64,
    );
    entries.iter().enumerate().fold(word, |word, (slot, entry)| {
        let at = facts::GLUT_SLOT_BITS * slot;
        word.with(
            at + facts::GLUT_SLOT_FIRST_AT,
            facts::MLUT_ADDRESS_BITS,
            entry.first.into(),
        )
        .with(
            at + facts::GLUT_SLOT_LAST_AT,
            facts::MLUT_ADDRESS_BITS,
            entry.last.into(),
        )
        .with(
            at + facts::GLUT_SLOT_ADDRESS_AT,
            facts::GLUT_ADDRESS_BITS,
            entry.address.into(),
        )
    })
}

/// Makes a word that writes entries of the memory map: at most 6.
pub fn program_mlut(channels: u8, entries: &[MapEntry]) -> Word {
    let entries = &entries[..entries.len().min(facts::MLUT_SLOTS)];
    let word = head(Mode::ProgramMlut, channels).with(
        facts::PROGRAM_COUNT_AT,
        facts::PROGRAM_COUNT_BITS,
        entries.len() as u64,
    );
    entries.iter().enumerate().fold(word, |word, (slot, entry)| {
        let at = facts::MLUT_SLOT_BITS * slot;
        word.with(
            at + facts::MLUT_SLOT_PLUT_AT,
            facts::PLUT_ADDRESS_BITS,
            entry.plut.into(),
        )
        .with(
            at + facts::MLUT_SLOT_MASK_AT,
            facts::PARAMETER_MASK_BITS,
            entry.parameters.into(),
        )
        .with(
            at + facts::MLUT_SLOT_ADDRESS_AT,
            facts::MLUT_ADDRESS_BITS,
            entry.address.into(),
        )
    })
}

/// Makes a word that writes a segment into the pulse table.
pub fn program_plut(channels: u8, address: u16, segment: &Segment) -> Word {
    let word = segment
        .to_word()
        .with(facts::PLUT_ADDRESS_AT, facts::PLUT_ADDRESS_BITS, address.into());
    with_header(word, Mode::ProgramPlut, channels)
}

/// Makes a word that runs gates: at most as many as `format` has slots.
pub fn run(channels: u8, branch: Branch, ids: &[u16], format: RunFormat) -> Word {
    let mode = match branch {
        Branch::None => Mode::Run,
        Branch::Wait => Mode::Branch,
        Branch::Continue => Mode::BranchContinue,
    };
    let ids = &ids[..ids.len().min(format.slots())];
    let put = |word: Word, slot, id: u64| word.with(facts::GATE_ID_BITS * slot, facts::GATE_ID_BITS, id);
    let word = ids
        .iter()
        .enumerate()
        .fold(head(mode, channels), |word, (slot, &id)| put(word, slot, id.into()));
    match format {
        RunFormat::Counted => word.with(facts::RUN_COUNT_AT, facts::RUN_COUNT_BITS, ids.len() as u64),
        RunFormat::Wide => {
            (ids.len()..format.slots()).fold(word, |word, slot| put(word, slot, facts::RUN_NO_GATE.into()))
        }
    }
}

/// Makes a word that passes a segment to the parameters in the mask.
pub fn bypass(channels: u8, parameters: u8, segment: &Segment) -> Word {
    let word = segment
        .to_word()
        .with(facts::PARAMETER_MASK_AT, facts::PARAMETER_MASK_BITS, parameters.into());
    with_header(word, Mode::Bypass, channels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn segments() -> impl Strategy<Value = Segment> {
        (
            prop::array::uniform4(-1i64 << 39..1 << 39),
            0u64..1 << 40,
            0u8..32,
            0u8..128,
        )
            .prop_map(|(u, tau, shift, flags)| Segment {
                u,
                tau,
                shift,
                flags: flags << 1,
            })
    }

    proptest! {
        #[test]
        fn arbitrary_word_round_trips(limbs in prop::array::uniform4(any::<u64>()), wide in any::<bool>()) {
            let word = Word(limbs);
            prop_assert_eq!(Word::from_bytes(&word.to_bytes()), word);
            let format = if wide { RunFormat::Wide } else { RunFormat::Counted };
            let decoded = decode(&word, format);
            let again = match decoded {
                None => None,
                Some(Decoded::Glut(slots)) => decode(&program_glut(channels(&word), slots.items()), format),
                Some(Decoded::Mlut(slots)) => decode(&program_mlut(channels(&word), slots.items()), format),
                Some(Decoded::Plut { address, segment }) => decode(&program_plut(channels(&word), address, &segment), format),
                Some(Decoded::Run { branch, ids }) => decode(&run(channels(&word), branch, ids.items(), format), format),
                Some(Decoded::Bypass { parameters, segment }) => decode(&bypass(channels(&word), parameters, &segment), format),
            };
            prop_assert_eq!(decoded.map(without_excess), again);
        }

        #[test]
        fn segments_in_words_round_trip(segment in segments(), parameters in any::<u8>(), address in 0u16..4096) {
            let decoded = decode(&bypass(1, parameters, &segment), RunFormat::Counted);
            prop_assert_eq!(decoded, Some(Decoded::Bypass { parameters, segment }));
            let decoded = decode(&program_plut(1, address, &segment), RunFormat::Counted);
            prop_assert_eq!(decoded, Some(Decoded::Plut { address, segment }));
        }

        #[test]
        fn gate_ids_in_words_round_trip(ids in prop::collection::vec(0u16..0x7ff, 0..20)) {
            for format in [RunFormat::Counted, RunFormat::Wide] {
                let Some(Decoded::Run { branch, ids: back }) = decode(&run(255, Branch::Wait, &ids, format), format) else {
                    panic!("not a word that runs gates")
                };
                prop_assert_eq!((branch, back.items().to_vec(), back.excess), (Branch::Wait, ids.clone(), false));
            }
        }
    }

    fn without_excess(decoded: Decoded) -> Decoded {
        match decoded {
            Decoded::Glut(slots) => Decoded::Glut(Slots { excess: false, ..slots }),
            Decoded::Mlut(slots) => Decoded::Mlut(Slots { excess: false, ..slots }),
            Decoded::Run { branch, ids } => Decoded::Run {
                branch,
                ids: Slots { excess: false, ..ids },
            },
            other => other,
        }
    }

    #[test]
    fn wide_word_keeps_order_of_22_ids() {
        let ids: Vec<u16> = (100..122).collect();
        let word = run(1, Branch::None, &ids, RunFormat::Wide);
        let Some(Decoded::Run { ids: back, .. }) = decode(&word, RunFormat::Wide) else {
            panic!("not a word that runs gates")
        };
        assert_eq!(back.items(), ids);
    }
}
