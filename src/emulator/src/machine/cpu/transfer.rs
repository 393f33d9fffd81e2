//! Decodes loads and stores (ARM ARM, A5.3, A5.5, A7.6): the bytes they access, and their
//! registers. Unicorn executes them; only accesses that take time are performed by the core
//! instead.

use unicorn_engine::{RegisterARM, Unicorn};

use super::exception::{get, set};

type Uc<'a> = Unicorn<'a, ()>;

/// Source or destination of a part of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Register {
    /// A general register.
    General(u32),
    /// The lower (false) or upper (true) half of D register `n`.
    Half(u32, bool),
}

/// A part of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The register.
    pub register: Register,
    /// 1, 2 or 4 bytes.
    pub size: u32,
    /// A loaded value is sign-extended.
    pub signed: bool,
}

/// A load or store that is about to be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Whether it is a store.
    pub write: bool,
    /// Address of the first part; the others follow without gaps.
    pub address: u32,
    /// Parts in the order of their addresses.
    pub parts: Vec<Part>,
    /// Base register and its new value, if written back.
    pub base: Option<(u32, u32)>,
}

/// General register `n` as an operand: r15 reads as the instruction's address + 8.
fn operand(uc: &Uc<'_>, n: u32, pc: u32) -> u32 {
    match n & 15 {
        13 => get(uc, RegisterARM::SP),
        14 => get(uc, RegisterARM::LR),
        15 => pc.wrapping_add(8),
        n => uc.reg_read(RegisterARM::R0 as i32 + n as i32).unwrap_or(0) as u32,
    }
}

/// Sets general register `n`; writing r15 is a branch.
fn set_operand(uc: &mut Uc<'_>, n: u32, value: u32) {
    match n & 15 {
        13 => set(uc, RegisterARM::SP, value),
        14 => set(uc, RegisterARM::LR, value),
        15 => set(uc, RegisterARM::PC, value),
        n => {
            let _ = uc.reg_write(RegisterARM::R0 as i32 + n as i32, value.into());
        }
    }
}

fn double(n: u32) -> i32 {
    RegisterARM::D0 as i32 + n as i32
}

/// Value of a shifted register offset.
fn shifted(uc: &Uc<'_>, word: u32, pc: u32) -> u32 {
    let (m, amount) = (operand(uc, word, pc), word >> 7 & 31);
    let carry = get(uc, RegisterARM::CPSR) >> 29 & 1;
    match (word >> 5 & 3, amount) {
        (0, n) => m << n,
        (1, 0) => 0,
        (1, n) => m >> n,
        (2, 0) => ((m as i32) >> 31) as u32,
        (2, n) => ((m as i32) >> n) as u32,
        (_, 0) => carry << 31 | m >> 1,
        (_, n) => m.rotate_right(n),
    }
}

/// VFP registers of the instruction `word`, as halves of D registers.
fn halves(word: u32) -> impl Iterator<Item = Register> {
    let bit = |n: u32| word >> n & 1 != 0;
    let (d, wide) = (word >> 12 & 15, bit(8));
    let single = bit(24) && !bit(21);
    let words = match (single, wide) {
        (true, false) => 1,
        (true, true) => 2,
        (false, _) => word & 0xff & !u32::from(wide),
    };
    // In halves of D registers: S register n is half n
    let first = if wide {
        2 * (d | (word >> 22 & 1) << 4)
    } else {
        (2 * d) | (word >> 22 & 1)
    };
    (first..first + words).map(|n| Register::Half((n / 2) & 31, n & 1 != 0))
}

