//! SD host controller with a high-capacity card, backed by an image file. Register layout: the SD
//! host controller specification 2.0, as in chapter 13 and appendix B.27 of UG585. Programmed I/O
//! only; commands take no time, but a card may be busy after a write.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use kairos_proto::bytes::u32_at;

use crate::machine::params::Params;
use crate::machine::peripheral::{Access, Context, Peripheral, Reset};
use crate::machine::time::{self, Cycles};

/// Block size in bytes.
const BLOCK: usize = 512;
/// Interrupt status bits.
const COMMAND_COMPLETE: u32 = 1;
const TRANSFER_COMPLETE: u32 = 1 << 1;
const WRITE_READY: u32 = 1 << 4;
const READ_READY: u32 = 1 << 5;
const ERROR: u32 = 1 << 15;
const COMMAND_TIMEOUT: u32 = 1 << 16;
const DATA_TIMEOUT: u32 = 1 << 20;

/// States of a card, as in its status word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle = 0,
    Ready = 1,
    Identification = 2,
    Standby = 3,
    Transfer = 4,
}

/// A card: its image and state.
pub struct Card {
    image: File,
    blocks: u64,
    state: State,
    application: bool,
    /// Blocks that can still be written before the card loses power; `None`: no limit.
    left: Option<u64>,
    /// Busy time per written block, and end of the busy time of the latest one.
    programs: Cycles,
    busy_until: Cycles,
}

impl Card {
    /// Creates a card with the contents of `image`. After `cut_after` written blocks it stops
    /// responding.
    pub fn new(image: File, cut_after: Option<u64>) -> std::io::Result<Self> {
        let blocks = image.metadata()?.len() / BLOCK as u64;
        Ok(Self {
            image,
            blocks,
            state: State::Idle,
            application: false,
            left: cut_after,
            programs: 0,
            busy_until: 0,
        })
    }

    /// Opens a card in an image file, with the write limit and busy time of `params`. The error is
    /// a one-line message for the user.
    pub fn open(path: &Path, params: &Params) -> Result<Self, String> {
        let cut = Some(params.sd_cut_after).filter(|sectors| *sectors > 0);
        let image = File::options().read(true).write(true).open(path);
        let card = image.and_then(|image| {
            Ok(Self {
                programs: time::from_ns(1000 * params.sd_write_us),
                ..Self::new(image, cut)?
            })
        });
        card.map_err(|e| format!("SD card image {}: {e}", path.display()))
    }

    /// The image file.
    pub fn image(&self) -> &File {
        &self.image
    }

    fn status(&self, now: Cycles) -> u32 {
        let ready = u32::from(now >= self.busy_until);
        (self.state as u32) << 9 | ready << 8 | u32::from(self.application) << 5
    }

    /// CSD version 2.0: the size in units of 512 KiB.
    fn csd(&self) -> u128 {
        let size = u128::from((self.blocks / 1024).max(1) - 1);
        1 << 126 | 0x0e << 112 | 0x32 << 96 | 0x5b5 << 84 | 9 << 80 | size << 48 | 1 << 46 | 0x7f << 39 | 9 << 22 | 1
    }
}

enum Transfer {
    None,
    /// From the card: data, and position of the next byte.
    Read(Box<[u8; BLOCK]>, usize),
    Write(Box<[u8; BLOCK]>, usize, u64),
}

/// The controller.
pub struct Sd {
    words: [u32; 64],
    response: [u32; 4],
    status: u32,
    /// Status bits that are set once the completion of the command has been acknowledged.
    ready: u32,
    transfer: Transfer,
    card: Option<Card>,
    /// Time of the latest write.
    now: Cycles,
}

impl Sd {
    /// Creates the controller after power-up, with this card in its slot.
    pub fn new(card: Option<Card>) -> Self {
        Self {
            words: [0; 64],
            response: [0; 4],
            status: 0,
            ready: 0,
            transfer: Transfer::None,
            card,
            now: 0,
        }
    }

    /// The card in the slot.
    pub fn card(&self) -> Option<&Card> {
        self.card.as_ref()
    }

    /// Returns to the state after power-up; the card is not affected.
    fn restart(&mut self) {
        *self = Self::new(self.card.take());
    }

