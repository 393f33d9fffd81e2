//! The window at port GP1 to the memory of the boards at the other ends of this one's links
//! (docs/gateware/remote.md).
//!
//! A load or store that fails is a data abort ([`crate::fault`]); the gateware's registers contain
//! the reason.

use core::arch::{asm, naked_asm};

use kairos_contracts::registers::{bridge, cross, satellite, uplink, window};
use kairos_contracts::remote::RemoteStatus;
use kairos_contracts::rtio::BOARDS;
use kairos_intercore::memory::{REMOTE_WINDOW, REMOTE_WINDOW_BYTES};
use kairos_kernel::exceptions::firmware_record;
use kairos_pl::Register;
use kairos_proto::descriptor::Descriptor;
use kairos_proto::exception::{Id, Record};

use crate::owned::Owned;
use crate::raise;

/// Most links of a board.
pub const ENDS: usize = REMOTE_WINDOW.end.wrapping_sub(REMOTE_WINDOW.start) / REMOTE_WINDOW_BYTES;

const STORE: u32 = 8;
const REFUSED: u32 = RemoteStatus::Refused as u32;
const BUS_ERROR: u32 = RemoteStatus::BusError as u32;

/// The slot of a board without a direct link to this one, if the links leave it free.
const SHARED: usize = ENDS - 1;

/// The message of an access by a link without remote memory. Its parameter: destination.
pub const NO_MEMORY: &str = "there is no remote memory at the link to destination {0}";

/// What the register of a cross link has above the number of the board to which it leads.
const ACROSS: u32 = cross::DESTINATION_LEADS_BIT | cross::DESTINATION_KNOWN_BIT;

/// The board at the other end of a link.
#[derive(Clone, Copy)]
pub enum Neighbour {
    /// The upstream board of this satellite, with the register of this satellite's own destination, and whether a
    /// bridge begins at the link: it leads to no other board, so the number of any board upstream means that one.
    Upstream(Register, bool),
    /// A satellite, with the registers of its destination and of the boards that can be reached
    /// there, itself included.
    Downstream(Register, Register),
    /// A board at the other end of a cross link, with the register that names it.
    Across(Register),
}

impl Neighbour {
    /// Its destination, if known: of the upstream boards, only the master is known, as the neighbour
    /// of the first satellite; of that behind a bridge, the number by which the kernel calls it.
    pub fn destination(self) -> Option<u32> {
        match self {
            Self::Upstream(own, false) => (own.read() == 1).then_some(0),
            Self::Upstream(_, true) => Some(BRIDGED.get()),
            Self::Downstream(register, _) => Some(register.read()),
            Self::Across(register) => Some(register.read() & (cross::DESTINATION_LEADS_BIT - 1)),
        }
    }

    /// The offset from this neighbour of a board to which the link leads; of the upstream boards, only
    /// the master is known.
    #[inline(never)]
    fn leads(self, destination: u32) -> Option<u32> {
        match self {
            // Boards upstream have lower numbers.
            Self::Upstream(own, true) => (destination < own.read()).then_some(0),
            Self::Upstream(own, false) => (destination < BOARDS as u32 && destination != own.read())
                .then(|| u32::from(own.read() > 1 || destination > 0)),
            Self::Downstream(first, boards) => {
                let offset = destination.wrapping_sub(first.read());
                (offset == 0 || (offset < BOARDS as u32 && (boards.read() >> offset) & 1 != 0)).then_some(offset)
            }
            // While the link is down, the tree leads there.
            Self::Across(register) => (register.read().wrapping_sub(ACROSS) == destination).then_some(0),
        }
    }
}

/// The number of the link that leads to a board, and whether that is the link's neighbour.
#[inline(never)]
pub fn end_to(destination: u32) -> Option<(usize, bool)> {
    // The upstream link is the first, and leads to all boards that are not behind the others; cross links are the last.
    let all = neighbours();
    let mut known = all.iter().enumerate().rev();
    known.find_map(|(n, neighbour)| Some((n, (*neighbour)?.leads(destination)? == 0)))
}

/// The window's slot of a board. For a board without a direct link, the shared slot shows it from
/// then on, until [`restore`].
pub fn slot_of(destination: u32) -> Option<usize> {
    match end_to(destination)? {
        (end, true) => {
            if end == 0 {
                BRIDGED.set(destination);
            }
            Some(end)
        }
        _ => shared_slot(destination),
    }
}

