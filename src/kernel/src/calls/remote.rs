//! Memory of other boards: loads and stores by kernels ([`window`]), and the access rights of other
//! boards to this one's memory.

use core::ops::Range;

use kairos_chip::gic;
use kairos_contracts::registers::{self, block, bridge, bulk, exports, outlet, pages, uplink};
use kairos_contracts::remote::{
    BridgeRegister, COPY_DESCRIPTORS, COPY_DESCRIPTOR_BYTES, COPY_DESTINATION_AT, COPY_FETCH_AT, COPY_NOTIFY_AT,
    COPY_OTHER_AT, FETCH_DESTINATION, PAGE_BYTES, RIGHT_READ, RIGHT_WRITE,
};
use kairos_intercore::memory::{MAILBOX, PL_BLOCK, REMOTE, REMOTE_RINGS, REMOTE_WINDOW, REMOTE_WINDOW_BYTES};
use kairos_pl::Register;
use kairos_proto::exception::Id;

use crate::fault::broken;
use crate::memory::{words, words_mut, Area};
use crate::owned::{BorrowCell, Owned};
use crate::{raise, timer, window};

#[cold]
#[inline(never)]
fn refuse(message: &'static str, params: [u32; 3]) {
    raise::firmware(Id::RemoteMemoryError, message, params.map(i64::from));
}

/// Returns `found`; notes an exception if it is `None`.
fn known<T>(destination: u32, found: Option<T>) -> Option<T> {
    if found.is_none() {
        let message = "no link of this board with remote memory leads to destination {0}";
        refuse(message, [destination, 0, 0]);
    }
    found
}

/// This core's address of `bytes` bytes at `address` of a board, which may be this one; notes an
/// exception if there is none.
#[inline(never)]
fn window_address(destination: u32, address: u32, bytes: usize) -> Option<u32> {
    let own = destination == window::own();
    let block = block_at(address).filter(|_| own);
    let (base, there) = if own && block.is_none() {
        (0, exportable(address))
    } else {
        let slot = match block {
            Some(_) => window::shared_slot(destination),
            None => window::slot_of(destination),
        };
        let there = block.unwrap_or(0..REMOTE_WINDOW_BYTES);
        let base = REMOTE_WINDOW.start + known(destination, slot)? * REMOTE_WINDOW_BYTES;
        ((base - there.start) as u32, there)
    };
    let last = (address as usize).checked_add(bytes);
    let inside = there.contains(&(address as usize)) && last.is_some_and(|last| last <= there.end);
    if !address.is_multiple_of(4) || !inside {
        let message =
            "address {1:#010x} of destination {0} is unaligned or outside the memory within reach (from {2:#010x} on)";
        refuse(message, [destination, address, there.start as u32]);
        return None;
    }
    Some(base + address)
}

/// The addresses of the block in this board's logic that kernels may export, if `address` is in its area.
fn block_at(address: u32) -> Option<Range<usize>> {
    let there = PL_BLOCK.start..PL_BLOCK.start + BLOCK_BYTES.get() as usize;
    there.contains(&(address as usize)).then_some(there)
}

/// The memory for other boards to which an address belongs: cached, and accessed coherently, or not cached.
fn exportable(address: u32) -> Range<usize> {
    if MAILBOX.contains(&(address as usize)) {
        MAILBOX
    } else {
        REMOTE
    }
}

extern "C" fn export(destination: u32, region: u32, address: u32, bytes: u32, rights: u32, shown: u32, only: u32) {
    // Requests of other boards arrive on the link that leads to them.
    let Some((end, _)) = known(destination, window::end_to(destination)) else {
        return;
    };
    let within = block_at(address).unwrap_or_else(|| exportable(address));
    let end_of = address.checked_add(bytes).filter(|last| *last as usize <= within.end);
    if end_of.is_none() || (address as usize) < within.start || bytes == 0 || !address.is_multiple_of(8) {
        let message = "kernels may export memory from {1:#010x} to {2:#010x}, at multiples of 8: not at {0:#010x}";
        return refuse(message, [address, within.start as u32, within.end as u32]);
    }
    let place_of = |offset: u32| {
        shown
            .checked_add(offset)
            .filter(|at| (*at as usize) < REMOTE_WINDOW_BYTES)
    };
    let (Some(last), true) = (place_of(bytes - 1), shown.is_multiple_of(8)) else {
        let message = "memory is shown at multiples of 8 below {1:#010x}: not at {0:#010x}";
        return refuse(message, [shown, REMOTE_WINDOW_BYTES as u32, 0]);
    };
    let coherent = if MAILBOX.contains(&(address as usize)) && rights != 0 {
        exports::RIGHTS_COHERENT_BIT
    } else {
        0
    };
    let registers = [
        (exports::REGION, region),
        (exports::FIRST, shown),
        (exports::LAST, last),
        (exports::OFFSET, address.wrapping_sub(shown)),
        (
            exports::BOARD,
            if only == 0 {
                0
            } else {
                exports::BOARD_ONLY_BIT | destination
            },
        ),
        (exports::RIGHTS, rights | coherent),
        (exports::SET, 1),
    ];
    for (name, value) in registers {
        match register(name, end) {
            Some(register) => register.write(value),
            None => return refuse(window::NO_MEMORY, [destination, 0, 0]),
        }
    }
}

