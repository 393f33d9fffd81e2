//! The window at port GP1 to the memory of the boards at the other ends of this one's links
//! (docs/gateware/remote.md).
//!
//! A load or store that fails is a data abort ([`crate::fault`]); the gateware's registers contain
//! the reason.

use core::arch::{asm, naked_asm};

use kairos_contracts::registers::{satellite, uplink, window};
use kairos_contracts::rtio::BOARDS;
use kairos_intercore::memory::{REMOTE_WINDOW, REMOTE_WINDOW_BYTES};
use kairos_kernel::exceptions::firmware_record;
use kairos_pl::Register;
use kairos_proto::descriptor::Descriptor;
use kairos_proto::exception::{Id, Record};

use crate::owned::Owned;

/// Most links of a board.
pub const ENDS: usize = REMOTE_WINDOW.end.wrapping_sub(REMOTE_WINDOW.start) / REMOTE_WINDOW_BYTES;

/// Value of `window_fault` for a link that the board does not have.
const NO_LINK: u32 = 4;
const STORE: u32 = 8;

/// The place for a board without a direct link to this one, if the links leave it free.
const FAR: usize = ENDS - 1;

/// The board at the other end of a link.
#[derive(Clone, Copy)]
pub enum Neighbour {
    /// The board above this satellite, with the register of this satellite's own destination.
    Above(Register),
    /// A satellite, with the registers of its destination and of the boards that can be reached
    /// there, itself included.
    Below(Register, Register),
}

impl Neighbour {
    /// Its destination, if known: of the boards above, only the master is known, as the neighbour
    /// of the first satellite.
    pub fn destination(self) -> Option<u32> {
        match self {
            Self::Above(own) => (own.read() == 1).then_some(0),
            Self::Below(register, _) => Some(register.read()),
        }
    }

    /// The offset from this neighbour of a board to which the link leads; of the boards above, only
    /// the master is known.
    #[inline(never)]
    fn leads(self, destination: u32) -> Option<u32> {
        match self {
            Self::Above(own) => (destination < BOARDS as u32 && destination != own.read())
                .then(|| u32::from(own.read() > 1 || destination > 0)),
            Self::Below(first, boards) => {
                let offset = destination.wrapping_sub(first.read());
                (offset == 0 || (offset < BOARDS as u32 && (boards.read() >> offset) & 1 != 0)).then_some(offset)
            }
        }
    }
}

/// The number of the link that leads to a board, and whether that is the link's neighbour.
#[inline(never)]
pub fn end_to(destination: u32) -> Option<(usize, bool)> {
    // The upstream link is the first, and leads to all boards that are not behind the others.
    let all = neighbours();
    let mut known = all.iter().enumerate().rev();
    known.find_map(|(n, neighbour)| Some((n, (*neighbour)?.leads(destination)? == 0)))
}

/// The window's place of a board. For a board without a direct link, the shared place shows it from
/// then on, until [`restore`].
pub fn place_of(destination: u32) -> Option<usize> {
    match end_to(destination)? {
        (end, true) => Some(end),
        _ => {
            let window = WINDOW.get()?;
            window
                .far
                .filter(|_| window.neighbours[FAR].is_none())?
                .write(destination);
            Some(FAR)
        }
    }
}

#[derive(Clone, Copy)]
struct Window {
    fault: Register,
    address: Register,
    far: Option<Register>,
    neighbours: [Option<Neighbour>; ENDS],
}

/// Found at boot, before any kernel.
static WINDOW: Owned<Option<Window>> = Owned::new(None);

/// The board without a direct link to which the kernel has pointers.
static POINTED: Owned<Option<u32>> = Owned::new(None);

/// Clears the state in a restart.
pub fn reclaim() {
    POINTED.set(None);
}

/// Allows the kernel pointers to a board. If the shared place is taken, returns the board that has
/// it.
pub fn point_to(destination: u32) -> Result<(), u32> {
    if let Some((_, false)) = end_to(destination) {
        match POINTED.get() {
            Some(other) if other != destination => return Err(other),
            _ => POINTED.set(Some(destination)),
        }
    }
    Ok(())
}

