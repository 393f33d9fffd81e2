//! Words of the pulse core: arbitrary words for a running core, with results and triggers in between.
#![no_main]

use kairos_pulse::model::{Config, Machine};
use kairos_pulse::word::RunFormat;
use kairos_pulse::Word;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&head, rest)) = data.split_first() else {
        return;
    };
    let mut machine = Machine::new(Config {
        channels: 1 + usize::from(head & 7),
        trigger_strict: head & 8 != 0,
        run_format: if head & 16 != 0 {
            RunFormat::Wide
        } else {
            RunFormat::Counted
        },
        reads: 1 + usize::from(head >> 5 & 1),
        misalign_limit: u64::from(head >> 6),
        branch_timeout: 100,
        plut_bits: 6,
        mlut_bits: 6,
        ..Config::default()
    });
    for (n, chunk) in rest.chunks_exact(32).enumerate() {
        let Ok(bytes) = chunk.try_into() else { return };
        machine.feed([Word::from_bytes(bytes)]);
        machine.run(1 + n as u64 % 40, &mut |_, _| (), &mut []);
        machine.result(255, n as u8);
        machine.step(n % 3 == 0, &mut []);
    }
    let mut out = vec![Vec::new(); 1 + usize::from(head & 7)];
    machine.run(2000, &mut |_, _| (), &mut out);
    assert!(out.iter().all(|samples| samples.len() == 4000));
});
