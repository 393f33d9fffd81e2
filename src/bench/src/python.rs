//! User-defined models in Python: each runs in its own process, whose answers are awaited, so time
//! is exact.
//!
//! A request and its answer are one line of JSON each; `kairos.bench` (Python) is the peer. A model
//! that raises, does not answer in time or whose process exits fails, and the bench with it.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{json, Map, Value};

use crate::assemble::outputs::Kind;
use crate::model::{Change, Model, Outbox};
use crate::signal::{Light, Ns, Signal, Tone};

/// Environment variable that names the Python interpreter.
const PYTHON: &str = "KAIROS_PYTHON";
/// Extra time beyond the model's own timeout, in which the model can report itself where it hangs.
const GRACE: Duration = Duration::from_secs(3);

/// Parameters of a model.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    /// The file, and the class in it; `None`: the only one.
    pub file: &'a Path,
    pub class: Option<&'a str>,
    /// Names of its inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs, and the kind of each; `None`: a level, wired to a pin.
    pub outputs: Vec<(String, Option<Kind>)>,
    /// Keyword arguments.
    pub arguments: Map<String, Value>,
    /// Seed of its random numbers.
    pub seed: u64,
    /// Seconds after which the model is considered hung.
    pub timeout_s: f64,
}

/// A value of an output in the peer's encoding: a tone or light is the tuple of its fields.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum OutputValue {
    Level(bool),
    Number(f64),
    Wave(f64, Option<f64>, f64),
}

/// An answer of the process.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Answer {
    /// (delay, output, value).
    send: Vec<(Ns, usize, OutputValue)>,
    warn: Vec<String>,
    next: Option<Ns>,
    report: Value,
    error: Option<String>,
}

/// A process that answers requests line by line.
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
        sent.map_err(|error| format!("its process accepts no requests: {error}"))?;
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

/// A user-defined model.
pub struct Python {
    process: RefCell<Process>,
    outputs: Vec<Option<Kind>>,
    next: Option<Ns>,
}

impl Python {
    /// Starts the process and the model. The error is a line for the user.
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
                _ => return out.fail(format!("its process sends {value:?} to its output {output}")),
            }
        }
    }
}

/// Decodes a value of an output of a kind; `None` if they do not match.
fn signal(kind: Option<Kind>, value: OutputValue) -> Option<Signal> {
    Some(match (kind, value) {
        (None, OutputValue::Level(level)) => Signal::Level(level),
        (Some(Kind::Volts), OutputValue::Number(volts)) => Signal::Volts(volts),
        (Some(Kind::Photons), OutputValue::Number(rate)) => Signal::Photons(rate),
        (Some(Kind::Tone), OutputValue::Wave(_, None, _)) => Signal::Tone(Tone::OFF),
        (Some(Kind::Tone), OutputValue::Wave(hz, Some(dbm), turns)) => Signal::Tone(Tone { hz, dbm, turns }),
        (Some(Kind::Light), OutputValue::Wave(hz, Some(power), turns)) => Signal::Light(Light { hz, power, turns }),
        _ => return None,
    })
}

/// Encodes a signal for the peer: a truth value, a number, or a kind and its numbers.
fn value(signal: &Signal) -> Value {
    match signal {
        Signal::Level(level) => json!(level),
        Signal::Tone(tone) => json!(["tone", tone.hz, tone.dbm.is_finite().then_some(tone.dbm), tone.turns]),
        Signal::Light(light) => json!(["light", light.hz, light.power, light.turns]),
        Signal::Volts(number) | Signal::Photons(number) | Signal::Population(number) => json!(number),
        Signal::Clock(wave) => json!(["clock", wave.map_or(0.0, |wave| wave.hz)]),
        Signal::Core(_) | Signal::Word(_) => Value::Null, // wired to converters, Shuttlers and Songbirds only
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