/// The shared slot, which shows a board without a direct link, or a block in the logic of this one, from then on.
pub fn shared_slot(destination: u32) -> Option<usize> {
    let window = WINDOW.get()?;
    window
        .shared
        .filter(|_| window.neighbours[SHARED].is_none())?
        .write(destination);
    Some(SHARED)
}

#[derive(Clone, Copy)]
struct Window {
    fault: Register,
    address: Register,
    shared: Option<Register>,
    posting: Option<Posting>,
    neighbours: [Option<Neighbour>; ENDS],
}

/// Registers of posted stores, which are answered before the other board has executed them.
#[derive(Clone, Copy)]
struct Posting {
    posted: Register,
    late: Register,
    address: Register,
    clear: Register,
}

/// Bits of `window_late`.
const FAILED: u32 = 1;
const IDLE: u32 = 2;
const STATUS_AT: u32 = 2;

impl Posting {
    fn find(descriptor: &Descriptor) -> Option<Self> {
        let find = |name| Register::find(descriptor, name);
        Some(Self {
            posted: find(window::POSTED)?,
            late: find(window::LATE)?,
            address: find(window::LATE_ADDRESS)?,
            clear: find(window::LATE_CLEAR)?,
        })
    }

    /// Takes the failure of a posted store: its status and address.
    fn take(&self) -> Option<(u32, u32)> {
        let late = self.late.read();
        (late & FAILED != 0).then(|| {
            let address = self.address.read();
            self.clear.write(1);
            (late >> STATUS_AT, address)
        })
    }
}

/// Whether the kernel has stores posted.
static POSTS: Owned<bool> = Owned::new(false);

/// Has stores through the window posted from now on, or not. Does nothing if the gateware cannot.
pub fn post(posts: bool) {
    if let Some(posting) = posting() {
        posting.posted.write(posts.into());
    }
}

/// The same at the kernel's request, which [`post_as_asked`] restores.
pub fn set_posting(posts: bool) {
    POSTS.set(posts);
    post(posts);
}

/// Posts stores, or not, as the kernel has requested.
pub fn post_as_asked() {
    post(POSTS.get());
}

fn posting() -> Option<Posting> {
    WINDOW.get()?.posting
}

/// Waits until the other boards have executed all posted stores. Returns the exception for the first
/// that has failed, so that no later access is blamed for the others.
pub fn drain() -> Option<Record> {
    let posting = posting()?;
    let mut first = None;
    loop {
        let late = posting.late.read();
        if late & FAILED != 0 {
            first = first.or(late_fault());
        } else if late & IDLE != 0 {
            return first;
        }
    }
}

/// The exception for a posted store that has failed, if one has.
fn late_fault() -> Option<Record> {
    let (status, address) = posting()?.take()?;
    let message = match status {
        REFUSED => "destination {0} does not export {1:#010x} of its memory for a store that was posted",
        BUS_ERROR => "bus error at {1:#010x} on destination {0}, of a store that was posted",
        _ => "destination {0} did not answer a store to {1:#010x} that was posted: the link is lost",
    };
    Some(record_at(message, address))
}

/// Found at boot, before any kernel.
static WINDOW: Owned<Option<Window>> = Owned::new(None);

/// The number by which the kernel has called the board at the first link.
static BRIDGED: Owned<u32> = Owned::new(0);

/// The board without a direct link to which the kernel has pointers.
static POINTED: Owned<Option<u32>> = Owned::new(None);

/// Clears the state in a restart.
pub fn reclaim() {
    POINTED.set(None);
    set_posting(false);
    // Failures of the kernel that has ended concern nobody any more.
    drain();
}

/// Allows the kernel pointers to a board, or to the block in the logic of this one. If the shared slot is taken, returns
/// the board that has it.
pub fn point_to(destination: u32, block: bool) -> Result<(), u32> {
    if block || matches!(end_to(destination), Some((_, false))) {
        match POINTED.get() {
            Some(other) if other != destination => return Err(other),
            _ => POINTED.set(Some(destination)),
        }
    }
    Ok(())
}

/// Restores the target of the kernel's pointers, whatever board [`slot_of`] has selected since.
pub fn restore() {
    if let Some((shared, board)) = WINDOW.get().and_then(|window| window.shared).zip(POINTED.get()) {
        shared.write(board);
    }
}

