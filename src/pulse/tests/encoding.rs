//! The specification's checks 6 to 16, by number: segments and words of pulses; and courses that
//! follow samples.

mod support;

use kairos_pulse::compile::{encode, stream, Gate, Image, Kind, Limits, Pulse, Sequence, Shape, Step};
use kairos_pulse::units::Rates;
use kairos_pulse::{Segment, Word};
use support::{constant, pulse, vector, words};

const R: Rates = Rates::REFERENCE;

fn streamed(pulse: &Pulse) -> Vec<Word> {
    let encoded = encode(pulse, &R).unwrap();
    stream(pulse.channel, &encoded, 0)
        .into_iter()
        .map(|timed| timed.word)
        .collect()
}

/// Segments of a parameter in a vector, in the order of the words.
fn segments_of(name: &str, p: usize) -> Vec<Segment> {
    let words = words(&vector(name)["words"]).into_iter();
    words
        .filter(|word| word.get(216 + p, 1) == 1)
        .map(|word| Segment::from_word(&word))
        .collect()
}

fn segments(pulse: &Pulse) -> [Vec<Segment>; 8] {
    encode(pulse, &R).unwrap().segments
}

#[test]
fn check_6_square_pulse_encodes_to_reference_bytes() {
    let square = pulse(
        2,
        R.cycles(1.25e-6).unwrap(),
        &[(0, constant(200e6)), (1, constant(50.0)), (2, constant(90.0))],
    );
    let encoded = segments(&square);
    for (p, segments) in encoded.iter().enumerate() {
        assert_eq!(*segments, segments_of("v03", p));
    }
    let first = kairos_pulse::word::bypass(4, 1, &encoded[0][0]);
    assert_eq!(
        first,
        support::word("04e0000001000000000002000000000000000000000000000000003e80000000")
    );
}

#[test]
fn check_7_and_8_zeros_encode_as_the_vector() {
    for p in 0..8 {
        assert_eq!(segments(&Pulse::idle(0, 100))[p], segments_of("v01", p));
    }
    assert_eq!(streamed(&Pulse::idle(0, 100)).len(), 1);
    let image = &mut Image::new(
        &[],
        Limits {
            gates: 0,
            ..Limits::default()
        },
    )
    .unwrap();
    image
        .add(&Gate {
            name: "zeros".into(),
            pulses: (0..8).map(|c| Pulse::idle(c, 100)).collect(),
        })
        .unwrap();
    let sequence = Sequence {
        steps: vec![Step::Gates(vec!["zeros".into()])],
        channels: 255,
        close: false,
    };
    assert_eq!(image.sequence(&sequence).unwrap(), words(&vector("v02")["words"]));
}

#[test]
fn check_9_flags_are_in_their_segments() {
    let mut flagged = pulse(
        1,
        64,
        &[
            (0, constant(200e6)),
            (1, constant(100.0)),
            (3, constant(-42.5e6)),
            (4, constant(25.5)),
        ],
    );
    for (p, degrees) in [(5, -90.0), (6, 45.0), (7, -30.0)] {
        flagged.shapes[p] = constant(degrees);
    }
    (
        flagged.wait,
        flagged.sync,
        flagged.enable,
        flagged.feed_forward,
        flagged.gpo,
    ) = (true, 3, 2, 1, 1);
    (flagged.clear, flagged.at_end, flagged.forward, flagged.invert) = (3, 1, [2, 1], [2, 0]);
    for (p, segments) in segments(&flagged).iter().enumerate() {
        assert_eq!(*segments, segments_of("v04", p), "parameter {p}");
        let flags = [0xd8, 0xd8, 0xd8, 0x38, 0x38, 0x38, 0xec, 0x58][p];
        assert_eq!(segments[0].flags, flags, "parameter {p}");
    }
}

#[test]
fn check_10_steps_divide_the_duration() {
    let steps = pulse(0, 50, &[(1, Shape::Steps(vec![10.0, 20.0, 30.0]))]);
    assert_eq!(segments(&steps)[1], segments_of("v05", 1));
    assert_eq!(
        segments(&steps)[1].iter().map(|s| s.tau).collect::<Vec<_>>(),
        [17, 16, 17]
    );
    let short = pulse(0, 7, &[(1, Shape::Steps(vec![1.0, 2.0]))]);
    assert!(matches!(encode(&short, &R).unwrap_err().kind, Kind::TooShort { .. }));
}

