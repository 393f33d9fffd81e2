//! Untrusted input: programs of clients, replies and descriptors of devices, files written by
//! users. All input must be either accepted or rejected with a one-line message. Inputs are mostly
//! valid with some damaged bytes, since random bytes fail the first check.
//!
//! Not a target of `fuzz/`, which would build the whole server with a sanitizer. The execution of
//! batches is a target there.

use std::collections::BTreeMap;
use std::path::Path;

use kairos_batch::{Batch, Permission};
use kairos_contracts::batch::{INSTRUCTION, INSTRUCTIONS_MAX};
use kairos_hub::plugins::protocol::Protocol;
use kairos_hub::registers::{Gateware, Register};
use kairos_hub::settings::Settings;
use kairos_hub::v1::step::{self, Step as Kind};
use kairos_hub::v1::{RunRequest, Step};
use kairos_hub::{health, journal, program};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

/// Registers for programs: wide, narrow, not readable, not writable.
fn gateware() -> Gateware {
    let rows = [
        ("a/r", 32, true, false),
        ("a/w", 1, false, true),
        ("b/rw", 32, true, true),
        ("b/x", 64, true, true),
    ];
    let registers = rows.into_iter().zip((0..).step_by(8));
    let registers = registers.map(|((name, width, read, write), address)| {
        let permission = Permission { read, write };
        let register = Register {
            address,
            width,
            permission,
        };
        (name.to_string(), register)
    });
    Gateware::new("test;1".into(), registers.collect::<BTreeMap<_, _>>())
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop_oneof!["a/r", "a/w", "b/rw", "b/x"],
        1 => Just("c/none".into()),
        1 => "\\PC{0,5}",
    ]
}

/// Small numbers and edge cases.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0..9u32, any::<u32>(), Just(u32::MAX)]
}

fn plain() -> impl Strategy<Value = Kind> {
    let switch = proptest::option::of((number(), number()).prop_map(|(address, mask)| step::Switch { address, mask }));
    prop_oneof![
        name().prop_map(|register| Kind::Read(step::Read { register })),
        (name(), any::<u64>(), number()).prop_map(|(register, value, step)| Kind::Write(step::Write {
            register,
            value: value >> (step % 64),
            step
        })),
        (name(), number(), number()).prop_map(|(register, value, mask)| Kind::Modify(step::Modify {
            register,
            value,
            mask
        })),
        (name(), number(), number(), number()).prop_map(|(register, value, mask, timeout_us)| {
            Kind::Poll(step::Poll {
                register,
                value,
                mask,
                timeout_us,
            })
        }),
        number().prop_map(|us| Kind::Delay(step::Delay { us })),
        (number(), vec(any::<u8>(), 0..10), number(), switch).prop_map(|(address, write, read, through)| {
            Kind::I2c(step::I2c {
                address,
                write,
                read,
                through,
            })
        }),
        (name(), number()).prop_map(|(channel, probe)| Kind::Probe(step::Probe { channel, probe })),
        (name(), number(), number()).prop_map(|(channel, r#override, value)| Kind::Inject(step::Inject {
            channel,
            r#override,
            value
        })),
        (name(), number(), number()).prop_map(|(channel, length, divider)| Kind::Spi(step::Spi {
            channel,
            length,
            divider,
            ..step::Spi::default()
        })),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = prop_oneof![20 => plain().prop_map(Some), 1 => Just(None)].prop_map(|step| Step { step });
    let nested = one.prop_recursive(6, 60, 6, |inner| {
        let rounds = prop_oneof![8 => 1..5u32, 1 => number()];
        (rounds, vec(inner, 0..6)).prop_map(|(rounds, steps)| Step {
            step: Some(Kind::Loop(step::Loop { rounds, steps })),
        })
    });
    vec(nested, 0..12)
}

fn count(steps: &[Step]) -> u32 {
    let within = steps.iter().map(|step| match &step.step {
        Some(Kind::Loop(step::Loop { steps, .. })) => 1 + count(steps),
        _ => 1,
    });
    within.sum()
}

/// A program is either rejected with a message, or becomes a batch that the device accepts, in
/// which each instruction belongs to one of the steps.
fn check(steps: &[Step]) {
    let gateware = gateware();
    match program::compile(steps, &gateware) {
        Err(status) => assert!(
            !status.message().is_empty() && !status.message().contains('\n'),
            "{status}"
        ),
        Ok(made) => {
            assert!(Batch::new(&made.bytes, &gateware).is_ok());
            let instructions = made.bytes.len() / INSTRUCTION;
            assert!(instructions <= INSTRUCTIONS_MAX);
            let of: Vec<u32> = (0..instructions as u32).map(|number| made.step(number)).collect();
            assert!(of.is_sorted() && of.iter().all(|&step| step < count(steps)));
        }
    }
}