/// After reset of this core: finds the window. Returns a bit for each slot that may be accessed,
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
    let upstream = find(uplink::DESTINATION).map(|own| Neighbour::Upstream(own, find(bridge::LEVELS).is_some()));
    let downstream = (0..ENDS).map_while(|n| downstream(&descriptor, n));
    let across = (0..ENDS).filter_map(|n| Register::find_numbered(&descriptor, cross::DESTINATION, n));
    let mut all = upstream
        .into_iter()
        .chain(downstream)
        .chain(across.map(Neighbour::Across));
    let shared = find(window::DESTINATION);
    WINDOW.set(Some(Window {
        fault,
        address,
        shared,
        posting: Posting::find(&descriptor),
        neighbours: core::array::from_fn(|_| all.next()),
    }));
    ((1 << ends.read()) - 1) | (u32::from(shared.is_some()) << SHARED)
}

#[inline(never)]
fn downstream(descriptor: &Descriptor, number: usize) -> Option<Neighbour> {
    let find = |name| Register::find_numbered(descriptor, name, number);
    Some(Neighbour::Downstream(
        find(satellite::DESTINATION)?,
        find(satellite::BOARDS)?,
    ))
}

/// Waits for pending stores, and takes their aborts. Notes an exception for a posted one that has
/// failed.
pub fn complete_stores() {
    // SAFETY: the handler of the abort notes an exception, and returns.
    unsafe { asm!("dsb", "cpsie a", "isb", "nop", "cpsid a", options(nostack)) };
    if POSTS.get() {
        set_posting(false);
        if let Some(record) = drain() {
            raise::record(record);
        }
    }
}

/// The exception for a failed access, at `address` of the window as far as the processor knows it;
/// `None` if there is no window.
pub fn fault(address: Option<u32>) -> Option<Record> {
    if let Some(record) = late_fault() {
        return Some(record);
    }
    let window = WINDOW.get()?;
    let (why, newest) = (window.fault.read() & (STORE - 1), window.address.read());
    let address = address.unwrap_or(newest);
    let message = match why {
        BUS_ERROR if is_bridged(address) => {
            "bus error at {1:#010x} on destination {0}: a bridge leads there, to a block or pages and no other memory"
        }
        _ => cause_of(why),
    };
    Some(record_at(message, address))
}

/// Whether a bridge is at the link whose addresses in the window these are.
fn is_bridged(address: u32) -> bool {
    let link = (address as usize).wrapping_sub(REMOTE_WINDOW.start) / REMOTE_WINDOW_BYTES;
    kairos_pl::descriptor().is_ok_and(|found| Register::find_numbered(&found, bridge::LEVELS, link).is_some())
}

/// The message of a failed access or copy. Its parameters: destination, address in its memory.
pub fn cause_of(status: u32) -> &'static str {
    match RemoteStatus::try_from(status) {
        Ok(RemoteStatus::Refused) => "destination {0} does not export {1:#010x} of its memory for this access",
        Ok(RemoteStatus::BusError) => "bus error at {1:#010x} on destination {0}",
        Ok(RemoteStatus::Unreachable) => {
            "destination {0} does not answer the access to {1:#010x}: the link is lost, or it has no remote memory"
        }
        Ok(RemoteStatus::NoLink) => NO_MEMORY,
        _ => "an access to {1:#010x} of the memory of destination {0} failed",
    }
}

/// An exception for a failure at an address of the window. Parameters of the message: destination,
/// address in its memory.
fn record_at(message: &'static str, address: u32) -> Record {
    let place = (address as usize).wrapping_sub(REMOTE_WINDOW.start);
    let window = WINDOW.get();
    let board = window.and_then(|window| *window.neighbours.get(place / REMOTE_WINDOW_BYTES)?);
    let destination = match board {
        Some(board) => board.destination(),
        None => window.and_then(|window| window.shared).map(|register| register.read()),
    };
    let params = [
        destination.map_or(-1, i64::from),
        (place % REMOTE_WINDOW_BYTES) as i64,
        0,
    ];
    firmware_record(Id::RemoteMemoryError, message, params)
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
        Some(Neighbour::Upstream(own, _)) => own.read(),
        Some(_) => 0,
        // Without a window the board may still be behind another one
        None => kairos_pl::descriptor()
            .ok()
            .and_then(|descriptor| Register::find_numbered(&descriptor, uplink::DESTINATION, 0))
            .map_or(0, |own| own.read()),
    }
}

pub fn neighbours() -> [Option<Neighbour>; ENDS] {
    WINDOW.get().map_or([None; ENDS], |window| window.neighbours)
}
