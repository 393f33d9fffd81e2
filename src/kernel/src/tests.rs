//! Loader, unwinder and exceptions on the libraries of `tests/kernels` and on corrupted variants of
//! them.

use kairos_contracts::memory::{KERNEL_LIBRARY, KERNEL_STACK};
use kairos_proto::exception::{Id, Record};
use kairos_proto::rpc::{BadAddress, Memory};
use proptest::prelude::*;

use crate::elf::{load, Library, LoadError};
use crate::exceptions::{firmware_record, Exceptions, Outcome, NESTED_MAX};
use crate::lsda::landing_pad;
use crate::unwind::{Entry, Registers, Stop, LR, PC, SP};

const BASE: u32 = KERNEL_LIBRARY.start as u32;
const FIRMWARE: u32 = 0x0800_1234;
/// End of the tests' stack, which has 4 KiB.
const STACK_TOP: u32 = KERNEL_STACK.end as u32;

macro_rules! kernel {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/kernels/", $name, ".elf"))
    };
}

/// A loaded library with a stack.
struct Machine {
    image: Vec<u8>,
    stack: Vec<u8>,
}

impl Memory for Machine {
    fn bytes(&self, address: u32, length: u32) -> Result<&[u8], BadAddress> {
        let part = |start: u32, bytes: &'_ [u8]| -> Option<core::ops::Range<usize>> {
            let from = address.checked_sub(start)? as usize;
            (from + length as usize <= bytes.len()).then_some(from..from + length as usize)
        };
        if let Some(range) = part(BASE, &self.image) {
            return Ok(&self.image[range]);
        }
        let range = part(STACK_TOP - self.stack.len() as u32, &self.stack);
        range
            .map(|range| &self.stack[range])
            .ok_or(BadAddress { address, length })
    }
}

fn firmware(name: &[u8], _: u32) -> Option<u32> {
    (name != b"no_such_function").then_some(FIRMWARE)
}

fn machine(file: &[u8]) -> (Machine, Library) {
    let mut image = vec![0xaa; 1 << 20];
    let library = load(file, &mut image, BASE, firmware).expect("a good library");
    image.truncate(library.size as usize);
    (
        Machine {
            image,
            stack: vec![0; 4096],
        },
        library,
    )
}

/// The functions of `exceptions.ll` in source order, which is the order of the index: address and
/// return address of the first call.
fn functions(machine: &Machine, library: &Library) -> Vec<(u32, u32)> {
    let (index, count) = library.unwind_index;
    let starts = (0..count).map(|k| {
        let at = index + 8 * k;
        at.wrapping_add(((machine.word(at).unwrap() << 1) as i32 >> 1) as u32)
    });
    // The search ends at the end of the image; the last entry is not a function.
    let end = BASE + library.size - 4;
    // Calls are `bl`, or `mov lr, pc` and `b` where the callee does not return.
    let call = |at: u32| match machine.word(at).unwrap() {
        0xe1a0_e00f => Some(at + 8),
        word => (word >> 24 == 0xeb).then_some(at + 4),
    };
    starts
        .map(|start| (start, (start..end).step_by(4).find_map(call).unwrap_or(0)))
        .collect()
}

const RAISE: usize = 1;
const SELECT: usize = 2;
const WITH_FINALLY: usize = 3;
const CATCH_ALL: usize = 4;

#[test]
fn all_test_kernels_are_loaded() {
    let good: [&[u8]; 8] = [
        kernel!("empty"),
        kernel!("rpc"),
        kernel!("flood"),
        kernel!("exceptions"),
        kernel!("writeback"),
        kernel!("math"),
        kernel!("rtio"),
        kernel!("rpc_exception"),
    ];
    for file in good {
        let (machine, library) = machine(file);
        // The first instruction of a function, not padding.
        assert_ne!(machine.word(library.entry).unwrap(), 0);
        assert!(library.bss.0 <= library.bss.1 && library.bss.1 <= BASE + library.size);
    }
}

#[test]
fn relocated_words_point_to_library_and_firmware() {
    let (machine, library) = machine(kernel!("writeback"));
    // typeinfo -> type -> {attributes, objects} -> first object, whose id is 3.
    let follow = |at: u32| machine.word(at).unwrap();
    let types = follow(library.typeinfo.unwrap());
    assert_eq!(follow(follow(follow(types + 4))), 3);
    assert_eq!(follow(library.typeinfo.unwrap() + 4), 0);
    // Every import is bound to the firmware.
    let words = (0..machine.image.len() as u32 / 4).map(|k| follow(BASE + 4 * k));
    assert_eq!(
        words.filter(|&word| word == FIRMWARE).count(),
        0,
        "this library imports nothing"
    );
    let (machine, _) = self::machine(kernel!("empty"));
    assert!(machine.image.len() < 4096);
    let (machine, _) = self::machine(kernel!("exceptions"));
    let words = (0..machine.image.len() as u32 / 4).map(|k| machine.word(BASE + 4 * k).unwrap());
    assert_eq!(words.filter(|&word| word == FIRMWARE).count(), 6);
}