/// Restores the target of the kernel's pointers, whatever board [`place_of`] has selected since.
pub fn restore() {
    if let Some((far, board)) = WINDOW.get().and_then(|window| window.far).zip(POINTED.get()) {
        far.write(board);
    }
}

/// After reset of this core: finds the window. Returns a bit for each place that may be accessed,
/// the first one in bit 0.
pub fn boot() -> u32 {
    let Ok(descriptor) = kairos_pl::descriptor() else {
        return 0;
    };
    let find = |name| Register::find(&descriptor, name);
    let (Some(ends), Some(fault), Some(address)) = (find(window::LINKS), find(window::FAULT), find(window::ADDRESS))
    else {
        return 0;
    };
    let above = find(uplink::DESTINATION).map(Neighbour::Above);
    let below = (0..ENDS).map_while(|n| below(&descriptor, n));
    let mut all = above.into_iter().chain(below);
    let far = find(window::DESTINATION);
    WINDOW.set(Some(Window {
        fault,
        address,
        far,
        neighbours: core::array::from_fn(|_| all.next()),
    }));
    ((1 << ends.read()) - 1) | (u32::from(far.is_some()) << FAR)
}

#[inline(never)]
fn below(descriptor: &Descriptor, number: usize) -> Option<Neighbour> {
    let find = |name| Register::find_numbered(descriptor, name, number);
    Some(Neighbour::Below(
        find(satellite::DESTINATION)?,
        find(satellite::BOARDS)?,
    ))
}

/// Waits for pending stores, and takes their aborts.
pub fn complete_stores() {
    // SAFETY: the handler of the abort notes an exception, and returns.
    unsafe { asm!("dsb", "cpsie a", "isb", "nop", "cpsid a", options(nostack)) };
}

/// The exception for a failed access, at `address` of the window as far as the processor knows it;
/// `None` if there is no window.
pub fn fault(address: Option<u32>) -> Option<Record> {
    let window = WINDOW.get()?;
    let (why, newest) = (window.fault.read(), window.address.read());
    let address = address.unwrap_or(newest);
    let place = (address as usize).wrapping_sub(REMOTE_WINDOW.start);
    let destination = match window.neighbours.get(place / REMOTE_WINDOW_BYTES) {
        Some(Some(board)) => board.destination(),
        _ => window.far.map(|register| register.read()),
    };
    let destination = destination.map_or(-1, i64::from);
    let message = match why & (STORE - 1) {
        1 => "destination {0} does not export {1:#010x} of its memory for this access",
        2 => "bus error at {1:#010x} on destination {0}",
        3 => "destination {0} does not answer the access to {1:#010x}: the link is lost, or it has no remote memory",
        NO_LINK => "there is no remote memory at link {2} of this board (address {1:#010x})",
        _ => "an access to {1:#010x} of the memory of destination {0} failed",
    };
    let params = [
        destination,
        (place % REMOTE_WINDOW_BYTES) as i64,
        (place / REMOTE_WINDOW_BYTES) as i64,
    ];
    Some(firmware_record(Id::RemoteMemoryError, message, params))
}

/// Whether the instruction belongs to one of the accesses below, which are functions without a
/// frame.
pub fn is_access(pc: u32) -> bool {
    [load as *const (), store as *const ()]
        .iter()
        .any(|function| pc.wrapping_sub(*function as u32) < 16)
}

/// Loads a word.
///
/// # Safety
/// The address must lie in the window. An exception is noted if the access fails.
#[unsafe(naked)]
pub unsafe extern "C" fn load(address: u32) -> u32 {
    naked_asm!("ldr r0, [r0]", "dsb", "nop", "bx lr")
}

/// Stores a word.
///
/// # Safety
/// As for [`load`].
#[unsafe(naked)]
pub unsafe extern "C" fn store(address: u32, value: u32) {
    naked_asm!("str r1, [r0]", "dsb", "nop", "bx lr")
}

/// The destination of this board: 0, or the one assigned by the upstream board.
pub fn own() -> u32 {
    match neighbours()[0] {
        Some(Neighbour::Above(own)) => own.read(),
        _ => 0,
    }
}

pub fn neighbours() -> [Option<Neighbour>; ENDS] {
    WINDOW.get().map_or([None; ENDS], |window| window.neighbours)
}
