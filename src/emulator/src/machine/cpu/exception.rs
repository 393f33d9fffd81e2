//! Exception entry, performed by the host, and the fault status, which Unicorn does not supply.

use unicorn_engine::{uc_reg_write, RegisterARM, RegisterARMCP, Unicorn};

use crate::machine::memory::Memory;

/// Exceptions taken by a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exception {
    /// Undefined instruction.
    Undefined,
    /// Supervisor call.
    SupervisorCall,
    /// Prefetch abort or breakpoint.
    PrefetchAbort,
    /// Data abort.
    DataAbort,
    /// Interrupt.
    Irq,
}

impl Exception {
    /// Returns (vector offset, mode).
    fn vector(self) -> (u32, u32) {
        match self {
            Self::Undefined => (0x04, 0x1b),
            Self::SupervisorCall => (0x08, 0x13),
            Self::PrefetchAbort => (0x0c, 0x17),
            Self::DataAbort => (0x10, 0x17),
            Self::Irq => (0x18, 0x12),
        }
    }
}

/// Fault status of a synchronous external abort (short descriptors).
pub const EXTERNAL_ABORT: u32 = 0x08;
/// Fault status of an asynchronous external abort of a store.
pub const ASYNCHRONOUS_ABORT: u32 = 0xc06;
/// Added to either if the slave responded with an error rather than none at all (ExT; Cortex-A9
/// TRM, "Data Fault Status Register").
pub const SLAVE_ERROR: u32 = 0x1000;
/// Fault status of an unaligned access to memory that requires alignment.
pub const ALIGNMENT: u32 = 0x01;
/// Fault status of a debug event (`bkpt`).
pub const DEBUG_EVENT: u32 = 0x02;

type Uc<'a> = Unicorn<'a, ()>;

/// Address of a Secure CP15 register: (CRn, op1, CRm, op2).
fn register(crn: u32, opc1: u32, crm: u32, opc2: u32) -> RegisterARMCP {
    RegisterARMCP {
        cp: 15,
        is64: 0,
        sec: 1,
        crn,
        crm,
        opc1,
        opc2,
        val: 0,
    }
}

/// Reads a Secure CP15 register.
pub fn cp15(uc: &Uc<'_>, crn: u32, opc1: u32, crm: u32, opc2: u32) -> u32 {
    let mut r = register(crn, opc1, crm, opc2);
    match uc.reg_read_arm_coproc(&mut r) {
        Ok(()) => r.val as u32,
        Err(_) => 0,
    }
}

/// Writes a Secure CP15 register.
pub fn set_cp15(uc: &mut Uc<'_>, crn: u32, opc1: u32, crm: u32, opc2: u32, value: u32) {
    let mut r = register(crn, opc1, crm, opc2);
    r.val = value.into();
    write_coprocessor(uc, r);
}

/// Writes a coprocessor register. Unicorn changes the structure it is given, so its safe wrapper
/// for constants is not used.
pub fn write_coprocessor(uc: &mut Uc<'_>, mut register: RegisterARMCP) {
    // SAFETY: this register number expects this structure, which is a local.
    let _ = unsafe { uc_reg_write(uc.get_handle(), RegisterARM::CP_REG.into(), (&raw mut register).cast()) };
}

/// Reads a core register.
pub fn get(uc: &Uc<'_>, r: RegisterARM) -> u32 {
    uc.reg_read(r).unwrap_or(0) as u32
}

/// Sets a core register.
pub fn set(uc: &mut Uc<'_>, r: RegisterARM, value: u32) {
    let _ = uc.reg_write(r, value.into());
}

/// Enters `exception` with the given link register value. Returns the address of the vector.
pub fn enter(uc: &mut Uc<'_>, exception: Exception, link: u32) -> u32 {
    let (offset, mode) = exception.vector();
    let sctlr = cp15(uc, 1, 0, 0, 0);
    let base = if sctlr >> 13 & 1 != 0 {
        0xffff_0000
    } else {
        cp15(uc, 12, 0, 0, 0)
    };
    let old = get(uc, RegisterARM::CPSR);
    // Keep flags; clear IT, J, T, E and the mode; mask IRQ, and asynchronous aborts where the
    // architecture requires it.
    let mut new = old & 0xf80f_01c0 | mode | 0x80;
    if !matches!(exception, Exception::Undefined | Exception::SupervisorCall) {
        new |= 0x100;
    }
    new |= (sctlr >> 30 & 1) << 5 | (sctlr >> 25 & 1) << 9;
    let pc = base.wrapping_add(offset);
    set(uc, RegisterARM::CPSR, new);
    set(uc, RegisterARM::SPSR, old);
    set(uc, RegisterARM::LR, link);
    set(uc, RegisterARM::PC, pc | sctlr >> 30 & 1);
    pc
}

/// Sets DFSR and DFAR.
pub fn set_data_fault(uc: &mut Uc<'_>, status: u32, write: bool, address: u32) {
    set_cp15(uc, 5, 0, 0, 0, status | u32::from(write) << 11);
    set_cp15(uc, 6, 0, 0, 0, address);
}

/// Sets IFSR and IFAR.
pub fn set_fetch_fault(uc: &mut Uc<'_>, status: u32, address: u32) {
    set_cp15(uc, 5, 0, 0, 1, status);
    set_cp15(uc, 6, 0, 0, 2, address);
}

/// Fault status, in the short-descriptor format, of an access to `address`, by a table walk; `None`
/// if the MMU allows it.
pub fn walk(uc: &Uc<'_>, memory: &Memory, address: u32, write: bool, fetch: bool) -> Option<u32> {
    let sctlr = cp15(uc, 1, 0, 0, 0);
    if sctlr & 1 == 0 {
        return None;
    }
    let n = cp15(uc, 2, 0, 0, 2) & 7;
    let high = n != 0 && address >> (32 - n) != 0;
    let base = if high {
        cp15(uc, 2, 0, 0, 1) & 0xffff_c000
    } else {
        cp15(uc, 2, 0, 0, 0) & !((1 << (14 - n)) - 1)
    };
    let index = if high { address >> 20 } else { address << n >> n >> 20 };
    let first = memory.word(base + 4 * index);
    let domain = cp15(uc, 3, 0, 0, 0) >> (2 * (first >> 5 & 15)) & 3;
    let user = get(uc, RegisterARM::CPSR) & 0x1f == 0x10;
    let (page, permission, never) = match first & 3 {
        0 | 3 => return Some(0x05),
        1 => {
            let second = memory.word((first & 0xffff_fc00) + 4 * (address >> 12 & 0xff));
            let xn = match second & 3 {
                0 => return Some(0x07),
                1 => second >> 15 & 1,
                _ => second & 1,
            };
            (0x02, second >> 7 & 4 | second >> 4 & 3, xn != 0)
        }
        _ => (0x00, first >> 13 & 4 | first >> 10 & 3, first >> 4 & 1 != 0),
    };
    match domain {
        0 | 2 => return Some(0x09 | page),
        3 => return None,
        _ => {}
    }
    let (read_ok, write_ok) = match (permission, user) {
        (0, _) => (false, false),
        (1, false) | (2, false) | (3, _) => (true, true),
        (2, true) | (6, _) | (7, _) | (5, false) => (true, false),
        _ => (false, false),
    };
    let allowed = if write { write_ok } else { read_ok };
    (!allowed || fetch && never).then_some(0x0d | page)
}