/// The imports of a library that lld has linked, whose stubs follow the lazy binder's.
#[test]
fn stubs_of_a_real_library_become_branches() {
    let (machine, _) = machine(kernel!("rtio"));
    let words: Vec<u32> = (0..machine.image.len() as u32 / 4)
        .map(|k| machine.word(BASE + 4 * k).unwrap())
        .collect();
    let target = |index: usize| (BASE + 4 * index as u32 + 8).wrapping_add(((words[index] << 8) as i32 >> 6) as u32);
    let branches = (0..words.len()).filter(|&index| words[index] >> 24 == 0xea && target(index) == FIRMWARE);
    assert_eq!(branches.count(), 8);
}

#[test]
fn load_errors_name_the_cause() {
    let mut image = vec![0; 1 << 16];
    let mut text = |file: &[u8]| load(file, &mut image, BASE, firmware).unwrap_err().to_string();
    assert_eq!(text(kernel!("missing")), "symbol lookup error: no_such_function");
    assert_eq!(text(b""), "parse error: file is shorter than an ELF header");
    assert_eq!(text(&[b'x'; 100]), "parse error: not an ELF file");
    let mut other = kernel!("empty").to_vec();
    other[18] = 62;
    assert_eq!(text(&other), "parse error: not a shared library for ARM");
    let mut cut = kernel!("rpc").to_vec();
    cut.truncate(600);
    assert_eq!(text(&cut), "parse error: segment lies outside of the file");
    let small = load(kernel!("rpc"), &mut [0; 64], BASE, firmware);
    assert!(matches!(small, Err(LoadError::TooLarge(_))));
}

#[test]
fn landing_pads_of_a_real_library_are_found() {
    let (machine, library) = machine(kernel!("exceptions"));
    let functions = functions(&machine, &library);
    let pad = |function: usize, id: u32| {
        let (start, pc) = functions[function];
        let entry = Entry::find(&machine, library.unwind_index, pc).unwrap();
        assert_eq!(entry.function, start);
        landing_pad(&machine, entry.lsda.unwrap(), start, pc, id).unwrap()
    };
    assert_eq!(pad(RAISE, 10), None);
    let index = pad(SELECT, 10).unwrap();
    assert!(index > functions[SELECT].0 && index < functions[WITH_FINALLY].0);
    assert_eq!(pad(SELECT, 18), Some(index));
    assert_eq!(pad(SELECT, 19), None);
    assert!(pad(WITH_FINALLY, 19).is_some(), "cleanup");
    assert!(pad(CATCH_ALL, 12345).is_some());
    // The functions that cannot be unwound.
    assert_eq!(
        Entry::find(&machine, library.unwind_index, functions[0].0 + 4),
        Err(Stop::End)
    );
    assert_eq!(Entry::find(&machine, library.unwind_index, BASE), Err(Stop::End));
}