    fn alive(&self) -> bool {
        self.card.as_ref().is_some_and(|card| card.left != Some(0))
    }

    /// Reads the register at `offset`.
    fn read(&mut self, offset: u32) -> u32 {
        match offset & 0xff {
            0x10 => self.response[0],
            0x14 => self.response[1],
            0x18 => self.response[2],
            0x1c => self.response[3],
            0x20 => self.read_data(),
            // Lines idle; card detected, stable and inserted.
            0x24 => 0x01f0_0000 | if self.card.is_some() { 0x0007_0000 } else { 0x0002_0000 },
            0x2c => self.words[0x2c / 4] | self.words[0x2c / 4] << 1 & 2,
            0x30 => self.status,
            0x40 => 0x69ec_0080,
            0xfc => 0x8901_0000,
            o => self.words[o as usize / 4],
        }
    }

    /// Writes the register at `offset`.
    fn write(&mut self, offset: u32, value: u32) {
        match offset & 0xff {
            0x0c => {
                self.words[3] = value;
                self.command(value >> 24 & 0x3f, self.words[2]);
            }
            0x20 => self.write_data(value),
            0x2c => {
                if value >> 24 & 1 != 0 {
                    self.restart();
                }
                self.words[0x2c / 4] = value & 0x00ff_ffff; // reset bits are self-clearing
            }
            0x30 => {
                self.status &= !(value & !ERROR);
                // Data follow the response, so their flags are set after that of the command has
                // been acknowledged.
                if value & COMMAND_COMPLETE != 0 {
                    self.status |= std::mem::take(&mut self.ready);
                }
                if self.status & 0xffff_0000 == 0 {
                    self.status &= !ERROR;
                }
            }
            0x10..=0x1c | 0x24 | 0x40 | 0xfc => {}
            o => self.words[o as usize / 4] = value,
        }
    }

    fn fail(&mut self, bit: u32) {
        self.status |= bit | ERROR;
        self.ready = 0;
        self.transfer = Transfer::None;
    }

    fn command(&mut self, index: u32, argument: u32) {
        if !self.alive() {
            return self.fail(COMMAND_TIMEOUT);
        }
        let Some(card) = &mut self.card else { return };
        self.ready = 0;
        let application = std::mem::take(&mut card.application);
        let (mut long, mut short) = (None, card.status(self.now));
        match (index, application) {
            (0, _) => card.state = State::Idle,
            (8, _) => short = argument & 0xfff,
            (55, _) => {
                card.application = true;
                short = card.status(self.now);
            }
            (41, true) => {
                card.state = State::Ready;
                short = 0xc0ff_8000; // powered up, high capacity, 2.7 V to 3.6 V
            }
            (2, _) if card.state == State::Ready => {
                card.state = State::Identification;
                long = Some(0x00_4b41_4b41_4952_4f53_1000_0000_0100_0001u128);
            }
            (3, _) => {
                card.state = State::Standby;
                short = 0x0001_0000 | 0x0500;
            }
            (9, _) => long = Some(card.csd()),
            (7, _) => {
                card.state = if argument >> 16 == 1 {
                    State::Transfer
                } else {
                    State::Standby
                }
            }
            (6, true) | (13, _) | (16, _) | (12, _) => {}
            (17, _) if card.state == State::Transfer => {
                let mut data = Box::new([0; BLOCK]);
                let at = u64::from(argument) * BLOCK as u64;
                if u64::from(argument) >= card.blocks || card.image.read_exact_at(&mut data[..], at).is_err() {
                    self.status |= COMMAND_COMPLETE;
                    return self.fail(DATA_TIMEOUT);
                }
                self.transfer = Transfer::Read(data, 0);
                self.ready = READ_READY;
            }
            (24, _) if card.state == State::Transfer => {
                self.transfer = Transfer::Write(Box::new([0; BLOCK]), 0, argument.into());
                self.ready = WRITE_READY;
            }
            _ => return self.fail(COMMAND_TIMEOUT),
        }
        self.response = [short, 0, 0, 0];
        if let Some(long) = long {
            // The controller strips the checksum: bits 127..8.
            let bits = long >> 8;
            self.response = [
                bits as u32,
                (bits >> 32) as u32,
                (bits >> 64) as u32,
                (bits >> 96) as u32,
            ];
        }
        self.status |= COMMAND_COMPLETE;
    }

