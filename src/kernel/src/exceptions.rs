//! Exceptions of a kernel in flight: the state machine of raise, resume and end-of-catch (kernel
//! ABI, section 4.6).
//!
//! Unwinding is forced and has a single phase: cleanup code runs as the search passes it, even if
//! nothing will catch the exception.

use core::panic::Location;

use heapless::Vec;
use kairos_contracts::memory::KERNEL_STACK;
use kairos_proto::exception::{Extent, Frame, Id, Record, Text, RECORD_SIZE};
use kairos_proto::rpc::Memory;

use crate::elf::Library;
use crate::lsda;
use crate::unwind::{self, Registers};

/// Exceptions that can be in flight at once.
pub const NESTED_MAX: usize = 10;
/// Most frames recorded; outer ones are not reported.
pub const BACKTRACE_MAX: usize = 128;

/// Offset subtracted from stack pointers of another board's frames.
const OTHER_BOARD: u32 = 2 * (KERNEL_STACK.end - KERNEL_STACK.start) as u32;

/// What the caller must do after a raise or resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Continue at the registers' pc, a landing pad.
    Enter,
    /// No handler catches the exception: report it and end the kernel.
    Uncaught,
    /// Resumed with no exception in flight: the kernel is corrupt.
    Nothing,
}

/// Creates a record for an exception of the firmware, with its text and source position.
#[track_caller]
pub fn firmware_record(id: Id, message: &'static str, param: [i64; 3]) -> Record {
    let place = Location::caller();
    let text = |text: &'static str| Text {
        pointer: text.as_ptr() as usize as u32,
        length: text.len() as u32,
    };
    let mut record = Record::new(id as u32, text(message), param);
    record.file = text(place.file());
    record.line = place.line();
    record.column = place.column() - 1;
    record.function = text("(Rust function)");
    record
}

struct InFlight {
    slot: usize,
    extent: Extent,
}

/// The exceptions in flight, oldest first, and the frames they have passed.
pub struct Exceptions {
    /// Copies of the records. Kernels hold pointers to these, and write to them when they raise
    /// again.
    slots: [Record; NESTED_MAX],
    stack: Vec<InFlight, NESTED_MAX>,
    backtrace: Vec<Frame, BACKTRACE_MAX>,
    /// The exception for which no slot was left; it ends the kernel.
    last_straw: Option<(Record, Extent)>,
    /// An exception found after the kernel had ended.
    late: Option<Record>,
}

impl Exceptions {
    /// Creates the state with nothing in flight.
    pub const fn new() -> Self {
        const EMPTY: Text = Text { pointer: 0, length: 0 };
        let record = Record::new(0, EMPTY, [0; 3]);
        Self {
            slots: [record; NESTED_MAX],
            stack: Vec::new(),
            backtrace: Vec::new(),
            last_straw: None,
            late: None,
        }
    }

    /// Clears the state, at each load of a library.
    pub fn clear(&mut self) {
        self.stack.clear();
        self.backtrace.clear();
        self.last_straw = None;
        self.late = None;
    }

    /// The address of the slots as kernels see it.
    fn slots_at(&self) -> u32 {
        self.slots.as_ptr() as usize as u32
    }

    fn slot_of(&self, address: u32) -> Option<usize> {
        let offset = address.wrapping_sub(self.slots_at());
        (offset < RECORD_SIZE * NESTED_MAX as u32 && offset.is_multiple_of(RECORD_SIZE))
            .then_some((offset / RECORD_SIZE) as usize)
    }

