//! Batches of register accesses: any program is rejected, or ends within its bounds and accesses
//! only permitted registers.
#![no_main]

use kairos_batch::{Batch, Device, Exported, Pause, Permission, Run};
use kairos_proto::batch::{Ending, Instruction, Outcome, Transfer};
use libfuzzer_sys::fuzz_target;

/// Limits of a batch (`src/contracts/batch.toml`).
const STEPS: u32 = 100_000;
const RESULTS: u32 = 16_384;

/// Permission of an address, from its lowest bits. Only small addresses are valid, so that programs
/// hit them.
fn permission(address: u32) -> Option<Permission> {
    (address < 64).then_some(Permission {
        read: address & 1 != 0,
        write: address & 2 != 0,
    })
}

const CHANNELS: u32 = 8;

struct Small;

impl Exported for Small {
    fn permission(&self, address: u32) -> Option<Permission> {
        permission(address)
    }

    fn has_bus(&self) -> bool {
        true
    }

    fn has_channel(&self, number: u32) -> bool {
        number < CHANNELS
    }
}

struct Counting(u32);

impl Device for Counting {
    fn read(&mut self, address: u32) -> u32 {
        assert!(permission(address).unwrap().read);
        self.0 = self.0.wrapping_add(1);
        self.0
    }

    fn write(&mut self, address: u32, value: u32) {
        assert!(permission(address).unwrap().write);
        self.0 ^= value;
    }

    fn probe(&mut self, channel: u32, _: u8) -> u64 {
        assert!(channel < CHANNELS);
        self.0.into()
    }

    fn inject(&mut self, channel: u32, _: u8, _: u8) {
        assert!(channel < CHANNELS);
    }
}

fuzz_target!(|data: &[u8]| {
    if let Some((ending, results)) = Ending::from_reply(data) {
        let mut again = ending.to_bytes().to_vec();
        again.extend(results.as_flattened());
        assert_eq!(again, data);
    }
    if let Some(bytes) = data.first_chunk() {
        if let Some(instruction) = Instruction::from_bytes(bytes) {
            assert_eq!(instruction.to_bytes(), *bytes);
        }
    }
    if let [a, b, c, d, ..] = *data.as_chunks().0 {
        let operands = [a, b, c, d].map(u32::from_le_bytes);
        if let Some(transfer) = Transfer::from_operands(operands) {
            assert_eq!(transfer.operands(), operands);
        }
    }
    let Ok(batch) = Batch::new(data, &Small) else { return };
    let (mut run, mut registers) = (Run::new(batch), Counting(0));
    let (mut turns, mut results) = (0, 0);
    let ending = loop {
        turns += 1;
        match run.go(7, &mut registers, |_| results += 1) {
            Pause::Long | Pause::Wait(_) => {}
            Pause::Again(_) => break run.end(Outcome::Timeout),
            Pause::Bus(transfer) => {
                results += transfer.results();
                run.pass();
            }
            Pause::Ended(ending) => break ending,
        }
        assert!(turns <= STEPS);
    };
    assert!(ending.steps <= STEPS && results <= RESULTS);
});
