//! Batches of register accesses: any program is refused, or ends within its bounds and touches only what it may.
#![no_main]

use kairos_batch::{Batch, Permission, Registers, Run, Step};
use kairos_proto::batch::Ending;
use libfuzzer_sys::fuzz_target;

/// Most of what a batch may take (`src/contracts/batch.toml`).
const STEPS: usize = 100_000;
const RESULTS: usize = 16_384;

/// Addresses are small numbers here, so that programs meet them: from their lowest bits, whether they may be read and written.
fn permission(address: u32) -> Option<Permission> {
    (address < 64).then_some(Permission {
        read: address & 1 != 0,
        write: address & 2 != 0,
    })
}

struct Counting(u32);

impl Registers for Counting {
    fn read(&mut self, address: u32) -> u32 {
        assert!(permission(address).unwrap().read);
        self.0 = self.0.wrapping_add(1);
        self.0
    }

    fn write(&mut self, address: u32, value: u32) {
        assert!(permission(address).unwrap().write);
        self.0 ^= value;
    }
}

fuzz_target!(|data: &[u8]| {
    if let Some((ending, results)) = Ending::from_reply(data) {
        let mut again = ending.to_bytes().to_vec();
        again.extend(results.as_flattened());
        assert_eq!(again, data);
    }
    let Ok(batch) = Batch::new(data, permission) else { return };
    let (mut run, mut registers) = (Run::new(batch), Counting(0));
    let (mut steps, mut results) = (0, 0);
    loop {
        match run.step(&mut registers) {
            Step::Next(word) => results += usize::from(word.is_some()),
            Step::Wait(_) => {}
            Step::Again(_) => {
                let _ = run.give_up();
                break;
            }
            Step::Ended(ending) => break assert_eq!(ending.steps as usize, steps),
        }
        steps += 1;
        assert!(steps <= STEPS && results <= RESULTS);
    }
});