extern "C" fn pointer(destination: u32, address: u32) -> u32 {
    let block = destination == window::own() && block_at(address).is_some();
    if let Err(other) = window::point_to(destination, block) {
        let message =
            "this kernel has pointers to destination {1}, and can map only one non-neighbouring board: not also {0}";
        refuse(message, [destination, other, 0]);
        return 0;
    }
    window_address(destination, address, 4).unwrap_or(0)
}

/// Accesses words of a board, each at its address in the window, until one fails. Afterwards the
/// kernel's pointers lead to the same board as before.
fn access_words<'a, T: 'a>(
    destination: u32,
    address: u32,
    words: impl ExactSizeIterator<Item = T>,
    mut access: impl FnMut(u32, T),
) {
    if let Some(first) = window_address(destination, address, 4 * words.len()) {
        for (at, word) in (first..).step_by(4).zip(words) {
            access(at, word);
            if raise::is_noted() {
                break;
            }
        }
    }
    window::restore();
}

extern "C" fn load_at(destination: u32, address: u32) -> u32 {
    let mut value = 0;
    access_words(destination, address, core::iter::once(&mut value), |at, value| {
        // SAFETY: in the window.
        *value = unsafe { window::load(at) }
    });
    value
}

extern "C" fn store_at(destination: u32, address: u32, value: u32) {
    // SAFETY: in the window.
    access_words(destination, address, core::iter::once(value), |at, value| unsafe {
        window::store(at, value)
    });
}

extern "C" fn read(destination: u32, address: u32, list: u32) {
    match words_mut(list) {
        Ok(words) => access_words(destination, address, words.iter_mut(), |at, word| {
            // SAFETY: in the window.
            *word = unsafe { window::load(at) }
        }),
        Err(error) => broken(format_args!("words of another board: {error}")),
    }
}

/// The words are posted, and waited for together.
extern "C" fn write(destination: u32, address: u32, list: u32) {
    let words = match words(list) {
        Ok(words) => words,
        Err(error) => broken(format_args!("words for another board: {error}")),
    };
    window::post(true);
    // SAFETY: in the window.
    access_words(destination, address, words.iter(), |at, word| unsafe {
        window::store(at, *word)
    });
    window::post_as_asked();
    wait();
}

/// Has stores posted from now on, until the kernel ends, or no longer.
extern "C" fn post(posts: u32) {
    window::set_posting(posts != 0);
    if posts == 0 {
        wait();
    }
}

/// Waits until the other boards have executed all posted stores; notes an exception if one failed.
extern "C" fn wait() {
    if let Some(record) = window::drain().filter(|_| !raise::is_noted()) {
        raise::record(record);
    }
}

/// Rings of descriptors. Each copy uses the next descriptor.
static RINGS: BorrowCell<Area<{ REMOTE_RINGS.start }, { REMOTE_RINGS.end }>> = {
    // SAFETY: reserved in the memory map for this, and used by this module only. The gateware reads
    // it.
    BorrowCell::new(unsafe { Area::new() })
};
/// Bytes of a ring, and words of a descriptor.
const RING: usize = COPY_DESCRIPTORS * COPY_DESCRIPTOR_BYTES;
const DESCRIPTOR: usize = COPY_DESCRIPTOR_BYTES / 4;
/// Numbers of a piece, and most pieces that are posted at once: half a ring.
const PIECE: usize = 3;
const AT_ONCE: usize = RING / 4 / DESCRIPTOR / 2;
/// Flags of a descriptor: signal completion; copy from there to here; and, in the bit above the
/// destination, that the descriptor is for that board rather than the neighbour.
const NOTIFIES: u32 = 1 << COPY_NOTIFY_AT;
const FETCHES: u32 = 1 << COPY_FETCH_AT;
const OTHER: u32 = 1 << COPY_OTHER_AT;
/// The first interrupt of the logic.
const INTERRUPT: u16 = 61;
const THIS_CORE: u8 = 1;

/// Reclaims the memory in a restart.
pub fn reclaim() {
    RINGS.reclaim();
}

/// Most bytes of a copy that is polled for: it takes less time than an interrupt.
const POLLED: u32 = 2048;