/// Modified bytes, and an optional truncation.
fn damage() -> impl Strategy<Value = (Vec<(prop::sample::Index, u8)>, Option<prop::sample::Index>)> {
    (
        vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        proptest::option::weighted(0.3, any::<prop::sample::Index>()),
    )
}

fn damaged(
    mut bytes: Vec<u8>,
    (changes, end): (Vec<(prop::sample::Index, u8)>, Option<prop::sample::Index>),
) -> Vec<u8> {
    if !bytes.is_empty() {
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len()));
        }
    }
    bytes
}

/// Fragments of hub.toml, and of a plugin's protocol.
const SETTINGS: [&str; 22] = [
    "[[device]]\nname = 'a'\naddress = 'lab'\n",
    "[[device]]\n",
    "[[board]]\nname = 'b'\n",
    "[[board.memory]]\nblock = 'c'\nsize = 16\n",
    "registers = [{ name = 'r', offset = 4, width = 3, access = 'r' }]\n",
    "registers = [{ name = 'r', offset = 4294967292 }]\n",
    "uio = 'u'\nregion = 1\n",
    "gateware = true\n",
    "buffer = 'rw'\n",
    "size = -1\n",
    "file = '/none'\n",
    "root = '.'\n",
    "[[plugin]]\nname = 'p'\nlayer = 'control'\ncommand = ['x']\nprotocol = 'p.proto'\n",
    "[plugin.settings]\nx = { y = 1 }\n",
    "[[token]]\nname = 'a'\nrole = 'view'\n",
    "sha256 = '00'\n",
    "[tls]\ncertificate_file = 'none'\nkey_file = 'none'\n",
    "listen = '[::]:1'\n",
    "state = '/none'\n",
    "name = \"\\u0000\"\n",
    "= 'a'\n",
    "é ",
];
const PROTOCOL: [&str; 14] = [
    "syntax = 'proto3';\n",
    "package a;\n",
    "import 'kairos/hub/v1/hub.proto';\n",
    "message M { repeated uint32 x = 1; oneof o { string y = 2; } }\n",
    "message M {}\n",
    "service S { rpc A(M) returns (M); }\n",
    "service S { rpc A(stream M) returns (stream M) { option (kairos.hub.v1.role) = ROLE_LOOK; } }\n",
    "service T { rpc A(M) returns (M) { option (kairos.hub.v1.role) = 9; } }\n",
    "service T { rpc A(N) returns (M); }\n",
    "enum E { A = 0; }\n",
    "extend google.protobuf.MethodOptions { int32 x = 51380; }\n",
    "{",
    "}",
    "\0",
];
const HEALTH: &str =
    r#"[{"name":"rtio","state":"good","text":"","values":{"a":1}},{"name":"b","state":"bad","text":"no","values":{}}]"#;

fn text(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    vec(prop::sample::select(words), 0..8).prop_map(|words| words.concat())
}

fn in_a_line<T>(result: Result<T, String>) {
    if let Err(error) = result {
        assert!(!error.is_empty() && !error.contains('\n'), "{error}");
    }
}

proptest! {
    #[test]
    fn arbitrary_programs_are_checked_without_panic(steps in steps()) {
        check(&steps);
    }

    #[test]
    fn damaged_requests_are_checked_without_panic(steps in steps(), damage in damage()) {
        let sound = RunRequest { device: "demo".into(), steps };
        let bytes = damaged(sound.encode_to_vec(), damage);
        if let Ok(request) = RunRequest::decode(&bytes[..]) {
            check(&request.steps);
        }
    }

    #[test]
    fn arbitrary_settings_are_read_or_refused_in_one_line(text in text(&SETTINGS), damage in damage()) {
        in_a_line(Settings::read(&text, Path::new("/nowhere"), None));
        let other = String::from_utf8_lossy(&damaged(text.into_bytes(), damage)).into_owned();
        in_a_line(Settings::read(&other, Path::new("/nowhere"), None));
    }

    #[test]
    fn arbitrary_protocols_are_compiled_or_refused_in_one_line(text in text(&PROTOCOL), damage in damage()) {
        in_a_line(Protocol::of("test.proto", &text));
        let other = String::from_utf8_lossy(&damaged(text.into_bytes(), damage)).into_owned();
        in_a_line(Protocol::of("test.proto", &other));
    }

    #[test]
    fn replies_of_devices_are_decoded_or_refused(damage in damage(), bytes in vec(any::<u8>(), 0..200)) {
        in_a_line(health::read(&damaged(HEALTH.into(), damage)).map(drop));
        let _ = Gateware::read(&bytes);
        let _ = journal::interrupted(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn undamaged_inputs_are_accepted() {
    assert!(Settings::read(SETTINGS[0], Path::new("/nowhere"), None).is_ok());
    let protocol = [PROTOCOL[0], PROTOCOL[1], PROTOCOL[2], PROTOCOL[4], PROTOCOL[6]].concat();
    assert!(Protocol::of("test.proto", &protocol).is_ok());
    assert!(health::read(HEALTH.as_bytes()).is_ok());
}
