//! The program itself: arguments, messages, the control socket.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{build, build_pl};
use serde_json::{json, Value};

fn emulator() -> Command {
    Command::new(env!("CARGO_BIN_EXE_kairos-emulator"))
}

/// Exit code and standard error.
fn fails(command: &mut Command) -> (i32, String) {
    let Output { status, stderr, .. } = command.output().unwrap();
    (status.code().unwrap(), String::from_utf8(stderr).unwrap())
}

fn request(stream: &mut UnixStream, value: &Value) -> Value {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    writeln!(stream, "{value}").unwrap();
    let mut line = String::new();
    BufReader::new(stream.try_clone().unwrap())
        .read_line(&mut line)
        .unwrap();
    serde_json::from_str(&line).unwrap()
}

fn connect(path: &Path) -> UnixStream {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        match UnixStream::connect(path) {
            Ok(s) => return s,
            Err(e) if Instant::now() > end => panic!("{e}"),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[test]
fn bad_arguments_are_one_clear_line() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("text");
    std::fs::write(&text, "not an ELF file").unwrap();
    let (code, error) = fails(emulator().args(["--firmware", "/nonexistent.elf"]));
    assert!(
        code == 2 && error.contains("does not exist") && error.lines().count() == 1,
        "{error}"
    );
    let (code, error) = fails(emulator().arg("--firmware").arg(&text));
    assert!(
        code == 2 && error.contains("not a 32-bit little-endian ARM ELF"),
        "{error}"
    );
    let (code, error) = fails(emulator().args(["--firmware", "x", "--set", "nothing=1"]));
    assert!(code == 2 && error.contains("no such parameter"), "{error}");
    let (code, error) = fails(emulator().args(["--firmware", "x", "--wrong"]));
    assert!(code == 2 && error.contains("--wrong"), "{error}");

    let Some(elf) = build("cores", directory.path()) else {
        return;
    };
    let with = |pl: &Path| fails(emulator().arg("--firmware").arg(&elf).arg("--pl").arg(pl));
    let (code, error) = with(Path::new("/nonexistent.so"));
    assert!(code == 2 && error.contains("make gateware"), "{error}");
    let (code, error) = with(&text);
    assert!(code == 2 && error.contains("cannot be loaded"), "{error}");
    let (code, error) = with(&build_pl(directory.path(), &["-DTEST_ABI=99"]));
    assert!(code == 2 && error.contains("interface version 99"), "{error}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let rule = format!("{}:1381", taken.local_addr().unwrap().port());
    let (code, error) = fails(emulator().arg("--firmware").arg(&elf).args(["--forward", &rule]));
    assert!(code == 2 && error.contains("in use"), "{error}");
}

#[test]
fn a_crashed_guest_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let Some(elf) = build("crash", directory.path()) else {
        return;
    };
    let (code, error) = fails(emulator().arg("--firmware").arg(&elf));
    assert!(
        code == 1 && error.contains("core 0 takes one abort after the other"),
        "{error}"
    );
}

#[test]
fn control_socket() {
    let directory = tempfile::tempdir().unwrap();
    let Some(elf) = build("submit", directory.path()) else {
        return;
    };
    let pl = build_pl(directory.path(), &[]);
    let socket = directory.path().join("control");
    let mut child = emulator()
        .arg("--firmware")
        .arg(&elf)
        .arg("--pl")
        .arg(&pl)
        .arg("--control")
        .arg(&socket)
        .args(["--exit-with-control", "--set", "acp_read_latency=30"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut control = connect(&socket);
    let end = Instant::now() + Duration::from_secs(10);
    let status = loop {
        let status = request(&mut control, &json!({ "cmd": "status" }));
        if status["sev_count"] == 102 && status["time_ns"].as_u64() > Some(1_000_000_000) {
            break status;
        }
        assert!(Instant::now() < end, "{status}");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status["sev_cycles"].as_array().unwrap().len(), 102);
    let sev = |n: usize| status["sev_cycles"][n].as_u64().unwrap();
    assert!(
        (53..62).contains(&(sev(11) - sev(10))),
        "ten cycles more than by default"
    );
    let trace = request(&mut control, &json!({ "cmd": "trace", "from": 100 }));
    assert_eq!(trace["pads"], json!([{ "index": 0, "name": "pad0", "channel": 0 }]));
    assert_eq!(trace["next"], 103);
    assert_eq!(trace["events"].as_array().unwrap().len(), 3);
    request(&mut control, &json!({ "cmd": "trace_clear" }));
    assert_eq!(request(&mut control, &json!({ "cmd": "trace" }))["next"], 0);
    assert_eq!(
        request(&mut control, &json!({ "cmd": "set", "skip": false })),
        json!({})
    );
    assert_eq!(
        request(&mut control, &json!({ "cmd": "pad", "index": 0, "level": 1 })),
        json!({})
    );
    for bad in [
        json!({ "cmd": "pad", "index": 5, "level": 1 }),
        json!({ "cmd": "dance" }),
    ] {
        assert!(request(&mut control, &bad)["error"].is_string());
    }
    assert_eq!(
        request(&mut control, &json!({ "cmd": "uart", "from": 0 })),
        json!({ "text": "", "next": 0 })
    );
    drop(control);
    let end = Instant::now() + Duration::from_secs(5);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "still there after the client has gone");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success());
    assert!(!socket.exists());
}