impl Transfer {
    /// Decodes the A32 instruction `word` at `pc`. `None` if it is no load or store, or one of
    /// special kind (exclusive, NEON).
    pub fn of(uc: &Uc<'_>, word: u32, pc: u32) -> Option<Self> {
        let bit = |n: u32| word >> n & 1 != 0;
        let (n, t) = (word >> 16 & 15, word >> 12 & 15);
        if word >> 28 == 15 {
            return None;
        }
        let general = |register, size, signed| Part {
            register: Register::General(register),
            size,
            signed,
        };
        let rn = operand(uc, n, pc);
        let moved = |offset: u32| {
            if bit(23) {
                rn.wrapping_add(offset)
            } else {
                rn.wrapping_sub(offset)
            }
        };
        // (address, new base) for an offset
        let indexed = |offset: u32| {
            let after = Some((n, moved(offset)));
            match (bit(24), bit(21)) {
                (true, false) => (moved(offset), None),
                (true, true) => (moved(offset), after),
                (false, _) => (rn, after),
            }
        };
        let (write, (address, base), parts) = match word >> 25 & 7 {
            0 if bit(7) && bit(4) && word >> 5 & 3 != 0 => {
                let offset = if bit(22) {
                    word >> 4 & 0xf0 | word & 15
                } else {
                    operand(uc, word, pc)
                };
                let (write, parts) = match (bit(20), word >> 5 & 3) {
                    (false, 1) => (true, vec![general(t, 2, false)]),
                    (false, kind) => (kind == 3, vec![general(t, 4, false), general(t + 1, 4, false)]),
                    (true, 1) => (false, vec![general(t, 2, false)]),
                    (true, 2) => (false, vec![general(t, 1, true)]),
                    (true, _) => (false, vec![general(t, 2, true)]),
                };
                (write, indexed(offset), parts)
            }
            2 => (
                !bit(20),
                indexed(word & 0xfff),
                vec![general(t, if bit(22) { 1 } else { 4 }, false)],
            ),
            3 if !bit(4) => {
                let offset = shifted(uc, word, pc);
                (
                    !bit(20),
                    indexed(offset),
                    vec![general(t, if bit(22) { 1 } else { 4 }, false)],
                )
            }
            4 => {
                let length = 4 * (word & 0xffff).count_ones();
                let (low, high) = (rn.wrapping_sub(length), rn.wrapping_add(length));
                let (first, after) = match (bit(24), bit(23)) {
                    (false, true) => (rn, high),
                    (true, true) => (rn.wrapping_add(4), high),
                    (false, false) => (low.wrapping_add(4), low),
                    (true, false) => (low, low),
                };
                let registers = (0..16).filter(|n| word >> n & 1 != 0);
                let parts = registers.map(|register| general(register, 4, false)).collect();
                (!bit(20), (first, bit(21).then_some((n, after))), parts)
            }
            6 if word >> 9 & 7 == 5 => {
                let offset = 4 * (word & 0xff);
                let parts: Vec<Part> = halves(word)
                    .map(|register| Part {
                        register,
                        size: 4,
                        signed: false,
                    })
                    .collect();
                let base = if bit(24) && !bit(21) {
                    (moved(offset), None)
                } else {
                    (
                        if bit(23) { rn } else { rn.wrapping_sub(offset) },
                        bit(21).then_some((n, moved(offset))),
                    )
                };
                (!bit(20), base, parts)
            }
            _ => return None,
        };
        Some(Self {
            write,
            address,
            parts,
            base,
        })
    }

    /// Address of part `n`.
    pub fn at(&self, n: usize) -> u32 {
        let before: u32 = self.parts[..n].iter().map(|part| part.size).sum();
        self.address.wrapping_add(before)
    }

    /// The value stored by part `n`.
    pub fn stored(&self, uc: &Uc<'_>, n: usize, pc: u32) -> u32 {
        let Part { register, size, .. } = self.parts[n];
        let value = match register {
            Register::General(register) => operand(uc, register, pc),
            Register::Half(d, upper) => (uc.reg_read(double(d)).unwrap_or(0) >> (32 * u32::from(upper))) as u32,
        };
        value & (u64::MAX >> (64 - 8 * size)) as u32
    }

    /// Completes the instruction: `loaded` are the values of a load's parts.
    pub fn complete(&self, uc: &mut Uc<'_>, loaded: &[u32]) {
        if let Some((register, value)) = self.base {
            set_operand(uc, register, value);
        }
        for (part, value) in self.parts.iter().zip(loaded) {
            let value = match (part.signed, part.size) {
                (true, 1) => *value as i8 as u32,
                (true, 2) => *value as i16 as u32,
                _ => *value,
            };
            match part.register {
                Register::General(register) => set_operand(uc, register, value),
                Register::Half(d, upper) => {
                    let shift = 32 * u32::from(upper);
                    let old = uc.reg_read(double(d)).unwrap_or(0);
                    let new = old & !(0xffff_ffff << shift) | u64::from(value) << shift;
                    let _ = uc.reg_write(double(d), new);
                }
            }
        }
    }
}

/// First and last byte accessed by the A32 load or store `word` at `pc`. `None` for any other
/// instruction.
pub fn touched(uc: &Uc<'_>, word: u32, pc: u32) -> Option<(u32, u32)> {
    let span = |at: u32, length: u32| Some((at, at.wrapping_add(length.max(1) - 1)));
    let rn = operand(uc, word >> 16, pc);
    // LDREX, STREX and their other sizes.
    if word >> 23 & 0x1f == 3 && word >> 4 & 0xf == 9 {
        return span(rn, [4, 8, 1, 2][(word >> 21 & 3) as usize]);
    }
    // NEON element and structure transfers
    if word >> 24 == 0xf4 && word >> 20 & 1 == 0 {
        return span(rn, 8);
    }
    let transfer = Transfer::of(uc, word, pc)?;
    span(transfer.address, transfer.parts.iter().map(|part| part.size).sum())
}

#[cfg(test)]
mod tests {
    use unicorn_engine::{Arch, ArmCpuModel, Mode};

    use super::*;