    /// Raises the record at `address` of the kernel's memory, at the call that `registers`
    /// describe. If the address is that of the newest exception's slot, a caught exception is
    /// raised again. Any other record is copied, as an older one's handler is still active and will
    /// use it.
    pub fn raise_at(
        &mut self,
        address: u32,
        memory: &impl Memory,
        library: &Library,
        registers: &mut Registers,
    ) -> Outcome {
        let own = self.slot_of(address);
        if own.is_some() && own == self.stack.last().map(|entry| entry.slot) {
            return self.unwind(memory, library, registers);
        }
        let record = match own {
            Some(slot) => self.slots[slot],
            None => Record::read(memory, address).unwrap_or_else(|_| {
                firmware_record(Id::RuntimeError, "raised something that is not an exception", [0; 3])
            }),
        };
        self.raise(record, memory, library, registers)
    }

    /// Raises a new exception at the call that `registers` describe.
    pub fn raise(
        &mut self,
        record: Record,
        memory: &impl Memory,
        library: &Library,
        registers: &mut Registers,
    ) -> Outcome {
        self.raise_behind(&[], record, memory, library, registers)
    }

    /// Like [`Self::raise`], for an exception that has already passed these frames of another
    /// board, innermost first.
    pub fn raise_behind(
        &mut self,
        passed: &[Frame],
        record: Record,
        memory: &impl Memory,
        library: &Library,
        registers: &mut Registers,
    ) -> Outcome {
        let free = (0..NESTED_MAX).find(|&slot| self.stack.iter().all(|entry| entry.slot != slot));
        let recorded = self.backtrace.len() as u32;
        let extent = Extent {
            stack_pointer: 0,
            initial: recorded,
            current: 0,
        };
        let Some(slot) = free else {
            let record = firmware_record(Id::RuntimeError, "too many nested exceptions", [0; 3]);
            let stack_pointer = registers.r[unwind::SP];
            self.last_straw = Some((
                record,
                Extent {
                    stack_pointer,
                    initial: recorded,
                    current: recorded,
                },
            ));
            return Outcome::Uncaught;
        };
        self.slots[slot] = record;
        for frame in passed {
            // In the order of the frames on that board's stack, and below all of this board's: the
            // host relies on this.
            let _ = self.backtrace.push(Frame {
                stack_pointer: frame.stack_pointer.saturating_sub(OTHER_BOARD),
                ..*frame
            });
        }
        // Cannot fail: there are as many places as slots, and a slot was free.
        let _ = self.stack.push(InFlight { slot, extent });
        self.unwind(memory, library, registers)
    }

    /// Notes an exception that ends the kernel at once, and the frames around it. No handler or
    /// cleanup runs, because the fault may have occurred between any two instructions.
    pub fn fault(&mut self, record: Record, memory: &impl Memory, library: &Library, registers: &mut Registers) {
        let initial = self.backtrace.len() as u32;
        let link = registers.r[unwind::LR];
        let stack_pointer = registers.r[unwind::SP];
        let mut frames = 0;
        loop {
            let (pc, sp) = (registers.r[unwind::PC], registers.r[unwind::SP]);
            // A full buffer records no more.
            if !library.contains(pc) || self.record_frame(pc, sp, library).is_err() {
                break;
            }
            frames += 1;
            let entry = unwind::Entry::find(memory, library.unwind_index, pc);
            let stepped = entry.and_then(|entry| entry.step(memory, registers));
            // Only the innermost function may not have allocated stack yet.
            let next = registers.r[unwind::SP];
            if stepped.is_err() || next < sp || (next == sp && frames > 1) {
                break;
            }
        }
        // Without tables, or with an invalid stack pointer, the return address is still in the link
        // register.
        if frames == 1 && library.contains(link) {
            let _ = self.record_frame(link, stack_pointer, library);
        }
        let extent = Extent {
            stack_pointer,
            initial,
            current: self.backtrace.len() as u32,
        };
        self.last_straw = Some((record, extent));
    }

    /// Adds an exception found after the kernel had ended, although its cause preceded the end. It
    /// has no location in the kernel.
    pub fn add_late(&mut self, record: Record) {
        self.late = Some(record);
    }

    fn record_frame(&mut self, pc: u32, stack_pointer: u32, library: &Library) -> Result<(), Frame> {
        let address = pc.wrapping_sub(library.base);
        self.backtrace.push(Frame { address, stack_pointer })
    }

