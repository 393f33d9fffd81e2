//! ARM exception handling tables: finding a function's entry, undoing its frame, and locating its
//! landing pads.
//!
//! The kernel core unwinds with them, and the emulator uses them to find the source lines that an
//! output came from. A separate implementation, because it is small: every function of a kernel has
//! the same personality, so any table entry of the generic model is assumed to be followed by an
//! LSDA (kernel ABI, sections 1.3 and 4.5), and nothing outside of the library is ever unwound. All
//! reads go through [`Memory`], so that corrupt tables or a corrupt stack end the search, not the
//! firmware.

#![no_std]
#![forbid(unsafe_code)]

use kairos_proto::rpc::{BadAddress, Memory};

/// The registers that a frame restores, with their values in the current frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Registers {
    /// r0 to r15. r13 is the stack pointer at the call, r15 the return address of the call.
    pub r: [u32; 16],
    /// d8 to d15.
    pub d: [u64; 8],
}

/// Index of the stack pointer in [`Registers::r`].
pub const SP: usize = 13;
/// Index of the link register.
pub const LR: usize = 14;
/// Index of the program counter.
pub const PC: usize = 15;

/// Why a frame cannot be unwound, so that none of its callers can catch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Marked as such in the tables, or without an entry.
    End,
    /// The tables or the stack are invalid.
    Corrupt,
}

impl From<BadAddress> for Stop {
    fn from(_: BadAddress) -> Self {
        Self::Corrupt
    }
}

/// The table entry of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// First address of the function.
    pub function: u32,
    /// Address of the first word with opcodes, the number of its low bytes that are opcodes, and
    /// the number of words that follow.
    opcodes: (u32, u32, u32),
    /// Address of the LSDA, for the generic model.
    pub lsda: Option<u32>,
}

/// Decodes a 31-bit self-relative offset.
fn prel31(memory: &impl Memory, at: u32) -> Result<u32, Stop> {
    Ok(at.wrapping_add(((memory.word(at)? << 1) as i32 >> 1) as u32))
}

impl Entry {
    /// Finds the entry for the call that returns to `pc`, in an index of functions given by its
    /// address and number of entries.
    ///
    /// # Errors
    /// [`Stop::End`] if the function cannot be unwound.
    pub fn find(memory: &impl Memory, (index, count): (u32, u32), pc: u32) -> Result<Self, Stop> {
        // The last entry that starts at or before the call; the table is sorted.
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            if prel31(memory, index + 8 * middle)? <= pc.wrapping_sub(1) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let at = index + 8 * low.checked_sub(1).ok_or(Stop::End)?;
        let function = prel31(memory, at)?;
        let word = memory.word(at + 4)?;
        if word == 1 {
            return Err(Stop::End);
        }
        if word & 0x8000_0000 != 0 {
            return Self::compact(function, at + 4, word);
        }
        let table = prel31(memory, at + 4)?;
        let head = memory.word(table)?;
        if head & 0x8000_0000 != 0 {
            return Self::compact(function, table, head);
        }
        let first = table.wrapping_add(4);
        let more = memory.word(first)? >> 24;
        Ok(Self {
            function,
            opcodes: (first, 3, more),
            lsda: Some(first.wrapping_add(4 * (1 + more))),
        })
    }

    /// Decodes the models without personality: 0 has three opcodes, 1 and 2 have two and a count of
    /// further words.
    fn compact(function: u32, at: u32, word: u32) -> Result<Self, Stop> {
        let opcodes = match (word >> 24) & 0xf {
            0 => (at, 3, 0),
            1 | 2 => (at, 2, (word >> 16) & 0xff),
            _ => return Err(Stop::Corrupt),
        };
        Ok(Self {
            function,
            opcodes,
            lsda: None,
        })
    }