/// Registers of a link's engine.
#[derive(Clone, Copy)]
struct Engine {
    base: Register,
    posted: Register,
    completed: Register,
    state: Register,
    clear: Register,
    arrived: Register,
    acknowledge: Register,
    interrupt: Register,
}

/// The engines of this board's links. Found at boot: a search takes as long as many small copies.
static ENGINES: Owned<[Option<Engine>; window::ENDS]> = Owned::new([None; window::ENDS]);

/// The register that names the link to the board of the window's shared place.
static WAY: Owned<Option<Register>> = Owned::new(None);

/// Size of the block in this board's logic that kernels may export; 0 without one.
static BLOCK_BYTES: Owned<u32> = Owned::new(0);

/// After reset of this core, on a board with remote memory: finds the engines, and the block.
pub fn boot() {
    BLOCK_BYTES.set(register(block::BYTES, 0).map_or(0, Register::read));
    WAY.set(register(registers::window::END, 0));
    ENGINES.set(core::array::from_fn(Engine::find));
}

/// A register of a link's block.
#[inline(never)]
fn register(name: &str, end: usize) -> Option<Register> {
    Register::find_numbered(&kairos_pl::descriptor().ok()?, name, end)
}

impl Engine {
    #[inline(never)]
    fn find(end: usize) -> Option<Self> {
        let find = |name| register(name, end);
        Some(Self {
            base: find(bulk::BASE)?,
            posted: find(bulk::POSTED)?,
            completed: find(bulk::COMPLETED)?,
            state: find(bulk::STATE)?,
            clear: find(bulk::CLEAR)?,
            arrived: find(bulk::NOTIFICATION)?,
            acknowledge: find(bulk::NOTIFICATION_CLEAR)?,
            interrupt: find(bulk::INTERRUPT)?,
        })
    }

    /// Waits for copies that a previous kernel has begun, and clears errors. Returns the number of
    /// descriptors posted so far.
    fn wait_idle(&self) -> u32 {
        let posted = self.posted.read();
        // An engine that has halted has not completed what it was posted.
        if self.completed.read() == posted {
            return posted;
        }
        while self.completed.read() != posted && !self.has_halted() {
            timer::sleep_briefly();
        }
        self.clear.write(1);
        while self.completed.read() != posted {
            timer::sleep_briefly();
        }
        posted
    }

    fn has_halted(&self) -> bool {
        self.state.read() & 1 != 0
    }

    /// Posts the descriptors before `next`, which the ring contains, and waits until all of their data have been
    /// acknowledged by the other board, or the engine has halted.
    fn carry_out(&self, next: u32, sleeps: bool) {
        if sleeps {
            gic::route_rising(THIS_CORE, INTERRUPT);
            self.acknowledge.write(1);
            self.interrupt.write(1);
        }
        self.posted.write(next);
        if sleeps {
            timer::sleep_until(|| self.arrived.read() != 0);
            self.interrupt.write(0);
        } else {
            while self.completed.read() != next && !self.has_halted() {}
        }
    }
}

/// Copies, and returns when the other board has acknowledged all of the data.
extern "C" fn copy(destination: u32, there: u32, here: u32, bytes: u32) {
    copy_all(destination, &[[there, here, bytes]]);
}

/// Copies pieces: for each its address there, here, and its bytes.
extern "C" fn copy_pieces(destination: u32, list: u32) {
    let pieces = match words(list) {
        Ok(words) => words.as_chunks(),
        Err(error) => broken(format_args!("pieces of another board: {error}")),
    };
    match pieces {
        (pieces, []) => copy_all(destination, pieces),
        (pieces, rest) => {
            let message = "a list of pieces has three numbers for each, address there, address here, bytes: not {0}";
            refuse(message, [(PIECE * pieces.len() + rest.len()) as u32, 0, 0]);
        }
    }
}

/// Copies from here to a board, or, if the highest bit of its destination is set, from there to here.
fn copy_all(destination: u32, pieces: &[[u32; PIECE]]) {
    let fetches = u32::from(destination & FETCH_DESTINATION != 0) * FETCHES;
    let destination = destination & !FETCH_DESTINATION;
    let Some((end, joined)) = known(destination, window::end_to(destination)) else {
        return;
    };
    // To a board that is no neighbour a cross link may lead, too, as the logic knows.
    let end = match WAY.get() {
        Some(way) if !joined && window::shared_slot(destination).is_some() => {
            let end = way.read() as usize;
            window::restore();
            end
        }
        _ => end,
    };
    let Some(engine) = ENGINES.get()[end] else {
        return refuse(window::NO_MEMORY, [destination, 0, 0]);
    };
    for &[there, here, bytes] in pieces {
        let last = (here as usize).checked_add(bytes as usize);
        let inside = REMOTE.contains(&(here as usize)) && last.is_some_and(|last| last <= REMOTE.end);
        if !inside || !(there | here | bytes).is_multiple_of(8) || bytes == 0 {
            let message = "copies take multiples of 8 bytes at multiples of 8 from {1:#010x} on: not {2} at {0:#010x}";
            return refuse(message, [here, REMOTE.start as u32, bytes]);
        }
    }
    let other = OTHER | destination << COPY_DESTINATION_AT;
    let to = fetches | if joined { 0 } else { other };
    for some in pieces.chunks(AT_ONCE) {
        if !carry_some(&engine, end, destination, to, some) {
            return;
        }
    }
}

