use serde_json::Value;

use super::{Divided, Edge, End, Engine, CABLE};
use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal};

/// Sends each input signal after a delay, and one by itself every `period`.
struct Echo {
    delay: Ns,
    period: Option<Ns>,
    next: Option<Ns>,
}

impl Echo {
    fn after(delay: Ns) -> Box<Self> {
        Box::new(Self {
            delay,
            period: None,
            next: None,
        })
    }
}

impl Model for Echo {
    fn input(&mut self, _at: Ns, changes: &[Change], out: &mut Outbox) {
        for (_, signal) in changes {
            out.send_after(self.delay, 0, *signal);
        }
    }

    fn next(&self) -> Option<Ns> {
        self.next
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        out.warn("it acts");
        self.next = self.period.map(|period| at + period);
    }

    fn report(&self, _at: Ns) -> Value {
        Value::Null
    }
}

fn edges(engine: &mut Engine, end: Ns) -> Vec<Edge> {
    engine.run(end);
    std::iter::from_fn(|| engine.edge(0, end)).collect()
}

fn edge(at: Ns, pad: u16, level: bool) -> Edge {
    Edge { at, pad, level }
}

#[test]
fn edges_are_delivered_at_their_times_in_any_steps() {
    let make = || {
        let mut engine = Engine::default();
        let first = engine.add("first", 1, Echo::after(5));
        let second = engine.add("second", 1, Echo::after(0));
        engine.wire_pin(3, first, 0);
        engine.wire(
            first,
            0,
            End::Input {
                model: second,
                input: 0,
            },
        );
        engine.wire(second, 0, End::Pin(7));
        engine.wire(first, 0, End::Pin(8));
        engine.pin(100, 3, true);
        engine.pin(103, 3, false);
        engine
    };
    let due = 100 + CABLE + 5;
    let expected = [
        edge(due, 7, true),
        edge(due, 8, true),
        edge(due + 3, 7, false),
        edge(due + 3, 8, false),
    ];
    let by_time = |mut found: Vec<Edge>| {
        found.sort_by_key(|edge| (edge.at, edge.pad));
        found
    };
    let mut engine = make();
    assert!(engine.watches(3) && !engine.watches(4));
    assert_eq!(engine.next(), Some(108));
    assert_eq!(by_time(edges(&mut engine, 1000)), expected);
    assert_eq!(engine.next(), None, "nothing is left to do");
    let mut engine = make();
    let found: Vec<Edge> = (0..130).flat_map(|end| edges(&mut engine, end)).collect();
    assert_eq!(by_time(found), expected);
}

#[test]
fn simultaneous_changes_are_delivered_together() {
    struct Both(Vec<Vec<Change>>);
    impl Model for Both {
        fn input(&mut self, _at: Ns, changes: &[Change], out: &mut Outbox) {
            self.0.push(changes.to_vec());
            out.warn(format!(
                "{:?}",
                changes.iter().map(|change| change.0).collect::<Vec<_>>()
            ));
        }

        fn report(&self, _at: Ns) -> Value {
            Value::Null
        }
    }
    let mut engine = Engine::default();
    let model = engine.add("both", 0, Box::new(Both(Vec::new())));
    (0..3).for_each(|pad| engine.wire_pin(pad, model, usize::from(pad)));
    for (at, pad) in [(8, 0), (8, 2), (9, 1)] {
        engine.pin(at, pad, true);
    }
    engine.run(100);
    let texts: Vec<&str> = engine.warnings(0).iter().map(|warning| warning.text.as_str()).collect();
    assert_eq!(texts, ["both: [0, 2]", "both: [1]"]);
    assert_eq!(engine.warnings(1)[0].at, 9 + CABLE);
}

#[test]
fn self_acting_model_runs_and_its_warnings_are_limited() {
    let mut engine = Engine::default();
    let clock = Echo {
        delay: 0,
        period: Some(10),
        next: Some(10),
    };
    engine.add("clock", 1, Box::new(clock));
    engine.run(10_000);
    assert_eq!(engine.next(), Some(10_000));
    assert_eq!(engine.warnings(0).len(), 20, "the first ones");
}

#[test]
fn models_in_an_endless_loop_end_the_bench() {
    let mut engine = Engine::default();
    let model = engine.add("mirror", 1, Echo::after(0));
    engine.wire_pin(0, model, 0);
    engine.wire(model, 0, End::Input { model, input: 0 });
    engine.pin(0, 0, true);
    engine.run(100);
    assert_eq!(
        engine.failure(),
        Some("at 8 ns the models trigger each other endlessly without delay")
    );
    assert_eq!(engine.next(), None);
}