    /// Undoes the frame: `registers` become those of the caller at its call.
    ///
    /// # Errors
    /// [`Stop::Corrupt`]; `registers` are then partly modified.
    pub fn step(&self, memory: &impl Memory, registers: &mut Registers) -> Result<(), Stop> {
        let mut opcodes = Opcodes {
            memory,
            at: self.opcodes.0,
            left: self.opcodes.1,
            words: self.opcodes.2,
        };
        let mut sp = registers.r[SP];
        let mut pc_popped = false;
        while let Some(opcode) = opcodes.next()? {
            match opcode {
                0x00..=0x3f => sp = sp.wrapping_add((u32::from(opcode) << 2) + 4),
                0x40..=0x7f => sp = sp.wrapping_sub((u32::from(opcode & 0x3f) << 2) + 4),
                0x80..=0x8f => {
                    let mask = u32::from(opcode & 0xf) << 8 | u32::from(opcodes.operand()?);
                    if mask == 0 {
                        return Err(Stop::End);
                    }
                    pc_popped |= mask & 0x800 != 0;
                    pop(memory, registers, &mut sp, mask << 4)?;
                }
                0x9d | 0x9f => return Err(Stop::Corrupt),
                0x90..=0x9f => sp = registers.r[usize::from(opcode & 0xf)],
                0xa0..=0xaf => {
                    let mask = (0x20 << (opcode & 7)) - 0x10;
                    let link = if opcode & 8 != 0 { 1 << LR } else { 0 };
                    pop(memory, registers, &mut sp, mask | link)?;
                }
                0xb0 => break,
                0xb1 => {
                    let mask = u32::from(opcodes.operand()?);
                    if mask == 0 || mask > 0xf {
                        return Err(Stop::Corrupt);
                    }
                    pop(memory, registers, &mut sp, mask)?;
                }
                0xb2 => sp = sp.wrapping_add(0x204).wrapping_add(opcodes.uleb()? << 2),
                0xb3 => {
                    let operand = opcodes.operand()?;
                    pop_double(memory, registers, &mut sp, operand >> 4, operand & 0xf)?;
                    sp = sp.wrapping_add(4);
                }
                0xb8..=0xbf => {
                    pop_double(memory, registers, &mut sp, 8, opcode & 7)?;
                    sp = sp.wrapping_add(4);
                }
                0xc8 => {
                    let operand = opcodes.operand()?;
                    pop_double(memory, registers, &mut sp, 16 + (operand >> 4), operand & 0xf)?;
                }
                0xc9 => {
                    let operand = opcodes.operand()?;
                    pop_double(memory, registers, &mut sp, operand >> 4, operand & 0xf)?;
                }
                0xd0..=0xd7 => pop_double(memory, registers, &mut sp, 8, opcode & 7)?,
                _ => return Err(Stop::Corrupt),
            }
        }
        registers.r[SP] = sp;
        if !pc_popped {
            registers.r[PC] = registers.r[LR];
        }
        Ok(())
    }
}

/// Pops the core registers of `mask`, lowest first.
fn pop(memory: &impl Memory, registers: &mut Registers, sp: &mut u32, mask: u32) -> Result<(), Stop> {
    let mut at = *sp;
    let mut popped_sp = None;
    for index in (0..16).filter(|index| mask & 1 << index != 0) {
        let value = memory.word(at)?;
        match index {
            SP => popped_sp = Some(value),
            _ => registers.r[index] = value,
        }
        at = at.wrapping_add(4);
    }
    *sp = popped_sp.unwrap_or(at);
    Ok(())
}

/// Pops d`first` to d`first + more`. Only d8 to d15 are preserved by calls, so the others are
/// ignored.
fn pop_double(memory: &impl Memory, registers: &mut Registers, sp: &mut u32, first: u8, more: u8) -> Result<(), Stop> {
    for index in first..=first + more {
        let value = u64::from(memory.word(*sp)?) | u64::from(memory.word(sp.wrapping_add(4))?) << 32;
        if let Some(place) = index
            .checked_sub(8)
            .and_then(|index| registers.d.get_mut(usize::from(index)))
        {
            *place = value;
        }
        *sp = sp.wrapping_add(8);
    }
    Ok(())
}

/// Iterates over the opcode bytes: within a word the high byte comes first.
struct Opcodes<'m, M: Memory> {
    memory: &'m M,
    at: u32,
    left: u32,
    words: u32,
}

impl<M: Memory> Opcodes<'_, M> {
    fn next(&mut self) -> Result<Option<u8>, Stop> {
        if self.left == 0 {
            if self.words == 0 {
                return Ok(None);
            }
            self.words -= 1;
            self.at = self.at.wrapping_add(4);
            self.left = 4;
        }
        self.left -= 1;
        Ok(Some((self.memory.word(self.at)? >> (8 * self.left)) as u8))
    }

    fn operand(&mut self) -> Result<u8, Stop> {
        self.next()?.ok_or(Stop::Corrupt)
    }

    fn uleb(&mut self) -> Result<u32, Stop> {
        let mut value = 0;
        for shift in (0..28).step_by(7) {
            let byte = self.operand()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Stop::Corrupt)
    }
}
