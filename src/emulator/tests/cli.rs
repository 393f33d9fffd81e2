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
fn bad_arguments_are_reported_in_one_line() {
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
fn crashed_guest_is_reported_with_its_core() {
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
fn control_socket_answers_until_its_client_leaves() {
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
    let wait =
        |goal: &str, time_ns: u64| json!({ "cmd": "wait", "for": goal, "time_ns": time_ns, "timeout_ms": 10_000 });
    let waited = request(&mut control, &wait("time", 1000));
    assert!(
        waited["reached"] == "time" && waited["time_ns"].as_u64() >= Some(1000),
        "{waited}"
    );
    let waited = request(&mut control, &wait("idle", 1 << 40));
    assert!(
        waited["reached"] == "idle" && waited["time_ns"].as_u64() > Some(1_000_000_000),
        "{waited}"
    );
    let status = request(&mut control, &json!({ "cmd": "status" }));
    assert_eq!(
        (&status["sev_count"], &status["queued_ns"]),
        (&json!(102), &Value::Null)
    );
    assert_eq!(status["time_ns"], waited["time_ns"], "time stands still");
    // The guest has no network, so it is never ready.
    let waited = request(
        &mut control,
        &json!({ "cmd": "wait", "for": "ready", "timeout_ms": 20 }),
    );
    assert_eq!(waited, json!({ "reached": null, "time_ns": status["time_ns"] }));
    let record = request(&mut control, &json!({ "cmd": "sev" }));
    let cycles = record["cycles"].as_array().unwrap();
    assert_eq!(
        (cycles.len(), &record["first"], &record["next"]),
        (102, &json!(0), &json!(102))
    );
    let rest = request(&mut control, &json!({ "cmd": "sev", "from": 100 }));
    assert_eq!(rest, json!({ "first": 100, "cycles": cycles[100..], "next": 102 }));
    let sev = |n: usize| cycles[n].as_u64().unwrap();
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
        json!({ "cmd": "wait", "for": "time" }),
        json!({ "cmd": "wait", "for": "godot" }),
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