/// The verified example of the kernel ABI, section 4.5: three ids, a catch-all and a cleanup.
#[test]
fn lsda_of_the_specification_selects_its_landing_pads() {
    let mut table: Vec<u8> = Vec::new();
    let hex = "ff003501183 49c02d40209 d002b4010000 840410980403 9404e0010000 0000017d027d037d047d00".replace(' ', "");
    table.extend((0..hex.len() / 2).map(|k| u8::from_str_radix(&hex[2 * k..2 * k + 2], 16).unwrap()));
    while !table.len().is_multiple_of(4) {
        table.push(0);
    }
    let types = table.len() as u32;
    // The type table, then the ids it points at.
    let place = |k: u32| BASE + types + 4 * k;
    let ids_at = place(4);
    for (k, id) in [Some(2), Some(1), Some(0), None].into_iter().enumerate() {
        let value = id.map_or(0, |id: u32| (ids_at + 4 * id).wrapping_sub(place(k as u32)));
        table.extend(value.to_le_bytes());
    }
    // The distance field (0x35 in the example) depends on the padding, which the example omits in
    // part.
    table[2] = (types + 16 - 3) as u8;
    // The catch-all is the 4th type, the deepest in the table: order 4, 3, 2, 1 in memory.
    let word = |k: usize, table: &[u8]| u32::from_le_bytes(table[k..k + 4].try_into().unwrap());
    let rows: Vec<u32> = (0..4).map(|k| word(types as usize + 4 * k, &table)).collect();
    table.truncate(types as usize);
    for (k, row) in [rows[3], rows[0], rows[1], rows[2]].into_iter().enumerate() {
        // Rebased: each entry is moved by the difference of its place.
        let from = [3u32, 0, 1, 2][k];
        let value = if row == 0 {
            0
        } else {
            row.wrapping_add(4 * from).wrapping_sub(4 * k as u32)
        };
        table.extend(value.to_le_bytes());
    }
    [30u32, 20, 10].iter().for_each(|id| table.extend(id.to_le_bytes()));
    let machine = Machine {
        image: table,
        stack: vec![],
    };
    let function = 0x0910_0000;
    let pad = |call: u32, id: u32| landing_pad(&machine, BASE, function, function + call + 4, id).unwrap();
    // Site 1: 0x34 .. +0x11c, action 9, chain over all four clauses: anything enters.
    for id in [10, 20, 30, 999] {
        assert_eq!(pad(0x34, id), Some(function + 0x154));
    }
    assert_eq!(pad(0x150, 10), None, "second site has no landing pad");
    assert_eq!(pad(0x10, 10), None, "not covered");
    // Third site: action 3 starts at filter 1, then the cleanup: enters for any id.
    assert_eq!(pad(0x204, 999), Some(function + 0x218));
}

#[test]
fn unwind_opcodes_of_the_specification_restore_registers() {
    // sp := r11; sp -= 56; pop d8-d10; sp += 4; pop r4-r11, lr; finish (section 1.3).
    let opcodes = [0x9b, 0x4d, 0xc9, 0x82, 0x00, 0xaf, 0xb0];
    let (machine, registers) = run(&opcodes, |registers| registers.r[11] = STACK_TOP - 200 + 56);
    let registers = registers.unwrap();
    let at = STACK_TOP - 200;
    let word = |offset: u32| machine.word(at + offset).unwrap();
    assert_eq!(registers.d[0], u64::from(word(0)) | u64::from(word(4)) << 32);
    assert_eq!(registers.d[2] as u32, word(16));
    assert_eq!(
        registers.r[4..12],
        (0..8).map(|k| word(28 + 4 * k)).collect::<Vec<_>>()[..]
    );
    assert_eq!((registers.r[LR], registers.r[PC]), (word(60), word(60)));
    assert_eq!(registers.r[SP], at + 64);
}

#[test]
fn other_unwind_opcodes_move_the_stack_or_are_corrupt() {
    let sp = STACK_TOP - 3000;
    let moved = |opcodes: &[u8]| run(opcodes, |registers| registers.r[SP] = sp).1.map(|r| r.r[SP] - sp);
    assert_eq!(moved(&[0x3f]), Ok(256));
    assert_eq!(moved(&[0xb2, 0x81, 0x01]), Ok(0x204 + (129 << 2)));
    assert_eq!(moved(&[0xb3, 0x81]), Ok(20));
    assert_eq!(moved(&[0xb9]), Ok(20));
    assert_eq!(moved(&[0xd1]), Ok(16));
    assert_eq!(moved(&[0xc8, 0x01]), Ok(16));
    assert_eq!(moved(&[0xa8]), Ok(8));
    assert_eq!(moved(&[0x88, 0x00]), Ok(4));
    assert_eq!(moved(&[0xb1, 0x03]), Ok(8));
    assert_eq!(moved(&[0x80, 0x00]), Err(Stop::End));
    for bad in [&[0x9d][..], &[0xb1, 0x00], &[0xca], &[0xd8], &[0xff]] {
        assert_eq!(moved(bad), Err(Stop::Corrupt), "{bad:x?}");
    }
}

