use super::*;

/// Distance in units of the last place of the expected number.
fn apart(found: f64, expected: f64) -> u64 {
    if found.is_nan() && expected.is_nan() {
        return 0;
    }
    found.to_bits().abs_diff(expected.to_bits())
}

#[test]
fn quotients_and_remainders_are_those_of_integers() {
    let edges = [
        0,
        1,
        2,
        3,
        5,
        7,
        10,
        99,
        46340,
        46341,
        65535,
        65536,
        1 << 30,
        i32::MAX - 1,
        i32::MAX,
        i32::MIN,
        i32::MIN + 1,
    ];
    let all: Vec<i32> = edges.iter().flat_map(|&one: &i32| [one, one.wrapping_neg()]).collect();
    for &n in &all {
        for &d in &all {
            let expected = if d == 0 {
                (0, n)
            } else {
                (n.wrapping_div(d), n.wrapping_rem(d))
            };
            assert_eq!(divided(n, d), expected, "{n} / {d}");
            // Next to multiples, where a wrong rounding would show.
            for near in [-1, 0, 1].map(|more| expected.0.wrapping_mul(d).wrapping_add(more)) {
                if d != 0 {
                    assert_eq!(
                        divided(near, d),
                        (near.wrapping_div(d), near.wrapping_rem(d)),
                        "{near} / {d}"
                    );
                }
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_quotient_and_remainder_is_that_of_integers(n: i32, d: i32, shift in 0..32) {
        let d = d >> shift;
        let expected = if d == 0 { (0, n) } else { (n.wrapping_div(d), n.wrapping_rem(d)) };
        proptest::prop_assert_eq!(divided(n, d), expected);
    }
}

/// The host's functions are accurate to 0.6 ulp or better, so ours, rounded, are at most one
/// away.
fn close(name: &str, own: fn(f64) -> f64, host: fn(f64) -> f64, arguments: impl Iterator<Item = f64>) {
    for x in arguments {
        let (found, expected) = (own(x), host(x));
        assert!(
            apart(found, expected) <= 1,
            "{name}({x:?}) = {found:?}, not {expected:?}"
        );
    }
}

fn spread(from: f64, to: f64) -> impl Iterator<Item = f64> {
    const COUNT: u32 = 200_000;
    (0..=COUNT).map(move |index| from + (to - from) * f64::from(index) / f64::from(COUNT))
}

const SPECIAL: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-300,
    -1e-300,
    5e-324,
    1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    131071.9,
    f64::MAX,
    1e-17,
];

#[test]
fn functions_are_within_one_unit_of_the_last_place() {
    let quarters = (-2000..2000).map(|n| f64::from(n) * core::f64::consts::FRAC_PI_2);
    let angles = || spread(-20.0, 20.0).chain(spread(-131072.0, 131072.0)).chain(SPECIAL);
    close("sin", sin, f64::sin, angles().chain(quarters.clone()));
    close("cos", cos, f64::cos, angles().chain(quarters.clone()));
    close("tan", tan, f64::tan, angles().chain(quarters));
    close(
        "exp",
        exp,
        f64::exp,
        spread(-1.0, 1.0).chain(spread(-760.0, 720.0)).chain(SPECIAL),
    );
    let powers = (-1070..1020).map(|n| 2f64.powi(n));
    let numbers = spread(0.0, 3.0).chain(spread(0.0, 1e9)).chain(SPECIAL);
    close(
        "log",
        log,
        f64::ln,
        numbers.chain(powers.clone()).chain(spread(0.999, 1.001)),
    );
    let tangents = spread(-2.0, 2.0).chain(spread(-40.0, 40.0)).chain(spread(-1e5, 1e5));
    let tangents = tangents.chain(spread(0.0625, 0.0626)).chain(spread(15.99, 16.01));
    close("atan", atan, f64::atan, tangents.chain(powers).chain(SPECIAL));
    for zero in [0.0, -0.0f64] {
        assert_eq!(atan(zero).to_bits(), zero.to_bits());
    }
}