    const BASE: u32 = 0x8000_0010;

    /// r1 is the base, r2 an offset of 4; r3 and d8 hold patterns.
    fn core() -> Unicorn<'static, ()> {
        let mut uc = Unicorn::new(Arch::ARM, Mode::LITTLE_ENDIAN).unwrap();
        uc.ctl_set_cpu_model(ArmCpuModel::CORTEX_A9 as i32).unwrap();
        set_operand(&mut uc, 1, BASE);
        set_operand(&mut uc, 2, 4);
        set_operand(&mut uc, 3, 0x8182_8384);
        uc.reg_write(double(8), 0x1122_3344_5566_7788).unwrap();
        uc
    }

    fn transfer(word: u32) -> Transfer {
        Transfer::of(&core(), word, 0x1000).unwrap()
    }

    /// (store, address, sizes, base register's new value)
    fn decoded(word: u32) -> (bool, u32, Vec<u32>, Option<u32>) {
        let t = transfer(word);
        let base = t.base.map(|(register, value)| {
            assert_eq!(register, 1);
            value
        });
        (t.write, t.address, t.parts.iter().map(|part| part.size).collect(), base)
    }

    #[test]
    fn transfer_has_address_size_and_base_of_its_opcode() {
        assert_eq!(decoded(0xe591_0008), (false, BASE + 8, vec![4], None)); // ldr r0, [r1, #8]
        assert_eq!(decoded(0xe531_0008), (false, BASE - 8, vec![4], Some(BASE - 8))); // ldr r0, [r1, #-8]!
        assert_eq!(decoded(0xe491_0004), (false, BASE, vec![4], Some(BASE + 4))); // ldr r0, [r1], #4
        assert_eq!(decoded(0xe791_0102), (false, BASE + 16, vec![4], None)); // ldr r0, [r1, r2, lsl #2]
        assert_eq!(decoded(0xe5c1_3001), (true, BASE + 1, vec![1], None)); // strb r3, [r1, #1]
        assert_eq!(decoded(0xe1c1_30b2), (true, BASE + 2, vec![2], None)); // strh r3, [r1, #2]
        assert_eq!(decoded(0xe1d1_30d1), (false, BASE + 1, vec![1], None)); // ldrsb r3, [r1, #1]
        assert_eq!(decoded(0xe1c1_40d8), (false, BASE + 8, vec![4, 4], None)); // ldrd r4, r5, [r1, #8]
        assert_eq!(decoded(0xe1c1_40f8), (true, BASE + 8, vec![4, 4], None)); // strd r4, r5, [r1, #8]
        assert_eq!(decoded(0xe8b1_0019), (false, BASE, vec![4; 3], Some(BASE + 12))); // ldm r1!, {r0, r3, r4}
        assert_eq!(decoded(0xe921_0018), (true, BASE - 8, vec![4; 2], Some(BASE - 8))); // stmdb r1!, {r3, r4}
        assert_eq!(decoded(0xed91_8b02), (false, BASE + 8, vec![4; 2], None)); // vldr d8, [r1, #8]
        assert_eq!(decoded(0xecb1_8b04), (false, BASE, vec![4; 4], Some(BASE + 16))); // vldmia r1!, {d8-d9}
        assert_eq!(Transfer::of(&core(), 0xe191_0f9f, 0), None); // ldrex r0, [r1]
        assert_eq!(touched(&core(), 0xe191_0f9f, 0), Some((BASE, BASE + 3)));
        assert_eq!(Transfer::of(&core(), 0xe080_0001, 0), None); // add
    }

    #[test]
    fn transferred_values_have_their_width_and_sign() {
        let mut uc = core();
        assert_eq!(transfer(0xe5c1_3001).stored(&uc, 0, 0), 0x84);
        assert_eq!(transfer(0xe581_3000).stored(&uc, 0, 0), 0x8182_8384); // str r3, [r1]
        let vstr = transfer(0xed81_8b00); // vstr d8, [r1]
        assert_eq!(
            [vstr.stored(&uc, 0, 0), vstr.stored(&uc, 1, 0)],
            [0x5566_7788, 0x1122_3344]
        );
        let vldr = transfer(0xedd1_4a00); // vldr s9, [r1]
        assert_eq!(vldr.parts[0].register, Register::Half(4, true));
        transfer(0xe1d1_30d1).complete(&mut uc, &[0x80]);
        assert_eq!(operand(&uc, 3, 0), 0xffff_ff80);
        transfer(0xe8b1_0019).complete(&mut uc, &[1, 2, 3]);
        assert_eq!([0, 3, 4, 1].map(|n| operand(&uc, n, 0)), [1, 2, 3, BASE + 12]);
        vldr.complete(&mut uc, &[7]);
        assert_eq!(uc.reg_read(double(4)).unwrap() >> 32, 7);
    }
}