/// Runs unwind opcodes on a stack filled with numbers.
fn run(opcodes: &[u8], prepare: impl Fn(&mut Registers)) -> (Machine, Result<Registers, Stop>) {
    let mut bytes = opcodes.to_vec();
    bytes.resize(3 + (opcodes.len().saturating_sub(3)).next_multiple_of(4), 0xb0);
    let mut image = Vec::new();
    // Index: one function at BASE + 64, whose table follows the index.
    image.extend(64u32.to_le_bytes());
    image.extend(4u32.to_le_bytes());
    image.extend(0u32.to_le_bytes());
    image.extend([bytes[2], bytes[1], bytes[0], ((bytes.len() - 3) / 4) as u8]);
    bytes[3..].chunks(4).for_each(|word| image.extend(word.iter().rev()));
    image.resize(128, 0);
    let stack = (0..1024u32).flat_map(|k| (0x1000 + k).to_le_bytes()).collect();
    let machine = Machine { image, stack };
    let library = Library {
        base: BASE,
        size: 128,
        entry: BASE,
        typeinfo: None,
        unwind_index: (BASE, 1),
        bss: (BASE, BASE),
    };
    let entry = Entry::find(&machine, library.unwind_index, BASE + 68).unwrap();
    let mut registers = Registers::default();
    prepare(&mut registers);
    let result = entry.step(&machine, &mut registers).map(|()| registers);
    (machine, result)
}

/// Registers as `__artiq_raise` sees them in `raise`, called from `select`, `with_finally`,
/// `catch_all`, in frames whose sizes come from their own tables.
fn raised(machine: &mut Machine, library: &Library) -> Registers {
    raised_at(machine, library, STACK_TOP - 1024)
}

fn raised_at(machine: &mut Machine, library: &Library, mut sp: u32) -> Registers {
    let functions = functions(machine, library);
    let mut registers = Registers::default();
    registers.r[SP] = sp;
    registers.r[PC] = functions[RAISE].1;
    let callers = [
        functions[SELECT].1,
        functions[WITH_FINALLY].1,
        functions[CATCH_ALL].1,
        FIRMWARE,
    ];
    let mut function = functions[RAISE].1;
    for caller in callers {
        // Location of the frame's return address: the last word it pops.
        let entry = Entry::find(machine, library.unwind_index, function).unwrap();
        let mut probe = Registers::default();
        probe.r[SP] = sp;
        probe.r[11] = sp;
        entry.step(machine, &mut probe).unwrap();
        sp = probe.r[SP];
        let at = (sp - 4 - (STACK_TOP - 4096)) as usize;
        machine.stack[at..at + 4].copy_from_slice(&caller.to_le_bytes());
        function = caller;
    }
    registers
}

#[test]
fn handlers_of_a_real_library_are_entered() {
    let (mut machine, library) = machine(kernel!("exceptions"));
    let start = raised(&mut machine, &library);
    let functions = functions(&machine, &library);
    let mut exceptions = Exceptions::new();
    let within = |registers: &Registers, function: usize| {
        (functions[function].0..functions[function + 1].0).contains(&registers.r[PC])
    };

    // An IndexError is caught in `select`.
    let mut registers = start;
    let record = firmware_record(Id::RuntimeError, "", [0; 3]);
    let outcome = exceptions.raise(Record { id: 10, ..record }, &machine, &library, &mut registers);
    assert_eq!(outcome, Outcome::Enter);
    assert!(within(&registers, SELECT));
    let trace: Vec<u32> = exceptions
        .backtrace()
        .iter()
        .map(|frame| frame.address + BASE)
        .collect();
    assert_eq!(trace, [functions[RAISE].1, functions[SELECT].1]);
    exceptions.end_catch();
    assert!(exceptions.backtrace().is_empty());

    // Another one passes the cleanup of `with_finally` and is caught in `catch_all`.
    let mut registers = start;
    assert_eq!(
        exceptions.raise(Record { id: 99, ..record }, &machine, &library, &mut registers),
        Outcome::Enter
    );
    assert!(within(&registers, WITH_FINALLY));
    // Resumed by a call at the end of the cleanup, which no landing pad covers.
    registers.r[PC] += 8;
    assert_eq!(exceptions.resume(&machine, &library, &mut registers), Outcome::Enter);
    assert!(within(&registers, CATCH_ALL));
    let slot = registers.r[1];
    let extents: Vec<_> = exceptions.in_flight().map(|(_, extent)| extent).collect();
    assert_eq!((extents[0].initial, extents[0].current), (0, 5));

    // Raised again from the handler: it leaves the library.
    registers.r[PC] += 8;
    assert_eq!(
        exceptions.raise_at(slot, &machine, &library, &mut registers),
        Outcome::Uncaught
    );
    assert_eq!(exceptions.in_flight().count(), 1);
    assert_eq!(registers.r[PC], FIRMWARE);
    exceptions.clear();
    assert_eq!(exceptions.resume(&machine, &library, &mut registers), Outcome::Nothing);
}

