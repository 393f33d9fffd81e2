//! The compiler: packing, sequences, branches, changes, errors; its output is played by the model.

mod support;

use kairos_pulse::compile::{Error, Gate, Image, Kind, Limits, Pulse, Sequence, Shape, Step};
use kairos_pulse::model::Machine;
use support::{compare, constant, play, pulse, vector};

/// Gates of vectors 20 and 21.
fn circuit() -> (Vec<Gate>, Sequence) {
    let mut gates = Vec::new();
    let whole = |name: &str, cycles, wait: bool| Gate {
        name: name.into(),
        pulses: (0..2)
            .map(|c| Pulse {
                wait,
                clear: if wait { 3 } else { 0 },
                ..Pulse::idle(c, cycles)
            })
            .collect(),
    };
    gates.push(whole("prepare_all", 16, true));
    gates.push(whole("measure_all", 24, false));
    for (name, channel, phase) in [("X0", 0, 0.0), ("Y1", 1, 90.0)] {
        let mut x = pulse(
            channel,
            40,
            &[
                (0, constant(200e6)),
                (1, Shape::Spline(vec![0.0, 80.0, 0.0])),
                (2, constant(phase)),
            ],
        );
        (x.sync, x.forward) = (1, [1, 0]);
        gates.push(Gate {
            name: name.into(),
            pulses: vec![x],
        });
    }
    let z = pulse(0, 8, &[(6, constant(180.0))]);
    gates.push(Gate {
        name: "Z0".into(),
        pulses: vec![z],
    });
    let step = |names: &[&str]| Step::Gates(names.iter().map(|name| name.to_string()).collect());
    let body = [step(&["X0"]), step(&["Z0"]), step(&["X0", "Y1"])];
    let mut steps = vec![step(&["prepare_all"])];
    steps.extend(body.iter().cloned().chain(body.iter().cloned()));
    steps.push(step(&["measure_all"]));
    (
        gates,
        Sequence {
            steps,
            channels: 3,
            close: false,
        },
    )
}

#[test]
fn circuit_from_tables_and_stream_plays_as_vector_20() {
    let (gates, sequence) = circuit();
    let reference = vector("v20");
    for (room, most) in [(2047, 25), (0, 35)] {
        let limits = Limits {
            gates: room,
            ..Limits::default()
        };
        let mut image = Image::new(&gates, limits).unwrap();
        let run = image.sequence(&sequence).unwrap();
        let mut all = image.programming();
        all.extend(run);
        assert!(all.len() <= most, "{} words", all.len());
        let played = play(&mut Machine::new(Default::default()), all);
        compare("circuit", &played, &reference["trajectory"], &reference["total_cycles"]);
    }
}

#[test]
fn check_67_packing_keeps_the_order_of_segments() {
    let crossing = pulse(
        0,
        20,
        &[(1, Shape::Steps(vec![10.0, 20.0])), (4, Shape::Steps(vec![20.0, 10.0]))],
    );
    let gates = [
        Gate {
            name: "first".into(),
            pulses: vec![Pulse {
                wait: true,
                ..Pulse::idle(0, 16)
            }],
        },
        Gate {
            name: "crossing".into(),
            pulses: vec![crossing],
        },
        Gate {
            name: "last".into(),
            pulses: vec![Pulse::idle(0, 24)],
        },
    ];
    let steps = gates.iter().map(|gate| Step::Gates(vec![gate.name.clone()])).collect();
    let sequence = Sequence {
        steps,
        channels: 1,
        close: false,
    };
    let reference = vector("v22");
    for room in [2047, 0] {
        let mut image = Image::new(
            &gates,
            Limits {
                gates: room,
                ..Limits::default()
            },
        )
        .unwrap();
        let run = image.sequence(&sequence).unwrap();
        let all = image.programming().into_iter().chain(run).collect();
        let played = play(&mut Machine::new(Default::default()), all);
        compare("v22", &played, &reference["trajectory"], &reference["total_cycles"]);
    }
}

fn rotation(name: &str, amplitude: f64, channel: u8) -> Gate {
    let knots = [0.0, 0.3, 0.9, 1.0, 0.9, 0.3, 0.0]
        .map(|share| share * amplitude)
        .to_vec();
    let pulse = pulse(channel, 4096, &[(0, constant(200e6)), (1, Shape::Spline(knots))]);
    Gate {
        name: name.into(),
        pulses: vec![pulse],
    }
}

