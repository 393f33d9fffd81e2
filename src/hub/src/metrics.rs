//! Metrics of the hub and its devices in the Prometheus text format, version 0.0.4.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::access;
use crate::device::{All, Device};
use crate::health::Condition;
use crate::job;
use crate::traces::code;

/// Statistics of calls, by method and outcome.
#[derive(Debug, Default)]
pub struct Calls {
    sums: Mutex<BTreeMap<(String, String), Sum>>,
    /// Methods of the plugins.
    plugins: Mutex<BTreeSet<String>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    time: Duration,
}

/// Stands for all methods that the hub does not have: anybody may invent names, and what is not
/// bounded fills the memory, or hides the methods that matter.
const OTHERS: &str = "others";
/// Highest code of gRPC; a plugin may answer with any text instead.
const CODE_MAX: u8 = 16;

impl Calls {
    /// From now on distinguishes these methods, of a plugin, too.
    pub fn add_methods<'a>(&self, methods: impl Iterator<Item = &'a String>) {
        let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        plugins.extend(methods.cloned());
    }

    fn is_of_plugin(&self, method: &str) -> bool {
        let plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        plugins.contains(method)
    }

    fn add(&self, method: &str, code: &str, time: Duration) {
        let is_known = access::is_method(method) || self.is_of_plugin(method);
        let method = if is_known { method } else { OTHERS };
        let is_code = code.parse::<u8>().is_ok_and(|code| code <= CODE_MAX);
        let code = if is_code { code } else { OTHERS };
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = sums.entry((method.into(), code.into())).or_default();
        sum.count += 1;
        sum.time += time;
    }
}

/// Counts a call, from the request to the head of the response.
pub async fn count(State(calls): State<&'static Calls>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let method = request.uri().path().to_string();
    let response = next.run(request).await;
    calls.add(&method, code(response.headers()), start.elapsed());
    response
}

/// The metrics page.
pub async fn page(State((devices, calls)): State<(All, &'static Calls)>) -> Response {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, &devices, calls);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

/// Samples by metric name: labels and value.
type Families = BTreeMap<String, Vec<(String, f64)>>;

fn write(out: &mut String, devices: &[Device], calls: &Calls) -> fmt::Result {
    let mut families = Families::new();
    let mut add = |name: String, labels: String, value: f64| families.entry(name).or_default().push((labels, value));
    for device in devices {
        let name = Label(device.name());
        let labels = format!("device={name}");
        let state = device.state().borrow().clone();
        let job::State::Online(_, subsystems) = state else {
            add("kairos_device_up".into(), labels, 0.0);
            continue;
        };
        add("kairos_device_up".into(), labels.clone(), 1.0);
        for subsystem in subsystems.iter() {
            if subsystem.condition != Condition::Absent {
                let good = f64::from(subsystem.condition == Condition::Good);
                let labels = format!("{labels},subsystem={}", Label(&subsystem.name));
                add("kairos_subsystem_good".into(), labels, good);
            }
            for (value, number) in &subsystem.values {
                // The names come from the device.
                let name = format!("kairos_{}_{value}", subsystem.name);
                let name = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_");
                add(name, labels.clone(), *number);
            }
        }
    }
    for ((method, code), sum) in calls.sums.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let labels = format!("method={},code={}", Label(method), Label(code));
        add("kairos_hub_calls_total".into(), labels.clone(), sum.count as f64);
        add("kairos_hub_call_seconds_total".into(), labels, sum.time.as_secs_f64());
    }
    for (name, samples) in families {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        writeln!(out, "# TYPE {name} {kind}")?;
        for (labels, value) in samples {
            writeln!(out, "{name}{{{labels}}} {value}")?;
        }
    }
    Ok(())
}

/// Escapes text as a label value.
struct Label<'a>(&'a str);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_method_and_outcome() {
        let calls = Calls::default();
        calls.add_methods(["/a/B".to_string(), "/a/\"B".into()].iter());
        calls.add("/a/B", "0", Duration::from_millis(250));
        calls.add("/a/B", "0", Duration::from_millis(250));
        calls.add("/a/\"B", "5", Duration::ZERO);
        let mut text = String::new();
        write(&mut text, &[], &calls).unwrap();
        let expected = "# TYPE kairos_hub_call_seconds_total counter\n\
                        kairos_hub_call_seconds_total{method=\"/a/\\\"B\",code=\"5\"} 0\n\
                        kairos_hub_call_seconds_total{method=\"/a/B\",code=\"0\"} 0.5\n\
                        # TYPE kairos_hub_calls_total counter\n\
                        kairos_hub_calls_total{method=\"/a/\\\"B\",code=\"5\"} 1\n\
                        kairos_hub_calls_total{method=\"/a/B\",code=\"0\"} 2\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn unknown_methods_do_not_grow_the_table() {
        let calls = Calls::default();
        (0..1000).for_each(|n| calls.add(&format!("/a/{n}"), &n.to_string(), Duration::ZERO));
        let known = [
            access::METRICS,
            "/kairos.hub.v1.Registers/Read",
            "/grpc.health.v1.Health/Check",
        ];
        known.iter().for_each(|method| calls.add(method, "0", Duration::ZERO));
        let sums = calls.sums.lock().unwrap();
        assert_eq!(sums.len(), usize::from(CODE_MAX) + 1 + 1 + known.len());
        assert!(known
            .iter()
            .all(|method| sums.contains_key(&(method.to_string(), "0".into()))));
        assert_eq!(
            sums[&(OTHERS.into(), OTHERS.into())].count,
            1000 - u64::from(CODE_MAX) - 1
        );
    }
}
