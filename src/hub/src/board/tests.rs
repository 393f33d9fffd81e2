//! Tests with a board made of files: batches on its registers, hardware detection, health.

use super::hardware::Hardware;
use super::settings::{BoardEntry, BoardSettings};
use super::*;
use crate::program;
use crate::v1::{step, Step as ProgramStep};

const TEXT: &str = "name = 'rack'\n\
    [[memory]]\nblock = 'clocks'\nfile = '/mem'\naddress = 0x1000\nsize = 0x1000\n\
    registers = [{ name = 'status', offset = 4, access = 'r' }, { name = 'divider', offset = 8, width = 16 }]\n\
    [[memory]]\nblock = 'samples'\nfile = '/mem'\naddress = 0\nsize = 64\nbuffer = 'rw'\n";

fn settings(text: &str, root: &std::path::Path) -> Result<BoardSettings, String> {
    let entry: BoardEntry = toml::from_str(text).map_err(|error| error.to_string())?;
    entry.read(root).map(|settings| BoardSettings {
        root: root.into(),
        ..settings
    })
}

fn board() -> (tempfile::TempDir, Hardware) {
    let root = tempfile::tempdir().unwrap();
    let mut bytes = vec![0; 0x2000];
    bytes[0x1004] = 42;
    fs::write(root.path().join("mem"), bytes).unwrap();
    let hardware = Hardware::open(&settings(TEXT, root.path()).unwrap()).unwrap();
    (root, hardware)
}

fn read(register: &str) -> ProgramStep {
    let register = register.into();
    ProgramStep {
        step: Some(step::Step::Read(step::Read { register })),
    }
}

#[test]
fn batch_gives_the_results_of_a_core_device() {
    let (root, hardware) = board();
    let write = ProgramStep {
        step: Some(step::Step::Write(step::Write {
            register: "clocks/divider".into(),
            value: 7,
            step: 1,
        })),
    };
    let rounds = ProgramStep {
        step: Some(step::Step::Loop(step::Loop {
            rounds: 3,
            steps: vec![write, read("clocks/divider")],
        })),
    };
    let program = program::compile(&[read("clocks/status"), rounds], &hardware.gateware).unwrap();
    let reply = execute(&program.bytes, &hardware);
    let (ending, words) = Ending::from_reply(&reply).unwrap();
    let words: Vec<_> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    assert_eq!((ending.steps, words), (8, vec![42, 7, 8, 9]));
    assert_eq!(fs::read(root.path().join("mem")).unwrap()[0x1008], 9);
}

#[test]
fn poll_without_match_times_out() {
    let (_root, hardware) = board();
    let poll = ProgramStep {
        step: Some(step::Step::Poll(step::Poll {
            register: "clocks/status".into(),
            value: 1,
            mask: 1,
            timeout_us: 1000,
        })),
    };
    let program = program::compile(&[poll], &hardware.gateware).unwrap();
    let begun = Instant::now();
    let (ending, _) = Ending::from_reply(&execute(&program.bytes, &hardware))
        .map(|(ending, words)| (ending, words.len()))
        .unwrap();
    assert_eq!(ending.outcome, kairos_proto::batch::Outcome::Timeout);
    assert!(begun.elapsed() >= Duration::from_millis(1));
}

#[test]
fn write_of_read_only_register_is_refused() {
    let (_root, hardware) = board();
    let status = hardware.gateware.register("clocks/status").unwrap();
    let (ending, _) = Ending::from_reply(&execute(&program::write(status, 1), &hardware))
        .map(|(e, w)| (e, w.len()))
        .unwrap();
    assert_eq!(ending.outcome, kairos_proto::batch::Outcome::NotPermitted);
    assert!(hardware.buffer("samples").is_some() && hardware.buffer("clocks").is_none());
}

#[test]
fn unmappable_register_is_reported_with_its_block() {
    let root = tempfile::tempdir().unwrap();
    let error = Hardware::open(&settings(TEXT, root.path()).unwrap()).unwrap_err();
    assert!(
        error.contains("memory clocks") && error.contains("mem cannot be mapped"),
        "{error}"
    );
    let text = "name = 'rack'\n[[memory]]\nblock = 'a'\nuio = 'clocks'\nregisters = [{name = 'a', offset = 0}]";
    let error = Hardware::open(&settings(text, root.path()).unwrap()).unwrap_err();
    assert!(error.contains("no driver provides region 0 of 'clocks'"), "{error}");
}

#[test]
fn invalid_board_settings_are_rejected_with_the_reason() {
    let root = std::path::Path::new("/");
    for (from, to, expected) in [
        ("block = 'clocks'\n", "", "'' is not a block name"),
        ("'samples'", "'clocks'", "two memory regions have the name 'clocks'"),
        ("offset = 8", "offset = 6", "offset 0x6 is not a"),
        ("offset = 8", "offset = 4096", "offset 0x1000 is not a"),
        ("width = 16", "width = 33", "width must be 1 to 32"),
        ("'divider'", "'status'", "two registers have the name status"),
        ("'divider'", "'a/b'", "'a/b' is not a register name"),
        ("buffer = 'rw'\n", "", "neither registers nor buffer"),
        ("size = 64\n", "", "size is missing"),
        ("size = 64\n", "size = 64\nuio = 'a'\n", "exclude each other"),
        ("size = 64\n", "size = 64\ngateware = true\n", "takes no other key"),
        ("buffer = 'rw'", "buffer = 'x'", "unknown variant"),
    ] {
        let error = settings(&TEXT.replacen(from, to, 1), root).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn sensors_and_system_are_reported() {
    let (root, _) = board();
    let chip = root.path().join("sys/class/hwmon/hwmon0");
    fs::create_dir_all(&chip).unwrap();
    fs::create_dir_all(root.path().join("proc")).unwrap();
    fs::write(root.path().join("proc/uptime"), "12.5 20.0\n").unwrap();
    fs::write(
        root.path().join("proc/meminfo"),
        "MemTotal: 9 kB\nMemAvailable:   4 kB\n",
    )
    .unwrap();
    fs::write(chip.join("name"), "xadc").unwrap();
    fs::write(chip.join("temp1_input"), "90000").unwrap();
    fs::write(chip.join("temp1_crit"), "85000").unwrap();
    let found = subsystems(&settings(TEXT, root.path()).unwrap());
    assert_eq!(
        (found[0].condition, found[0].values["xadc_temp1_celsius"]),
        (Condition::Warning, 90.0)
    );
    assert!(found[0].text.contains("at most 85 is good"), "{}", found[0].text);
    assert_eq!(
        (
            found[1].values["uptime_seconds"],
            found[1].values["memory_available_bytes"]
        ),
        (12.5, 4096.0)
    );
}
