//! Short calls: turns the stubs through which a library calls the firmware into branches.
//!
//! A linker makes a stub of three instructions for each imported function (kernel ABI, section
//! 1.5), which loads the address from a word filled in by the loader. Image and library lie within
//! 32 MB of each other, so one branch suffices, and saves two instructions per call. The project's
//! linker lists the calls (`DT_CALLS`): these then go directly to the function, which saves the
//! third. Anything that is not exactly a stub of a known form for this very word is left unchanged,
//! and works as well.

use kairos_proto::bytes::{u32_at, words};

/// Bytes of a stub.
const STUB: u32 = 16;
/// Bytes before the first stub: none (the project's linker), or the lazy binder's (lld).
const HEADS: [u32; 2] = [0, 32];

/// Decodes a 12-bit operand of A32: eight bits, rotated right by twice the other four.
fn rotated(instruction: u32) -> u32 {
    (instruction & 0xff).rotate_right((instruction >> 8 & 0xf) * 2)
}

/// Offset of the word from which a stub at `at` takes its target; `None` if it is not a stub.
fn slot(stub: [u32; 4], at: u32) -> Option<u32> {
    let pc = at.wrapping_add(8);
    match stub {
        // ldr r12, [pc, #4]; add r12, pc, r12; ldr pc, [r12]; distance
        [0xe59f_c004, 0xe08f_c00c, 0xe59c_f000, distance] => Some(pc.wrapping_add(4).wrapping_add(distance)),
        // add r12, pc, #a; add r12, r12, #b; ldr pc, [r12, #c]!
        [first, second, third, _]
            if (first & !0xfff, second & !0xfff, third & !0xfff) == (0xe28f_c000, 0xe28c_c000, 0xe5bc_f000) =>
        {
            let distance = rotated(first).wrapping_add(rotated(second)).wrapping_add(third & 0xfff);
            Some(pc.wrapping_add(distance))
        }
        _ => None,
    }
}

/// Encodes `b` from one address to another; `None` if it is out of range.
fn branch(from: u32, to: u32) -> Option<u32> {
    let distance = to.wrapping_sub(from).wrapping_sub(8) as i32;
    (distance & 3 == 0 && (-(1 << 25)..1 << 25).contains(&distance))
        .then_some(0xea00_0000 | (distance as u32 >> 2 & 0x00ff_ffff))
}

/// Shortens the stub of jump slot `number` at offset `place` of the image, whose address is
/// `target`. `stubs`: the slot's contents in the file, which is the offset of the first linker stub
/// or of the code before it.
pub fn shorten(image: &mut [u8], base: u32, stubs: u32, number: u32, place: u32, target: u32) {
    for head in HEADS {
        let at = stubs.wrapping_add(head).wrapping_add(number.wrapping_mul(STUB));
        let Some(bytes) = image
            .get_mut(at as usize..)
            .and_then(|rest| rest.first_chunk_mut::<{ STUB as usize }>())
        else {
            continue;
        };
        if at & 3 == 0 && slot(words(bytes), at) == Some(place) {
            if let Some(branch) = branch(base.wrapping_add(at), target) {
                bytes[..4].copy_from_slice(&branch.to_le_bytes());
            }
            return;
        }
    }
}

/// The target of the branch `instruction` at `at`, linked or not and with any condition; `None` if
/// it is not a branch.
fn target(instruction: u32, at: u32) -> Option<u32> {
    let distance = ((instruction << 8) as i32 >> 6) as u32;
    (instruction & 0x0e00_0000 == 0x0a00_0000 && instruction < 0xf000_0000)
        .then(|| at.wrapping_add(8).wrapping_add(distance))
}

