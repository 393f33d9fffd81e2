//! Models that are Python classes of the user's: each in a process of its own, which is asked and
//! waited for, so time is exact.
//!
//! A request and its answer are a line of JSON each; `kairos.bench` (Python) is the other end. A
//! model that raises, that has not answered in time or whose process ends fails, and with it the
//! bench.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{json, Map, Value};

use crate::assemble::gives::Kind;
use crate::model::{Change, Model, Outbox};
use crate::signal::{Light, Ns, Signal, Tone};

/// The variable of the environment that names Python.
const PYTHON: &str = "KAIROS_PYTHON";
/// How much longer than the model's own time is waited for it to say itself that it hangs, and where.
const GRACE: Duration = Duration::from_secs(3);

/// What a model is made of.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    /// The file, and the class in it; `None`: the only one.
    pub file: &'a Path,
    pub class: Option<&'a str>,
    /// Names of its inputs.
    pub inputs: Vec<String>,
    /// Names of its outputs, and what each carries; `None`: a level, of a pin.
    pub outputs: Vec<(String, Option<Kind>)>,
    /// Keyword arguments.
    pub arguments: Map<String, Value>,
    /// Of its random numbers.
    pub seed: u64,
    /// Seconds after which it is taken to hang.
    pub timeout_s: f64,
}

/// A value of an output, as the other end has it: that of a tone or of light is what its tuple has.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Given {
    Level(bool),
    Number(f64),
    Wave(f64, Option<f64>, f64),
}

/// What a process answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Answer {
    /// (delay, output, value).
    send: Vec<(Ns, usize, Given)>,
    warn: Vec<String>,
    next: Option<Ns>,
    report: Value,
    error: Option<String>,
}

/// A process, asked line by line.
struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    wait: Duration,
}

impl Process {
    fn start(wait: Duration) -> Result<Self, String> {
        let python = std::env::var(PYTHON).unwrap_or_else(|_| "python3".into());
        let mut child = Command::new(&python)
            .args(["-m", "kairos.bench"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{python} cannot be started: {error}"))?;
        let (Some(requests), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("{python} has no pipes"));
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            requests,
            answers,
            wait,
        })
    }

    fn ask(&mut self, request: &Value) -> Result<Answer, String> {
        let sent = writeln!(self.requests, "{request}").and_then(|()| self.requests.flush());
        let line = match self.answers.recv_timeout(self.wait) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                return Err("its process does not answer".into());
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self
                    .child
                    .wait()
                    .map_or_else(|error| error.to_string(), |status| status.to_string());
                return Err(format!("its process has ended ({status})"));
            }
        };
        sent.map_err(|error| format!("its process takes no requests: {error}"))?;
        let answer: Answer =
            serde_json::from_str(&line).map_err(|error| format!("its process answers {line:?}: {error}"))?;
        match answer.error {
            Some(error) => Err(error),
            None => Ok(answer),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A model of the user's.
pub struct Python {
    process: RefCell<Process>,
    outputs: Vec<Option<Kind>>,
    next: Option<Ns>,
}

impl Python {
    /// Starts it. The error is a line for the user.
    pub fn new(options: &Options) -> Result<Self, String> {
        let name = |(name, kind): &(String, Option<Kind>)| json!([name, kind.map_or("pin", Kind::name)]);
        let outputs: Vec<Value> = options.outputs.iter().map(name).collect();
        let mut process = Process::start(Duration::from_secs_f64(options.timeout_s) + GRACE)?;
        let answer = process.ask(&json!({"start": {
            "file": options.file,
            "class": options.class,
            "inputs": options.inputs,
            "outputs": outputs,
            "arguments": options.arguments,
            "seed": options.seed,
            "timeout_s": options.timeout_s,
        }}))?;
        Ok(Self {
            process: RefCell::new(process),
            outputs: options.outputs.iter().map(|(_, kind)| *kind).collect(),
            next: answer.next,
        })
    }

    fn call(&mut self, request: &Value, out: &mut Outbox) {
        let answer = match self.process.get_mut().ask(request) {
            Ok(answer) => answer,
            Err(why) => return out.fail(why),
        };
        self.next = answer.next;
        answer.warn.into_iter().for_each(|text| out.warn(text));
        for (delay, output, value) in answer.send {
            match self.outputs.get(output).map(|kind| signal(*kind, value)) {
                Some(Some(signal)) => out.send_after(delay, output, signal),
                _ => return out.fail(format!("its process gives {value:?} to its output {output}")),
            }
        }
    }
}

/// What an output of a kind carries.
fn signal(kind: Option<Kind>, value: Given) -> Option<Signal> {
    Some(match (kind, value) {
        (None, Given::Level(level)) => Signal::Level(level),
        (Some(Kind::Volts), Given::Number(volts)) => Signal::Volts(volts),
        (Some(Kind::Photons), Given::Number(rate)) => Signal::Photons(rate),
        (Some(Kind::Tone), Given::Wave(_, None, _)) => Signal::Tone(Tone::OFF),
        (Some(Kind::Tone), Given::Wave(hz, Some(dbm), turns)) => Signal::Tone(Tone { hz, dbm, turns }),
        (Some(Kind::Light), Given::Wave(hz, Some(power), turns)) => Signal::Light(Light { hz, power, turns }),
        _ => return None,
    })
}

/// As the other end has it: a truth value, or what it is and its numbers.
fn value(signal: &Signal) -> Value {
    match signal {
        Signal::Level(level) => json!(level),
        Signal::Tone(tone) => json!(["tone", tone.hz, tone.dbm.is_finite().then_some(tone.dbm), tone.turns]),
        Signal::Light(light) => json!(["light", light.hz, light.power, light.turns]),
        Signal::Volts(number) | Signal::Photons(number) | Signal::Population(number) => json!(number),
        Signal::Clock(wave) => json!(["clock", wave.map_or(0.0, |wave| wave.hz)]),
        Signal::Core(_) => Value::Null, // only converters are wired to it
    }
}

impl Model for Python {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let changes: Vec<Value> = changes
            .iter()
            .map(|(input, signal)| json!([input, value(signal)]))
            .collect();
        self.call(&json!({ "input": [at, changes] }), out);
    }

    fn next(&self) -> Option<Ns> {
        self.next
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        self.call(&json!({ "act": at }), out);
    }

    fn report(&self, at: Ns) -> Value {
        let answer = self.process.borrow_mut().ask(&json!({ "report": at }));
        answer.map_or_else(|why| json!({ "error": why }), |answer| answer.report)
    }
}