/// Copies as many pieces as fit into half the ring of a link's engine; returns whether that was possible.
fn carry_some(engine: &Engine, end: usize, destination: u32, to: u32, pieces: &[[u32; PIECE]]) -> bool {
    let posted = engine.wait_idle();
    engine.base.write((REMOTE_RINGS.start + end * RING) as u32);
    RINGS.with(|rings| {
        for (n, &[there, here, bytes]) in pieces.iter().enumerate() {
            let at = end * RING / 4 + (posted as usize + n) % (RING / 4 / DESCRIPTOR) * DESCRIPTOR;
            let notifies = if n + 1 == pieces.len() { NOTIFIES } else { 0 };
            rings.words()[at..at + DESCRIPTOR].copy_from_slice(&[here, bytes, there, notifies | to]);
        }
    });
    gic::barrier();
    let next = (posted + pieces.len() as u32) & 0xffff;
    let bytes = pieces.iter().map(|[_, _, bytes]| bytes).sum::<u32>();
    engine.carry_out(next, bytes > POLLED);
    let completed = engine.completed.read();
    if completed != next {
        // Pieces are completed in order, so this one has failed.
        let failed = completed.wrapping_sub(posted) as usize & 0xffff;
        let there = pieces.get(failed).map_or(0, |[there, ..]| *there);
        let reason = engine.state.read() >> 2;
        // Clears the error in the logic as well.
        engine.clear.write(1);
        refuse(window::cause_of(reason), [destination, there, 0]);
    }
    completed == next
}

/// Registers of a bridge at the end where accesses enter, and at the other one, by their numbers in
/// kernels' calls.
const BRIDGE: [&str; 5] = [
    bridge::LEVELS,
    bridge::STATE,
    bridge::LATENCY,
    bridge::RAISES,
    bridge::RESET,
];
const OUTLET: [&str; 6] = [outlet::LEVELS, outlet::STATE, "", outlet::RAISES, "", pages::ENTRY];
/// The first of those that can be written.
const WRITABLE: u32 = BridgeRegister::Raises as u32;
/// Entries of pages of memory: bits of a page's address, and of the rights to it.
const ENTRY: u32 = BridgeRegister::Entry as u32;
const PAGE_ADDRESS: u32 = !(PAGE_BYTES as u32 - 1);
const RIGHTS: u32 = RIGHT_READ | RIGHT_WRITE;

/// Reads a register of this board's end of a bridge, having written to it.
extern "C" fn bridge_register(destination: u32, number: u32, value: u32) -> u32 {
    let find = |names: &[&str], end| register(names.get(number as usize)?, end);
    let end = match window::end_to(destination) {
        Some((end, true)) => Some(end),
        // Upstream, where which board is the neighbour is not known, unless there is nothing but the block; boards there
        // have lower numbers.
        None | Some((0, _)) if register(uplink::DESTINATION, 0).is_some_and(|own| destination < own.read()) => Some(0),
        _ => None,
    };
    let found = end.and_then(|end| find(&BRIDGE, end).or_else(|| find(&OUTLET, end)));
    let Some(register) = found else {
        let message = match number {
            ENTRY => "there is no bridge from destination {0} to pages of this board's memory",
            _ => "there is no bridge at a link to destination {0}",
        };
        refuse(message, [destination, 0, 0]);
        return 0;
    };
    let page = value & PAGE_ADDRESS;
    if number == ENTRY && value & RIGHTS != 0 && !REMOTE.contains(&(page as usize)) {
        let message = "kernels may show pages of memory from {1:#010x} to {2:#010x}: not {0:#010x}";
        refuse(message, [page, REMOTE.start as u32, REMOTE.end as u32]);
        return 0;
    }
    if number >= WRITABLE {
        register.write(value);
    }
    register.read()
}

raise::raising! {
    remote_bridge => bridge_register;
    remote_pointer => pointer;
    remote_load => load_at;
    remote_store => store_at;
    remote_read => read;
    remote_write => write;
    remote_copy => copy;
    remote_copy_pieces => copy_pieces;
    remote_post => post;
    remote_wait => wait;
    remote_export => export, stack 3;
}