#[test]
fn too_many_nested_exceptions_end_the_kernel() {
    let (mut machine, library) = machine(kernel!("exceptions"));
    let mut exceptions = Exceptions::new();
    let record = Record {
        id: 10,
        ..firmware_record(Id::RuntimeError, "", [0; 3])
    };
    // Each one frame further in, as in nested handlers.
    for depth in 0..=NESTED_MAX as u32 {
        let mut registers = raised_at(&mut machine, &library, STACK_TOP - 1024 - 256 * depth);
        let outcome = exceptions.raise(record, &machine, &library, &mut registers);
        let full = depth == NESTED_MAX as u32;
        assert_eq!(outcome, if full { Outcome::Uncaught } else { Outcome::Enter });
    }
    assert_eq!(exceptions.in_flight().count(), NESTED_MAX + 1);
    assert_eq!(exceptions.in_flight().last().unwrap().0.id, Id::RuntimeError as u32);
}

#[test]
fn leaving_nested_handler_drops_abandoned_exceptions() {
    let (mut machine, library) = machine(kernel!("exceptions"));
    let start = raised(&mut machine, &library);
    let mut exceptions = Exceptions::new();
    let record = |id| Record {
        id,
        ..firmware_record(Id::RuntimeError, "", [0; 3])
    };
    // Caught in `select`; a second one, raised in its handler, is caught further out and ends: both
    // are gone.
    exceptions.raise(record(10), &machine, &library, &mut start.clone());
    let mut registers = start;
    exceptions.raise(record(99), &machine, &library, &mut registers);
    registers.r[PC] += 8;
    exceptions.resume(&machine, &library, &mut registers);
    assert_eq!(exceptions.in_flight().count(), 2);
    exceptions.end_catch();
    assert_eq!(exceptions.in_flight().count(), 0);
}

/// Exceptions with these ids, each raised in the same frames and caught in `select`.
fn caught(machine: &Machine, library: &Library, start: Registers, ids: &[u32]) -> Exceptions {
    let mut exceptions = Exceptions::new();
    let record = firmware_record(Id::RuntimeError, "", [0; 3]);
    for &id in ids {
        let outcome = exceptions.raise(Record { id, ..record }, machine, library, &mut start.clone());
        assert_eq!(outcome, Outcome::Enter);
    }
    exceptions
}

#[test]
fn handler_reports_the_number_of_remaining_exceptions() {
    let (mut machine, library) = machine(kernel!("exceptions"));
    let start = raised(&mut machine, &library);
    let mut exceptions = caught(&machine, &library, start, &[10]);
    // Raised in that handler, it passes the cleanup of `with_finally`: two are in flight.
    let record = firmware_record(Id::RuntimeError, "", [0; 3]);
    exceptions.raise(Record { id: 99, ..record }, &machine, &library, &mut start.clone());
    assert_eq!(exceptions.depth(), 2);
    exceptions.end_catch_to(2);
    assert_eq!(exceptions.depth(), 2);
    exceptions.end_catch_to(0);
    assert_eq!(exceptions.depth(), 0);
    assert!(exceptions.backtrace().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// However a library is modified, loading it and unwinding through it does not panic.
    #[test]
    fn corrupt_libraries_cause_no_panic(
        which in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(0xff), Just(0)]), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut file = [&kernel!("exceptions")[..], kernel!("writeback"), kernel!("rpc")][which].to_vec();
        for (place, value) in changes {
            let length = file.len();
            file[place.index(length)] = value;
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        let mut image = vec![0; 1 << 16];
        if let Ok(library) = load(&file, &mut image, BASE, firmware) {
            image.truncate(library.size as usize);
            let machine = Machine { image, stack: vec![0x09; 4096] };
            let mut exceptions = Exceptions::new();
            for pc in (library.entry..library.entry + 256).step_by(4) {
                let mut registers = Registers::default();
                registers.r[SP] = STACK_TOP - 1024;
                registers.r[PC] = pc;
                exceptions.clear();
                exceptions.raise(firmware_record(Id::RuntimeError, "", [0; 3]), &machine, &library, &mut registers);
            }
        }
    }

    /// The same for single changes in the headers and tables, where they matter most.
    #[test]
    fn corrupt_headers_cause_no_panic(place in 0usize..0x140, value in any::<u32>(), which in 0usize..2) {
        let mut file = [&kernel!("exceptions")[..], kernel!("writeback")][which].to_vec();
        let place = if which == 1 { place + file.len() - 0x240 } else { place };
        file[place..place + 4].copy_from_slice(&value.to_le_bytes());
        let _ = load(&file, &mut vec![0; 1 << 16], BASE, firmware);
    }
}
