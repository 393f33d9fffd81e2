//! What the camera sends: answers and images as packets, packets as characters.

use kairos_contracts::chips::coaxpress as facts;

use super::line::{CONTROL, IDLE};

/// Polynomial of the CRC, the highest term in bit 0.
const POLYNOMIAL: u32 = 0xedb8_8320;
/// Bits of a pixel, by format.
pub const DEPTHS: [u32; 5] = [8, 10, 12, 14, 16];

/// The register of the CRC after these bytes; 0 if they end with their CRC.
pub fn crc_of(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |register, byte| {
        (0..8).fold(register ^ u32::from(*byte), |register, _| {
            register >> 1 ^ if register & 1 != 0 { POLYNOMIAL } else { 0 }
        })
    })
}

/// The byte that two of the first three copies say, bit by bit.
pub fn vote(copies: &[u8]) -> u8 {
    match copies {
        [a, b, c, ..] => a & b | a & c | b & c,
        _ => 0,
    }
}

/// Something that is sent: bytes, or a control character, which is sent four times.
#[derive(Clone, Copy)]
enum Word {
    Bytes([u8; 4]),
    Control(u32),
}

impl Word {
    fn bytes(self) -> [u8; 4] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Control(value) => [value as u8; 4],
        }
    }
}

fn repeated(value: u32) -> Word {
    Word::Bytes([value as u8; 4])
}

fn characters(words: &[Word]) -> impl Iterator<Item = u16> + '_ {
    words.iter().flat_map(|word| {
        let control = if matches!(word, Word::Control(_)) { CONTROL } else { 0 };
        word.bytes().map(|byte| control | u16::from(byte))
    })
}

/// A packet of a type, after an idle word.
fn packet(kind: u32, body: &[Word]) -> Vec<u16> {
    let covered: Vec<u8> = body.iter().flat_map(|word| word.bytes()).collect();
    let head = [Word::Control(facts::PACKET_START), repeated(kind)];
    let tail = [
        Word::Bytes(crc_of(&covered).to_le_bytes()),
        Word::Control(facts::PACKET_END),
    ];
    let whole = IDLE.into_iter().chain(characters(&head)).chain(characters(body));
    whole.chain(characters(&tail)).collect()
}

fn words(bytes: &[u8]) -> impl Iterator<Item = Word> + '_ {
    bytes.chunks(4).map(|part| {
        let mut word = [0; 4];
        word[..part.len()].copy_from_slice(part);
        Word::Bytes(word)
    })
}

/// An answer to a command with this tag, with data if its code has some.
pub fn answer(tag: Option<u8>, code: u32, data: Option<&[u8]>) -> Vec<u16> {
    let mut body: Vec<Word> = tag.iter().map(|tag| repeated((*tag).into())).collect();
    body.push(repeated(code));
    if let Some(data) = data {
        body.push(Word::Bytes((data.len() as u32).to_be_bytes()));
        body.extend(words(data));
    }
    let kind = if tag.is_some() {
        facts::TAGGED_ANSWER
    } else {
        facts::ANSWER
    };
    packet(kind, &body)
}

/// An image, with `depth` bits of each pixel, in packets of at most `most` bytes.
pub fn image<'a>(rows: impl Iterator<Item = &'a [u16]>, size: [usize; 2], depth: u32, most: usize) -> Vec<u16> {
    let line_words = (size[0] * depth as usize).div_ceil(32);
    let format = facts::MONO8 + DEPTHS.iter().position(|known| *known == depth).unwrap_or_default() as u32;
    let parts = [
        (0, 1),
        (0, 2),
        (size[0] as u32, 3),
        (0, 3),
        (size[1] as u32, 3),
        (0, 3),
        (line_words as u32, 3),
        (format, 2),
        (0, 2),
        (0, 1),
    ];
    let header = parts
        .iter()
        .flat_map(|(value, bytes)| (0..*bytes).rev().map(move |n| repeated(value >> (8 * n))));
    let mut stream = vec![Word::Control(facts::IMAGE_MARK), repeated(facts::IMAGE_HEADER)];
    stream.extend(header);
    for row in rows {
        stream.extend([Word::Control(facts::IMAGE_MARK), repeated(facts::IMAGE_LINE)]);
        let mut line = vec![0u8; 4 * line_words];
        for (n, pixel) in row.iter().enumerate() {
            for bit in (0..depth as usize).filter(|bit| pixel >> bit & 1 != 0) {
                let at = n * depth as usize + bit;
                line[at / 8] |= 1 << (at % 8);
            }
        }
        stream.extend(words(&line));
    }
    // Seven words of a packet are not of the stream.
    let part = (most / 4).saturating_sub(7).clamp(1, 0xffff);
    let parts = stream.chunks(part).enumerate();
    parts
        .flat_map(|(number, part)| {
            let size = part.len() as u32;
            let mut body = vec![
                repeated(0),
                repeated(number as u32),
                repeated(size >> 8),
                repeated(size),
            ];
            body.extend(part);
            packet(facts::STREAM, &body)
        })
        .collect()
}
