//! What clients and devices send to the hub: any bytes are refused, or mean something that is within its bounds.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kairos_batch::Permission;
use kairos_hub::registers::{Gateware, Register};
use kairos_hub::{health, journal, program, v1};
use libfuzzer_sys::fuzz_target;
use prost::Message;

/// Registers that programs may meet: wide, narrow, and those that cannot be read or written.
static GATEWARE: LazyLock<Gateware> = LazyLock::new(|| {
    let rows = [
        ("a/r", 32, true, false),
        ("a/w", 1, false, true),
        ("b/rw", 32, true, true),
        ("b/x", 64, true, true),
    ];
    let registers = rows
        .into_iter()
        .zip((0..).step_by(8))
        .map(|((name, width, read, write), address)| {
            let permission = Permission { read, write };
            (
                name.to_string(),
                Register {
                    address,
                    width,
                    permission,
                },
            )
        });
    Gateware::new("fuzz;1".into(), registers.collect::<BTreeMap<_, _>>())
});

fuzz_target!(|data: &[u8]| {
    if let Ok(request) = v1::RunRequest::decode(data) {
        // What comes of it has passed the check of batches.
        let _ = program::compile(&request.steps, &GATEWARE);
    }
    let _ = v1::I2cRequest::decode(data);
    let _ = v1::WriteMemoryRequest::decode(data);
    let _ = v1::ReadRequest::decode(data);
    let _ = Gateware::read(data);
    let _ = health::read(data);
    let _ = journal::interrupted(&String::from_utf8_lossy(data));
});