#[test]
fn check_11_to_14_splines_encode_as_the_vectors() {
    let frequency = pulse(
        3,
        50,
        &[(3, Shape::Spline([1.0, 1.5, 1.2, 0.8, 1.0].map(|f| f * 1e6).to_vec()))],
    );
    assert_eq!(segments(&frequency)[3], segments_of("v07", 3));
    assert_eq!(
        segments(&frequency)[3].iter().map(|s| s.tau).collect::<Vec<_>>(),
        [12, 13, 13, 12]
    );
    let amplitude = pulse(0, 48, &[(1, Shape::Spline(vec![0.0, 60.0, 100.0, 20.0]))]);
    assert_eq!(segments(&amplitude)[1], segments_of("v06", 1));
    assert_eq!(
        segments(&amplitude)[1].iter().map(|s| s.shift).collect::<Vec<_>>(),
        [5, 4, 4]
    );
    let phase = pulse(0, 40, &[(2, Shape::Spline(vec![0.0, 200.0, 400.0, 600.0, 800.0]))]);
    assert_eq!(segments(&phase)[2], segments_of("v08", 2));
    let mixed = Shape::Mixed(vec![
        Shape::Spline(vec![0.0, 30.0, 60.0, 80.0]),
        constant(80.0),
        Shape::Steps(vec![40.0, 20.0]),
    ]);
    let mixed = pulse(0, 61, &[(1, mixed)]);
    assert_eq!(segments(&mixed)[1], segments_of("v13", 1));
    assert_eq!(
        segments(&mixed)[1].iter().map(|s| s.tau).collect::<Vec<_>>(),
        [7, 6, 7, 21, 10, 10]
    );
}

#[test]
fn check_16_rotations_continue_or_add_up() {
    let mut turning = pulse(0, 30, &[(6, Shape::Spline(vec![0.0, 10.0, -10.0, -5.0]))]);
    turning.forward = [1, 0];
    assert_eq!(segments(&turning)[6], segments_of("v12", 6)[1..4]);
    // At the end: every segment of a spline is added at its end, so that they add up.
    turning.at_end = 1;
    assert!(segments(&turning)[6].iter().all(|segment| segment.flags & 0x80 != 0));
}

#[test]
fn phases_of_vector_9_wrap_at_one_turn() {
    let phases = vec![350.0, 180.0, 540.0, -180.0, 720.5, 179.9999999999, -190.0, 0.25];
    assert_eq!(
        segments(&pulse(0, 80, &[(2, Shape::Steps(phases))]))[2],
        segments_of("v09", 2)
    );
    let extremes = [
        (0, constant(409_599_999.0)),
        (2, constant(-180.0)),
        (3, constant(-409_600_000.0)),
        (4, constant(-40.0)),
    ];
    for (p, segments) in segments(&pulse(0, 20, &extremes)).iter().enumerate() {
        assert_eq!(*segments, segments_of("v14", p));
    }
}

#[test]
fn fit_of_samples_has_reported_error() {
    let gaussian = |i: i32| 150.0 * (-((f64::from(i) - 500.0) / 180.0).powi(2)).exp();
    let values: Vec<f64> = (0..=1000).map(gaussian).collect();
    let follow = |tolerance| {
        pulse(
            0,
            8192,
            &[(
                1,
                Shape::Samples {
                    values: values.clone(),
                    tolerance,
                },
            )],
        )
    };
    let encoded = encode(&follow(0.05), &R).unwrap();
    assert!(encoded.segments[1].len() <= 20, "{}", encoded.segments[1].len());
    assert!(
        encoded.errors[1] <= 0.055 && encoded.errors[1] > 0.001,
        "{}",
        encoded.errors[1]
    );
    let rotation = pulse(
        0,
        8192,
        &[(
            6,
            Shape::Samples {
                values: values.clone(),
                tolerance: 0.01,
            },
        )],
    );
    let encoded = encode(&rotation, &R).unwrap();
    assert!(encoded.errors[6] <= 0.011, "{}", encoded.errors[6]);
    let noise: Vec<f64> = (0..1000).map(|i| f64::from(i % 2) * 100.0).collect();
    let noisy = pulse(
        0,
        1000,
        &[(
            1,
            Shape::Samples {
                values: noise,
                tolerance: 0.1,
            },
        )],
    );
    let error = encode(&noisy, &R).unwrap_err();
    assert!(error.to_string().contains("come no closer to the samples"), "{error}");
}