/// Makes the call at offset `place` of the image go directly to the target of the branch in its
/// stub.
pub fn pass_by(image: &mut [u8], base: u32, place: u32) {
    let word = |at: u32| {
        let word = u32_at(image, at as usize)?;
        (at & 3 == 0).then_some(word)
    };
    let found = word(place).and_then(|call| {
        let stub = target(call, place)?;
        let jump = word(stub).filter(|jump| jump & 0xff00_0000 == 0xea00_0000)?;
        let direct = branch(base.wrapping_add(place), base.wrapping_add(target(jump, stub)?))?;
        Some(call & 0xff00_0000 | direct & 0x00ff_ffff)
    });
    if let Some(call) = found {
        image[place as usize..place as usize + 4].copy_from_slice(&call.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kairos_contracts::memory::KERNEL_LIBRARY;

    const BASE: u32 = KERNEL_LIBRARY.start as u32;

    fn image(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn first_words(image: &[u8]) -> Vec<u32> {
        let words = image.chunks_exact(4);
        words.map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    /// The second of two stubs, as the project's linker makes them, with its slot at offset 0x40.
    const STUBS: [u32; 8] = [
        0xe59f_c004,
        0xe08f_c00c,
        0xe59c_f000,
        0x3c - 12,
        0xe59f_c004,
        0xe08f_c00c,
        0xe59c_f000,
        0x40 - 28,
    ];

    #[test]
    fn called_stub_becomes_a_branch() {
        let mut changed = image(&STUBS);
        shorten(&mut changed, BASE, 0, 1, 0x40, 0x0800_1000);
        // From 0x09000010 to 0x08001000: -0x00fff018 words times four.
        assert_eq!(
            first_words(&changed)[4],
            0xea00_0000 | (-0x00ff_f018i32 as u32 >> 2 & 0x00ff_ffff)
        );
        assert_eq!(first_words(&changed)[..4], STUBS[..4]);
    }

    #[test]
    fn foreign_instruction_is_not_replaced() {
        for (stubs, number, place, target) in [
            (0, 1, 0x44, 0x0800_1000),  // stub of another slot
            (0, 1, 0x40, 0x0000_1000),  // out of range
            (0, 1, 0x40, 0x0800_1001),  // Thumb code
            (2, 1, 0x40, 0x0800_1000),  // no such stub
            (64, 1, 0x40, 0x0800_1000), // after the image
            (u32::MAX, u32::MAX, 0x40, 0x0800_1000),
        ] {
            let mut same = image(&STUBS);
            shorten(&mut same, BASE, stubs, number, place, target);
            assert_eq!(first_words(&same), STUBS, "{stubs} {number} {place:#x} {target:#x}");
        }
    }

    #[test]
    fn call_of_branch_stub_goes_to_its_target() {
        let mut changed = image(&STUBS);
        let calls = [0xebff_fffa, 0x0aff_fff9, 0xe1a0_0000, 0xebff_fff3, 0xebff_ffff];
        changed.extend(image(&calls)); // second stub, same condition, no call, first stub, after the image
        shorten(&mut changed, BASE, 0, 1, 0x40, 0x0800_1000);
        let places = (0x20..0x34).step_by(4);
        places
            .chain([0x22, 0x34, u32::MAX])
            .for_each(|place| pass_by(&mut changed, BASE, place));
        let found = &first_words(&changed)[8..];
        let direct = |place: u32, top| top | branch(BASE + place, 0x0800_1000).unwrap() & 0x00ff_ffff;
        assert_eq!(found[..2], [direct(0x20, 0xeb00_0000), direct(0x24, 0x0a00_0000)]);
        assert_eq!(found[2..], calls[2..]);
    }

    #[test]
    fn branch_is_encoded_only_within_its_reach() {
        assert_eq!(branch(0x0900_0000, 0x0900_0008), Some(0xea00_0000));
        assert_eq!(branch(0x0900_0000, 0x0900_0000), Some(0xeaff_fffe));
        assert!(branch(0x09ff_fffc, 0x0800_0004).is_some());
        assert!(branch(0x0a00_0000, 0x0800_0000).is_none());
    }
}