    /// Continues unwinding the newest exception, at the end of a cleanup.
    pub fn resume(&mut self, memory: &impl Memory, library: &Library, registers: &mut Registers) -> Outcome {
        match self.stack.is_empty() {
            true => Outcome::Nothing,
            false => self.unwind(memory, library, registers),
        }
    }

    /// How many exceptions are in flight.
    pub fn depth(&self) -> u32 {
        self.stack.len() as u32
    }

    /// Ends a handler that was entered with `depth` exceptions in flight, which remain.
    pub fn end_catch_to(&mut self, depth: u32) {
        self.stack.truncate(depth as usize);
        self.truncate_backtrace();
    }

    /// Ends a handler: drops the newest exception, and those below it that an inner handler has
    /// abandoned.
    ///
    /// The kernel ABI's function cannot know more; our compiler passes the number that remain
    /// ([`Self::end_catch_to`]).
    pub fn end_catch(&mut self) {
        let Some(ended) = self.stack.pop() else { return };
        while self
            .stack
            .last()
            .is_some_and(|entry| entry.extent.stack_pointer < ended.extent.stack_pointer)
        {
            self.stack.pop();
        }
        self.truncate_backtrace();
    }

    /// Drops the frames that no exception in flight has passed.
    fn truncate_backtrace(&mut self) {
        let kept = self.stack.last().map_or(0, |entry| entry.extent.current as usize);
        self.backtrace.truncate(kept);
    }

    /// All exceptions in flight, oldest first, for the report.
    pub fn in_flight(&self) -> impl Iterator<Item = (&Record, Extent)> + Clone {
        let stacked = self.stack.iter().map(|entry| (&self.slots[entry.slot], entry.extent));
        let no_extent = Extent {
            stack_pointer: 0,
            initial: 0,
            current: 0,
        };
        let late = self.late.iter().map(move |record| (record, no_extent));
        late.chain(stacked)
            .chain(self.last_straw.iter().map(|(record, extent)| (record, *extent)))
    }

    /// The frames passed, for the report.
    pub fn backtrace(&self) -> &[Frame] {
        &self.backtrace
    }

    fn unwind(&mut self, memory: &impl Memory, library: &Library, registers: &mut Registers) -> Outcome {
        let slots_at = self.slots_at();
        let Some(top) = self.stack.last_mut() else {
            return Outcome::Nothing;
        };
        let id = self.slots[top.slot].id;
        loop {
            let (pc, sp) = (registers.r[unwind::PC], registers.r[unwind::SP]);
            let address = pc.wrapping_sub(library.base);
            if address >= library.size {
                return Outcome::Uncaught;
            }
            // A full buffer records no more; the innermost frames matter most.
            let _ = self.backtrace.push(Frame {
                address,
                stack_pointer: sp,
            });
            top.extent.stack_pointer = sp;
            top.extent.current = self.backtrace.len() as u32;
            let Ok(entry) = unwind::Entry::find(memory, library.unwind_index, pc) else {
                return Outcome::Uncaught;
            };
            if let Some(table) = entry.lsda {
                match lsda::landing_pad(memory, table, entry.function, pc, id) {
                    Ok(None) => {}
                    Ok(Some(pad)) => {
                        registers.r[0] = top.slot as u32 + 1;
                        registers.r[1] = slots_at + RECORD_SIZE * top.slot as u32;
                        registers.r[unwind::PC] = pad;
                        return Outcome::Enter;
                    }
                    Err(_) => return Outcome::Uncaught,
                }
            }
            // A frame without stack cannot have saved its return address: the tables are corrupt
            // and might loop.
            if entry.step(memory, registers).is_err() || registers.r[unwind::SP] <= sp {
                return Outcome::Uncaught;
            }
        }
    }
}

impl Default for Exceptions {
    fn default() -> Self {
        Self::new()
    }
}
