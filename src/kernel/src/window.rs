//! The window to the memory of the boards at the other ends of this one's links, at port GP1
//! (docs/gateware/remote.md).
//!
//! A load or store that fails is a data abort ([`crate::fault`]); the gateware's registers tell why.

use core::arch::{asm, naked_asm};

use kairos_channel::memory::{REMOTE_WINDOW, REMOTE_WINDOW_BYTES};
use kairos_contracts::registers::{satellite, uplink, window};
use kairos_contracts::rtio::BOARDS;
use kairos_kernel::exceptions::firmware_record;
use kairos_pl::Register;
use kairos_proto::descriptor::Descriptor;
use kairos_proto::exception::{Id, Record};

use crate::owned::Owned;

/// Links of a board at most.
pub const ENDS: usize = REMOTE_WINDOW.end.wrapping_sub(REMOTE_WINDOW.start) / REMOTE_WINDOW_BYTES;

/// What `window_fault` says of a link that the board does not have.
const NOBODY: u32 = 4;
const STORE: u32 = 8;

/// The place of a board that no link joins to this one, if the links leave it free.
const FAR: usize = ENDS - 1;

/// The board at the other end of a link.
#[derive(Clone, Copy)]
pub enum Neighbour {
    /// The one above this satellite, whose own destination stands in the register.
    Above(Register),
    /// A satellite, whose destination does, and the boards that can be reached there, itself included.
    Below(Register, Register),
}

impl Neighbour {
    /// Its destination, if this board knows it: of those above it knows the master as that of the
    /// first satellite.
    pub fn destination(self) -> Option<u32> {
        match self {
            Self::Above(own) => (own.read() == 1).then_some(0),
            Self::Below(register, _) => Some(register.read()),
        }
    }

    /// How many boards after this neighbour comes one to which the link leads; of the boards above
    /// none is known but the master.
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

/// The number of the link that leads to a board, and whether it is the one at its other end.
#[inline(never)]
pub fn end_to(destination: u32) -> Option<(usize, bool)> {
    // That upwards is the first one, and leads to what is not behind the others.
    let all = neighbours();
    let mut known = all.iter().enumerate().rev();
    known.find_map(|(n, neighbour)| Some((n, (*neighbour)?.leads(destination)? == 0)))
}

/// Where the window shows a board, which from then on it shows in place of another one if no link
/// joins it to this board: until [`restore`].
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

/// The board to which the kernel has pointers though no link joins it to this one.
static POINTED: Owned<Option<u32>> = Owned::new(None);

/// In a restart.
pub fn reclaim() {
    POINTED.set(None);
}

/// The kernel is to have pointers to a board. Else the board to which it has some, if there is no
/// room for another one.
pub fn point_to(destination: u32) -> Result<(), u32> {
    if let Some((_, false)) = end_to(destination) {
        match POINTED.get() {
            Some(other) if other != destination => return Err(other),
            _ => POINTED.set(Some(destination)),
        }
    }
    Ok(())
}

/// Pointers lead where they did, whatever board [`place_of`] has named since.
pub fn restore() {
    if let Some((far, board)) = WINDOW.get().and_then(|window| window.far).zip(POINTED.get()) {
        far.write(board);
    }
}

/// After reset of this core: finds the window. Whether each of its places may be accessed, the
/// first one in bit 0.
pub fn boot() -> u32 {
    let Ok(descriptor) = kairos_pl::descriptor() else {
        return 0;
    };
    let find = |name| Register::find(&descriptor, name);
    let (Some(ends), Some(fault), Some(address)) = (find(window::ENDS), find(window::FAULT), find(window::ADDRESS))
    else {
        return 0;
    };
    let above = find(uplink::DESTINATION).map(Neighbour::Above);
    let below = (0..ENDS).map_while(|n| below(&descriptor, n));
    let mut all = above.into_iter().chain(below);
    let far = find(window::FAR);
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

/// Takes what a store has left behind: waits for it, and lets its abort come.
pub fn settle() {
    // SAFETY: the handler of the abort notes an exception, and comes back.
    unsafe { asm!("dsb", "cpsie a", "isb", "nop", "cpsid a", options(nostack)) };
}

/// The exception for an access that has failed, at `address` of the window as far as the processor
/// knows it; `None` if there is no window.
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
        1 => "destination {0} does not export {1:#010x} of its memory for this",
        2 => "bus error at {1:#010x} on destination {0}",
        3 => "destination {0} does not answer about {1:#010x} of its memory: the link is lost, or it has no remote memory",
        NOBODY => "there is no remote memory at link {2} of this board (address {1:#010x})",
        _ => "an access to {1:#010x} of the memory of destination {0} failed",
    };
    let params = [
        destination,
        (place % REMOTE_WINDOW_BYTES) as i64,
        (place / REMOTE_WINDOW_BYTES) as i64,
    ];
    Some(firmware_record(Id::RemoteMemoryError, message, params))
}

/// Whether the instruction is one of the accesses below, which are functions without a frame.
pub fn is_access(pc: u32) -> bool {
    [load as *const (), store as *const ()]
        .iter()
        .any(|function| pc.wrapping_sub(*function as u32) < 16)
}

/// Loads a word.
///
/// # Safety
/// The address lies in the window. An exception is noted if it fails.
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

/// The destination of this board: 0, or what the board above has told it.
pub fn own() -> u32 {
    match neighbours()[0] {
        Some(Neighbour::Above(own)) => own.read(),
        _ => 0,
    }
}

pub fn neighbours() -> [Option<Neighbour>; ENDS] {
    WINDOW.get().map_or([None; ENDS], |window| window.neighbours)
}