#[test]
fn full_tables_leave_the_rest_to_the_stream() {
    let gates: Vec<Gate> = (0..3000)
        .map(|n| rotation(&format!("g{n}"), 10.0 + 0.01 * f64::from(n), 0))
        .collect();
    let mut image = Image::new(&gates, Limits::default()).unwrap();
    let placed = image.gates.values().filter(|gate| gate[&0].id.is_some()).count();
    assert!((500..3000).contains(&placed), "{placed}");
    let steps = [1, 2999, 5, 2998].map(|n| Step::Gates(vec![format!("g{n}")])).to_vec();
    let words = image
        .sequence(&Sequence {
            steps,
            channels: 1,
            close: true,
        })
        .unwrap();
    let all = image.programming().into_iter().chain(words).collect();
    let played = play(&mut Machine::new(Default::default()), all);
    assert!(played[0].values.iter().all(|values| values.len() == 4 * 4096 + 2 * 122));
}

#[test]
fn change_of_one_parameter_needs_one_word() {
    let old: Vec<Gate> = (0..50)
        .map(|n| rotation(&format!("g{n}"), 10.0 + f64::from(n), 0))
        .collect();
    let image = Image::new(&old, Limits::default()).unwrap();
    let mut new = old.clone();
    new[7].pulses[0].shapes[2] = constant(17.0);
    let changed = image.successor(&new).unwrap();
    // The phase shared its zeros with six other parameters, so the gate needs one more entry.
    assert_eq!(changed.changes(&image.channels).len(), 4);
    new[7].pulses[0].shapes[2] = constant(18.0);
    let again = changed.successor(&new).unwrap();
    assert_eq!(again.changes(&changed.channels).len(), 1);
    assert_eq!(again.successor(&new).unwrap().changes(&again.channels), []);
}

/// Old words, those of the change, then a sequence: it plays like the new gate set alone.
#[test]
fn changed_tables_play_as_the_new_gate_set() {
    let old: Vec<Gate> = (0..20)
        .map(|n| rotation(&format!("g{n}"), 10.0 + f64::from(n), 0))
        .collect();
    let mut new = Vec::new();
    for n in [3, 0, 5, 19, 21, 22, 7] {
        let mut gate = rotation(&format!("g{n}"), 12.0 + f64::from(n % 5), 0);
        if n == 5 {
            gate.pulses[0].shapes[4] = Shape::Steps(vec![1.0, 2.0, 3.0]);
        }
        new.push(gate);
    }
    let sequence = Sequence {
        steps: new.iter().map(|gate| Step::Gates(vec![gate.name.clone()])).collect(),
        channels: 1,
        close: true,
    };
    let before = Image::new(&old, Limits::default()).unwrap();
    let mut after = before.successor(&new).unwrap();
    let run = after.sequence(&sequence).unwrap();
    let changes = after.changes(&before.channels);
    assert!(changes.len() < before.programming().len() / 2);
    let all = before.programming().into_iter().chain(changes).chain(run).collect();
    let mut alone = Image::new(&new, Limits::default()).unwrap();
    let run = alone.sequence(&sequence).unwrap();
    let words = alone.programming().into_iter().chain(run).collect();
    let [one, other] = [all, words].map(|words| play(&mut Machine::new(Default::default()), words));
    assert!(one == other);
}

#[test]
fn branches_are_padded_and_each_waits() {
    let mut gates: Vec<Gate> = (0..2)
        .map(|n| rotation(&format!("g{n}"), 50.0 + f64::from(n), 0))
        .collect();
    gates.push(Gate {
        name: "short".into(),
        pulses: vec![pulse(0, 100, &[(1, constant(7.0))])],
    });
    let cases = vec![vec!["g0".to_string()], vec!["short".into(), "g1".into()]];
    let sequence = Sequence {
        steps: vec![Step::Branch(cases.clone()), Step::Branch(cases)],
        channels: 1,
        close: true,
    };
    for result in 0..3 {
        let mut image = Image::new(&gates, Limits::default()).unwrap();
        let run = image.sequence(&sequence).unwrap();
        assert_eq!(run.iter().filter(|word| word.get(245, 3) == 5).count(), 2);
        let mut machine = Machine::new(Default::default());
        machine.feed(image.programming().into_iter().chain(run));
        machine.run_until_idle(100_000);
        assert_eq!(machine.channel(0).queued(), [0; 8], "it waits for a result");
        machine.result(1, result);
        machine.run(100, &mut |_, _| (), &mut []);
        machine.result(1, result);
        let mut total = 0;
        let mut peak = 0;
        machine.run(
            2 * 4196 + 500,
            &mut |_, block| {
                let running = block.amplitude(0).at(0) != 0;
                total += if running { block.cycles } else { 0 };
                (0..block.cycles as usize).for_each(|cycle| peak = peak.max(block.amplitude(0).at(cycle)));
            },
            &mut [],
        );
        assert_eq!(machine.status, Default::default(), "result {result}");
        assert_eq!(peak == 0, result == 2);
    }
}