#[test]
fn panicking_model_ends_the_bench_with_its_name() {
    struct Broken;
    impl Model for Broken {
        fn input(&mut self, _at: Ns, changes: &[Change], _out: &mut Outbox) {
            assert!(changes.is_empty(), "no input expected");
        }

        fn report(&self, _at: Ns) -> Value {
            Value::Null
        }
    }
    let mut engine = Engine::default();
    let model = engine.add("camera", 0, Box::new(Broken));
    engine.set_location(model, "bench.toml:7");
    engine.wire_pin(0, model, 0);
    engine.pin(4, 0, true);
    engine.run(100);
    assert_eq!(
        engine.failure(),
        Some("bench.toml:7: the model camera failed at 12 ns: no input expected")
    );
    engine.pin(200, 0, true);
    engine.run(1000);
    assert_eq!(engine.next(), None);
}

#[test]
fn signals_other_than_levels_do_not_reach_pins() {
    struct Lamp;
    impl Model for Lamp {
        fn input(&mut self, _at: Ns, _changes: &[Change], out: &mut Outbox) {
            out.send(0, Signal::Photons(1.0));
        }

        fn report(&self, _at: Ns) -> Value {
            Value::Null
        }
    }
    let mut engine = Engine::default();
    let model = engine.add("lamp", 1, Box::new(Lamp));
    engine.wire_pin(0, model, 0);
    engine.wire(model, 0, End::Pin(1));
    engine.pin(0, 0, true);
    assert_eq!(edges(&mut engine, 100), []);
}

/// Three boards of 10 pads each: cables within the first and from the second to the third, and a
/// model without any.
fn three_boards() -> Engine {
    let mut engine = Engine::default();
    for (name, pads) in [("own", Some((3, 4))), ("free", None), ("across", Some((13, 24)))] {
        let model = engine.add(name, 1, Echo::after(5));
        if let Some((from, to)) = pads {
            engine.wire_pin(from, model, 0);
            engine.wire(model, 0, End::Pin(to));
        }
    }
    engine
}

#[test]
fn unjoined_boards_have_separate_engines() {
    let Divided { mut engines, of_board } = three_boards().divide(&[0, 10, 20]);
    assert_eq!(of_board, [0, 1, 1]);
    let names = |engine: &Engine| match engine.report(0) {
        Value::Object(parts) => parts.keys().cloned().collect::<Vec<_>>(),
        other => panic!("{other}"),
    };
    assert_eq!(names(&engines[0]), ["free", "own"]);
    assert_eq!(names(&engines[1]), ["across"]);
    assert!(engines[0].watches(3) && !engines[0].watches(13) && engines[1].watches(13));
    engines[1].pin(100, 13, true);
    engines[1].run(200);
    let due = 100 + CABLE + 5;
    assert_eq!((engines[1].edge_due(0), engines[1].edge_due(1)), (None, Some(due)));
    assert_eq!(engines[1].edge(0, 200), None, "it is none of the second board's");
    assert_eq!(engines[1].edge(1, due), None, "it is not there yet");
    assert_eq!(engines[1].edge(1, 200), Some(edge(due, 24, true)));
}

#[test]
fn simultaneous_changes_of_boards_keep_board_order() {
    struct Order;
    impl Model for Order {
        fn input(&mut self, _at: Ns, changes: &[Change], out: &mut Outbox) {
            out.warn(format!(
                "{:?}",
                changes.iter().map(|change| change.0).collect::<Vec<_>>()
            ));
        }

        fn report(&self, _at: Ns) -> Value {
            Value::Null
        }
    }
    for pads in [[4, 12, 11], [12, 11, 4], [12, 4, 11]] {
        let mut engine = Engine::default();
        let model = engine.add("both", 0, Box::new(Order));
        for (input, pad) in [(0, 11), (1, 12), (2, 4)] {
            engine.wire_pin(pad, model, input);
        }
        let mut engine = engine.divide(&[0, 10]).engines.remove(0);
        pads.into_iter().for_each(|pad| engine.pin(100, pad, true));
        engine.run(200);
        assert_eq!(
            engine.warnings(0)[0].text,
            "both: [2, 1, 0]",
            "{pads:?}: within a board as it tells of them"
        );
    }
}

/// Raises its voltage at each change.
struct Ramp(u32);

impl Model for Ramp {
    fn input(&mut self, _at: Ns, _changes: &[Change], out: &mut Outbox) {
        self.0 += 1;
        out.send(0, Signal::Volts(self.0.into()));
    }

    fn report(&self, _at: Ns) -> Value {
        Value::Null
    }
}

#[test]
fn full_record_of_changes_is_reported_once() {
    let mut engine = Engine::default();
    let diode = engine.add("diode", 1, Box::new(Ramp(0)));
    engine.wire_pin(0, diode, 0);
    for at in 0..2000 {
        engine.pin(at, 0, true);
    }
    engine.run(10_000);
    let warnings: Vec<&str> = engine.warnings(0).iter().map(|warning| warning.text.as_str()).collect();
    assert_eq!(
        warnings,
        ["diode: no more than 1024 changes are kept: tests and pages get none from now on"]
    );
    assert_eq!(
        engine.volts("diode", 0).and_then(|rows| rows.as_array().map(Vec::len)),
        Some(1024)
    );
}
