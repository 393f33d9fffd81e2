//! Speed of model and compiler: prints samples and gates per second of one core. Run by `make
//! bench`.

use kairos_pulse::compile::{Gate, Image, Limits, Pulse, Sequence, Shape, Step};
use kairos_pulse::model::{Config, Machine};
use std::time::Instant;

/// A rotation: both tones on, one of them with a spline of seven knots as amplitude.
fn rotation(n: usize, channel: u8) -> Gate {
    let amplitude = 20.0 + 0.01 * (n % 10_000) as f64;
    let mut pulse = Pulse::idle(channel, 4096);
    let knots = [0.0, 0.3, 0.9, 1.0, 0.9, 0.3, 0.0].map(|share| share * amplitude);
    pulse.shapes[0] = Shape::Constant(200e6 + n as f64);
    pulse.shapes[1] = Shape::Spline(knots.to_vec());
    pulse.shapes[3] = Shape::Constant(210e6);
    pulse.shapes[4] = Shape::Constant(50.0);
    pulse.forward = [1, 2];
    pulse.sync = 3;
    Gate {
        name: format!("r{n}"),
        pulses: vec![pulse],
    }
}

/// A pulse of constants.
fn square(n: usize) -> Gate {
    let mut gate = rotation(n, 0);
    gate.pulses[0].shapes[1] = Shape::Constant(50.0);
    gate
}

fn model(gates: &[Gate]) -> f64 {
    let mut image = Image::new(gates, Limits::default()).expect("the gates compile");
    let steps = (0..100)
        .flat_map(|_| gates)
        .map(|gate| Step::Gates(vec![gate.name.clone()]));
    let sequence = Sequence {
        steps: steps.collect(),
        channels: 1,
        close: true,
    };
    let words = image.sequence(&sequence).expect("the sequence compiles");
    let mut machine = Machine::new(Config {
        channels: 1,
        ..Config::default()
    });
    machine.feed(image.programming().into_iter().chain(words));
    let cycles = 4096 * 100 * gates.len() as u64;
    let mut out = [Vec::with_capacity(1 << 20)];
    let (start, mut samples) = (Instant::now(), 0);
    for _ in 0..cycles.div_ceil(1 << 18) {
        machine.run(1 << 18, &mut |_, _| (), &mut out);
        samples += out[0].len();
        out[0].clear();
    }
    samples as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let splines: Vec<Gate> = (0..20).map(|n| rotation(n, 0)).collect();
    let squares: Vec<Gate> = (0..20).map(square).collect();
    println!(
        "spline_msamples_per_s {:.2}",
        median((0..5).map(|_| model(&splines)).collect())
    );
    println!(
        "constant_msamples_per_s {:.2}",
        median((0..5).map(|_| model(&squares)).collect())
    );
    let gates: Vec<Gate> = (0..10_000).map(|n| rotation(n, (n % 8) as u8)).collect();
    let rate = |_| {
        let start = Instant::now();
        let image = Image::new(&gates, Limits::default()).expect("the gates compile");
        let words = image.programming().len();
        assert!(words > 10_000);
        10_000.0 / start.elapsed().as_secs_f64()
    };
    println!("compile_gates_per_s {:.0}", median((0..5).map(rate).collect()));
}
