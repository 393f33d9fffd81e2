//! Interprets the words written to the configuration port of the PL: packets (UG470, chapter 5), as
//! far as needed to distinguish a complete bitstream for this chip from anything else. The frames
//! of a simulated gateware contain its descriptor.

/// `IDCODE` of the XC7Z045, without the version.
pub const IDCODE: u32 = 0x0373_1093;
const IDCODE_MASK: u32 = 0x0fff_ffff;
const SYNC: u32 = 0xaa99_5566;

const FDRI: u32 = 2;
const CMD: u32 = 4;
const IDCODE_REGISTER: u32 = 12;
const START: u32 = 5;
const DESYNC: u32 = 13;

/// Returns the words written to the frames, once the start-up sequence completes. The error is the
/// reason why DONE stays low.
pub fn configure(words: &[u32]) -> Result<Vec<u32>, String> {
    let sync = words.iter().position(|word| *word == SYNC);
    let mut at = sync.ok_or("there is no sync word (0xAA995566)")? + 1;
    let (mut frames, mut started, mut register, mut checked) = (Vec::new(), false, 0, false);
    while let Some(&header) = words.get(at) {
        at += 1;
        let count = match header >> 29 {
            1 => {
                register = header >> 13 & 0x1f;
                header & 0x7ff
            }
            2 => header & 0x07ff_ffff,
            _ => return Err(format!("word {header:#010x} is not a packet")),
        } as usize;
        if header >> 27 & 3 != 2 {
            continue; // reads and empty packets
        }
        let data = words.get(at..at + count).ok_or("it ends within a packet")?;
        at += count;
        match (register, data) {
            (IDCODE_REGISTER, [id]) if (id ^ IDCODE) & IDCODE_MASK != 0 => {
                return Err(format!(
                    "it is for another chip (IDCODE {id:#010x}, this is {IDCODE:#010x})"
                ));
            }
            (IDCODE_REGISTER, [_]) => checked = true,
            (FDRI, data) if checked => frames.extend_from_slice(data),
            (FDRI, [_, ..]) => return Err("frames come before the IDCODE".into()),
            (CMD, [START]) => started = true,
            (CMD, [DESYNC]) if started && !frames.is_empty() => return Ok(frames),
            _ => {}
        }
    }
    Err("it ends before the start-up sequence".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[u32] = &[
        !0,
        0x0000_00bb,
        0x1122_0044,
        !0,
        SYNC,
        0x2000_0000,
        0x3001_8001,
        IDCODE,
        0x3000_4000,
        0x5000_0002,
        7,
        8,
        0x3000_8001,
        START,
        0x3000_8001,
        DESYNC,
        0x2000_0000,
    ];

    #[test]
    fn only_complete_bitstream_for_this_chip_configures() {
        assert_eq!(configure(GOOD).unwrap(), [7, 8]);
        for end in 0..GOOD.len() - 1 {
            assert!(configure(&GOOD[..end]).is_err(), "{end}");
        }
        let mut other = GOOD.to_vec();
        other[7] = 0x0372_7093;
        assert!(configure(&other).unwrap_err().contains("another chip"));
    }
}