#[test]
fn compile_errors_name_gate_channel_and_parameter() {
    let bad = |shape: Shape, cycles: u64| -> Error {
        let gate = Gate {
            name: "bad".into(),
            pulses: vec![pulse(3, cycles, &[(4, shape)])],
        };
        Image::new(&[gate], Limits::default()).unwrap_err()
    };
    let cases = [
        (
            bad(constant(f64::NAN), 100),
            "gate bad, channel 3, amplitude of tone 1: it is not a finite number",
        ),
        (
            bad(constant(201.0), 100),
            "gate bad, channel 3, amplitude of tone 1: 201 is outside of -200 to 200, full scale",
        ),
        (
            bad(constant(1.0), 3),
            "gate bad, channel 3, frequency of tone 0: a piece of 3 cycles; 4 are the fewest",
        ),
        (
            bad(Shape::Steps(vec![]), 100),
            "gate bad, channel 3, amplitude of tone 1: a list has no entries",
        ),
        (
            bad(Shape::Spline(vec![0.0, 200.0, 200.0, 0.0]), 100),
            "gate bad, channel 3, amplitude of tone 1: between its knots",
        ),
        (
            bad(constant(1.0), 1 << 39),
            "gate bad, channel 3: 549755813888 cycles are too many",
        ),
    ];
    for (error, text) in cases {
        assert!(error.to_string().starts_with(text), "{error}");
    }
    let twice = [rotation("a", 1.0, 0), rotation("a", 2.0, 0)];
    assert_eq!(
        Image::new(&twice, Limits::default()).unwrap_err().to_string(),
        "gate a: there are two of this name"
    );
    let far = Image::new(&[rotation("a", 1.0, 8)], Limits::default()).unwrap_err();
    assert_eq!(far.to_string(), "gate a, channel 8: there are channels 0 to 7");
    let mut image = Image::new(&[rotation("a", 1.0, 0)], Limits::default()).unwrap();
    let step = |names: &[&str]| Sequence {
        steps: vec![Step::Gates(names.iter().map(|n| n.to_string()).collect())],
        channels: 1,
        close: false,
    };
    assert_eq!(
        image.sequence(&step(&["b"])).unwrap_err().to_string(),
        "gate b: there is no such gate"
    );
    assert_eq!(image.sequence(&step(&["a", "a"])).unwrap_err().kind, Kind::Overlap);
}

#[test]
fn private_words_of_gates_are_not_shared() {
    let with_own = |own: u8, name: &str| {
        let mut x = pulse(
            0,
            40,
            &[
                (1, Shape::Spline(vec![0.0, 80.0, 0.0])),
                (4, Shape::Spline(vec![0.0, 80.0, 0.0])),
            ],
        );
        x.own = own;
        Gate {
            name: name.into(),
            pulses: vec![x],
        }
    };
    let gates = [
        with_own(0, "shared"),
        with_own(2, "own"),
        with_own(0, "again"),
        with_own(2, "another"),
    ];
    let image = Image::new(&gates, Limits::default()).unwrap();
    assert_eq!(image.owned("shared"), Some(vec![]));
    assert_eq!(image.owned("nothing"), None);
    let owned = image.owned("own").unwrap();
    assert_eq!(
        owned.iter().map(|o| (o.channel, o.parameter)).collect::<Vec<_>>(),
        [(0, 1); 2]
    );
    let table = &image.channels[0];
    for o in owned.iter().chain(&image.owned("another").unwrap()) {
        assert_eq!(table.pulses[usize::from(o.address)], o.segment);
        let entries: Vec<_> = table.map.iter().filter(|(_, address)| *address == o.address).collect();
        assert_eq!(entries, [&(2, o.address)]);
    }
    // Zeros and both segments of the shared spline, then two of each gate with segments of its own.
    assert_eq!(table.pulses.len(), 3 + 2 * 2);
    assert_eq!(table.gates[0], table.gates[2]);
}
