//! Instructions that Unicorn executes incorrectly or without notice, found by their opcodes when a
//! block is translated.

use kairos_proto::bytes::u16_at;

/// Instructions that the core executes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// `sev`: an event to both cores and to the PL.
    SendEvent,
    /// `dbg`, a hint with a number: a message of the firmware to the emulator.
    Note(u8),
    /// Read of MPIDR into a register.
    ReadMpidr(u8),
    /// Read of the cycle counter into a register.
    ReadCycles(u8),
    /// Write of the cycle counter from a register.
    WriteCycles(u8),
    /// Instruction cache maintenance: the other core's translated code may be stale.
    CodeChanged,
    /// TLB maintenance, broadcast to the other core.
    TlbChanged,
}

/// Classifies a coprocessor register transfer: the fields are the same in A32 and T32.
fn cp15(word: u32) -> Option<Special> {
    if word & 0x0f00_0f10 != 0x0e00_0f10 {
        return None;
    }
    let (load, rt) = (word >> 20 & 1 != 0, (word >> 12 & 15) as u8);
    let register = (word >> 16 & 15, word >> 21 & 7, word & 15, word >> 5 & 7); // CRn, op1, CRm, op2
    match (load, register) {
        (true, (0, 0, 0, 5)) => Some(Special::ReadMpidr(rt)),
        (true, (9, 0, 13, 0)) => Some(Special::ReadCycles(rt)),
        (false, (9, 0, 13, 0)) => Some(Special::WriteCycles(rt)),
        (false, (7, 0, 5 | 1, 0 | 1)) => Some(Special::CodeChanged),
        (false, (8, 0, 3 | 5 | 6 | 7, _)) => Some(Special::TlbChanged),
        _ => None,
    }
}

/// Classifies an A32 instruction. Conditional forms are not recognised: compilers do not emit them.
pub fn arm(word: u32) -> Option<Special> {
    match word {
        0xe320_f004 => Some(Special::SendEvent),
        0xe320_f0f0..=0xe320_f0ff => Some(Special::Note(word as u8 & 15)),
        _ if word >> 28 == 0xe => cp15(word),
        _ => None,
    }
}

/// Classifies a T32 instruction from its first two halfwords. Returns its length in bytes as well.
pub fn thumb(first: u16, second: u16) -> (Option<Special>, u32) {
    if first >> 11 < 0b11101 {
        return ((first == 0xbf40).then_some(Special::SendEvent), 2);
    }
    let word = u32::from(first) << 16 | u32::from(second);
    if word == 0xf3af_8004 {
        return (Some(Special::SendEvent), 4);
    }
    (if first >> 12 == 0xe { cp15(word) } else { None }, 4)
}

/// Finds the special instructions in the code bytes of a block, with their offsets.
pub fn scan(code: &[u8], is_thumb: bool) -> Vec<(u32, Special)> {
    let mut found = Vec::new();
    if !is_thumb {
        for (i, b) in code.as_chunks().0.iter().enumerate() {
            if let Some(s) = arm(u32::from_le_bytes(*b)) {
                found.push((4 * i as u32, s));
            }
        }
        return found;
    }
    let half = |at| u16_at(code, at).unwrap_or(0);
    let mut at = 0;
    while at + 2 <= code.len() {
        let (special, length) = thumb(half(at), half(at + 2));
        if let Some(s) = special {
            found.push((at as u32, s));
        }
        at += length as usize;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_opcodes_are_recognised_in_arm_and_thumb() {
        assert_eq!(arm(0xe320_f004), Some(Special::SendEvent));
        assert_eq!(arm(0xe320_f0f2), Some(Special::Note(2)));
        assert_eq!(arm(0xee10_1fb0), Some(Special::ReadMpidr(1))); // mrc p15, 0, r1, c0, c0, 5
        assert_eq!(arm(0xee19_0f1d), Some(Special::ReadCycles(0))); // mrc p15, 0, r0, c9, c13, 0
        assert_eq!(arm(0xee07_0f15), Some(Special::CodeChanged)); // mcr p15, 0, r0, c7, c5, 0
        assert_eq!(arm(0xee08_0f17), Some(Special::TlbChanged)); // mcr p15, 0, r0, c8, c7, 0
        assert_eq!(arm(0xee10_1f10), None); // MIDR
        assert_eq!(thumb(0xbf40, 0), (Some(Special::SendEvent), 2));
        assert_eq!(thumb(0xee10, 0x1fb0), (Some(Special::ReadMpidr(1)), 4));
    }

    #[test]
    fn scan_walks_mixed_thumb_lengths() {
        let code = [0x00, 0xbf, 0x10, 0xee, 0xb0, 0x1f, 0x40, 0xbf]; // nop; mrc; sev
        assert_eq!(scan(&code, true), [(2, Special::ReadMpidr(1)), (6, Special::SendEvent)]);
    }
}
