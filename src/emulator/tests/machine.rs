//! Whole-machine tests with small C guests.

mod common;

use common::{build, build_pl, digest, machine, pl, result};
use kairos_emulator::machine::schedule::Machine;
use kairos_emulator::machine::time::{self, CPU_HZ};

fn finished(m: &mut Machine) -> bool {
    result(m, 15) == 0x600d
}

/// Runs the machine to the end of its guest, which must come within a number of cycles.
fn played(mut m: Machine, within: u64) -> Machine {
    assert!(
        m.run_until(within, finished),
        "{:?} {:?} {:#x} {:#x} {:?} {:#x}",
        m.crashes,
        m.now(),
        m.cores[0].pc(),
        m.cores[1].pc(),
        m.state(0),
        result(&m, 14)
    );
    m
}

#[test]
fn program_on_both_cores_takes_interrupts_and_exceptions_in_time() {
    let directory = tempfile::tempdir().unwrap();
    let Some(elf) = build("cores", directory.path()) else {
        return;
    };
    let run = || played(machine(&elf, None), CPU_HZ);
    let m = run();
    assert_eq!(m.bus.borrow().signals.console.text, b"cores\n");
    assert_eq!(result(&m, 0), 0x8000_0001, "MPIDR of core 1");
    assert_eq!(result(&m, 1), 40_000, "exclusive increments of both cores");
    assert_eq!(result(&m, 2), 1 + 0x100, "SGI from core 1");
    assert_eq!(result(&m, 3), 1, "SGI from core 0");
    let three_ms = u64::from(result(&m, 4));
    assert!((2_400_000..2_401_000).contains(&three_ms), "{three_ms}");
    assert!(result(&m, 5) < 100, "global timer interrupt late by {}", result(&m, 5));
    assert_eq!(result(&m, 6), 0x3000_0000, "DFAR");
    assert_eq!(result(&m, 7), 0x008, "DFSR: external abort on a load");
    assert_eq!(result(&m, 8), 0x1111, "one exception of each kind");
    assert_eq!(result(&m, 9), 0x3000_0000, "address of the prefetch abort");
    assert_eq!(digest(&m), digest(&run()), "two runs differ");
}

#[test]
fn events_submitted_through_the_acp_are_on_time() {
    let directory = tempfile::tempdir().unwrap();
    let Some(elf) = build("submit", directory.path()) else {
        return;
    };
    let library = build_pl(directory.path(), &[]);
    let run = |skip| played(machine(&elf, Some((&library, skip))), CPU_HZ / 100);
    let mut m = run(true);
    assert_eq!(result(&m, 0), 0x5249_414b);
    let gp = result(&m, 1);
    assert!((72..80).contains(&gp), "one GP access costs {gp} cycles");
    {
        let pl = pl(&m);
        let sent: Vec<u64> = pl.submissions(0).2.collect();
        let periods: Vec<u64> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // From toggle to the status being seen: 3 cycles to the address, L to the first of three
        // beats, one to the write, W, and the CPU.
        assert!(periods[..45].iter().all(|p| (43..52).contains(p)), "{periods:?}");
        assert_eq!(pl.slips(), 0);
        assert!(m.bus.borrow().sev_count >= 100);
    }
    // The same without skipping.
    let slow = run(false);
    assert_eq!(pl(&slow).cycles().1, 0);
    assert_eq!(digest(&m), digest(&slow), "jumps of the counter changed the run");
    assert_eq!(digest(&m), digest(&run(true)), "two runs differ");
    // A second of device time is fast to simulate, and every event occurs when it is due.
    let before = std::time::Instant::now();
    m.run_until(2 * CPU_HZ, |m| pl(m).trace().len() >= 103);
    assert!(before.elapsed().as_millis() < 300, "{:?}", before.elapsed());
    let pl = pl(&m);
    let events = pl.trace().since(0);
    assert_eq!(events.len(), 103);
    for pair in events[1..101].windows(2) {
        assert_eq!(pair[1].time_ns - pair[0].time_ns, 8000);
    }
    assert_eq!(events[102].time_ns - events[101].time_ns, 80);
    assert!(time::to_ns(m.now()) > 1_000_000_000);
    assert!(pl.cycles().1 > 120_000_000);
}

#[test]
fn bus_accesses_take_their_modelled_time() {
    let directory = tempfile::tempdir().unwrap();
    let Some(elf) = build("window", directory.path()) else {
        return;
    };
    let library = build_pl(directory.path(), &[]);
    let run = |skip| played(machine(&elf, Some((&library, skip))), CPU_HZ / 100);
    let m = run(true);
    let results: Vec<u32> = (0..21).map(|n| result(&m, n)).collect();
    assert_eq!(
        results[..4],
        [0x8080_1180, 0x2222_8181, 0xffff_ff82, 0x8282],
        "{results:x?}"
    );
    assert_eq!(results[4..6], [1, 1], "several registers, floating point");
    assert!(
        (12_800..13_000).contains(&results[6]),
        "2000 cycles of the logic take {}",
        results[6]
    );
    assert!(results[7] > 2000, "the other core came {} times around", results[7]);
    assert_eq!(results[8], 0x77, "a load that fails changes no register");
    assert_eq!(
        results[9..12],
        [3, 4, 5],
        "a store's abort comes when it is not masked, and at once else"
    );
    assert_eq!(results[12..14], [0x9000_0000, 0xa000_0000], "DFAR");
    assert_eq!(results[14] & 0xff1, 0xe51, "at the load");
    assert_eq!(
        results[16..],
        [0x1008, 0x008, 0x001, 0x1c06, 0x0c06],
        "DFSR: {results:x?}"
    );
    assert_eq!(digest(&m), digest(&run(true)), "two runs differ");
    assert_eq!(digest(&m), digest(&run(false)), "jumps of the counter changed the run");
}

#[test]
fn ethernet_reaches_the_gateway() {
    let directory = tempfile::tempdir().unwrap();
    let Some(elf) = build("ping", directory.path()) else {
        return;
    };
    let mut m = machine(&elf, None);
    assert!(m.run_until(CPU_HZ, finished), "{:?} {:#x}", m.crashes, m.cores[0].pc());
    assert_eq!((result(&m, 0), result(&m, 1)), (7, 0x0141_0cc2), "PHY");
    assert_eq!(result(&m, 2) & 0x24, 0x24, "link up, negotiation complete");
    let round_trip = time::to_ns(result(&m, 3).into());
    assert!((20_000..25_000).contains(&round_trip), "{round_trip} ns");
    assert_eq!(result(&m, 4), 0x0806_0002);
    assert_eq!((result(&m, 5), result(&m, 6)), (0x1234, 1));
    assert_eq!(result(&m, 7) & 0x1fff, 98, "length without check sequence");
    assert!(result(&m, 8) >= 4 && result(&m, 12) & 0x82 == 0x82);
}

#[test]
fn two_boards_in_one_process_are_independent() {
    let directory = tempfile::tempdir().unwrap();
    let Some(elf) = build("submit", directory.path()) else {
        return;
    };
    let library = build_pl(directory.path(), &[]);
    let new = || machine(&elf, Some((&library, true)));
    let mut alone = new();
    assert!(alone.run_until(CPU_HZ / 100, finished));
    let mut boards = [new(), new()];
    let mut turns = (0..).map(|n| usize::from(n % 3 == 0));
    while !boards.iter_mut().all(finished) {
        let board = &mut boards[turns.next().unwrap()];
        if !finished(board) {
            board.step();
        }
    }
    assert_eq!(boards.each_ref().map(digest), [digest(&alone), digest(&alone)]);
}