    fn read_data(&mut self) -> u32 {
        let Transfer::Read(data, at) = &mut self.transfer else {
            return 0;
        };
        let word = u32_at(&data[..], *at).unwrap_or(0);
        *at += 4;
        if *at == BLOCK {
            self.transfer = Transfer::None;
            self.status |= TRANSFER_COMPLETE;
        }
        word
    }

    fn write_data(&mut self, word: u32) {
        let Transfer::Write(data, at, block) = &mut self.transfer else {
            return;
        };
        data[*at..*at + 4].copy_from_slice(&word.to_le_bytes());
        *at += 4;
        if *at < BLOCK {
            return;
        }
        let Some(card) = &mut self.card else { return };
        let written = *block < card.blocks && card.image.write_all_at(&data[..], *block * BLOCK as u64).is_ok();
        if !written {
            return self.fail(DATA_TIMEOUT);
        }
        self.transfer = Transfer::None;
        self.status |= TRANSFER_COMPLETE;
        card.busy_until = self.now + card.programs;
        if let Some(left) = &mut card.left {
            *left -= 1;
        }
    }
}

impl Peripheral for Sd {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        self.read(at.offset)
    }

    fn write(&mut self, at: Access, value: u32, _: &mut Context) {
        self.now = at.now;
        self.write(at.offset, value);
    }

    fn reset(&mut self, what: Reset, _: &mut Context) {
        if let Reset::System(_) = what {
            self.restart();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controller(cut: Option<u64>) -> Sd {
        let image = tempfile::tempfile().unwrap();
        image.set_len(1 << 20).unwrap();
        let mut sd = Sd::new(Some(Card::new(image, cut).unwrap()));
        for (index, argument) in [
            (0, 0),
            (8, 0x1aa),
            (55, 0),
            (41, 0x4010_0000),
            (2, 0),
            (3, 0),
            (9, 1 << 16),
            (7, 1 << 16),
        ] {
            assert_eq!(command(&mut sd, index, argument), COMMAND_COMPLETE, "command {index}");
        }
        sd
    }

    fn command(sd: &mut Sd, index: u32, argument: u32) -> u32 {
        sd.write(0x30, !0);
        sd.write(0x08, argument);
        sd.write(0x0c, index << 24);
        sd.read(0x30) & (COMMAND_COMPLETE | ERROR)
    }

    #[test]
    fn written_blocks_are_read_back() {
        let mut sd = controller(None);
        command(&mut sd, 24, 5);
        (0..128).for_each(|n| sd.write(0x20, n));
        assert!(sd.read(0x30) & TRANSFER_COMPLETE != 0);
        command(&mut sd, 17, 5);
        assert!((0..128).all(|n| sd.read(0x20) == n));
        command(&mut sd, 17, 2048);
        assert!(sd.read(0x30) & DATA_TIMEOUT != 0);
    }

    #[test]
    fn card_is_busy_after_a_write() {
        let mut sd = controller(None);
        sd.card.as_mut().unwrap().programs = 100;
        command(&mut sd, 24, 5);
        (0..128).for_each(|n| sd.write(0x20, n));
        for (now, ready) in [(99, 0), (100, 1)] {
            sd.now = now;
            command(&mut sd, 13, 1 << 16);
            assert_eq!(sd.read(0x10) >> 8 & 1, ready);
        }
    }

    #[test]
    fn power_fails_after_the_given_number_of_blocks() {
        let mut sd = controller(Some(1));
        command(&mut sd, 24, 5);
        (0..128).for_each(|n| sd.write(0x20, n));
        assert_eq!(command(&mut sd, 13, 1 << 16), ERROR);
        let image = sd.card.unwrap().image;
        let mut word = [0; 4];
        image.read_exact_at(&mut word, 5 * 512 + 4).unwrap();
        assert_eq!(word, [1, 0, 0, 0]);
    }

    #[test]
    fn empty_slot_does_not_answer() {
        let mut sd = Sd::new(None);
        assert_eq!(command(&mut sd, 8, 0x1aa), ERROR);
        assert_eq!(sd.read(0x24) & 0x0001_0000, 0);
    }
}
