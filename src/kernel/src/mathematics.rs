//! Faster versions of the `libm` functions that kernels call most, each within 1 ulp
//! (docs/kernel-core.md). They fall back to `libm` for arguments that do not occur in laboratories.
//! This processor has no fused multiply-add, so none is assumed.
//!
//! The polynomials are minimax approximations computed for this module; arguments are reduced by
//! the method of Cody and Waite.
// Numbers have as many digits as distinguish them from their neighbours.
#![allow(clippy::excessive_precision, clippy::approx_constant)]

/// Adding and subtracting this rounds a number below 2^51 to an integer, which is in the low bits
/// of the intermediate sum.
const ROUNDER: f64 = 6755399441055744.0;

/// Quotient, towards zero, and remainder of integers: the Cortex-A9 divides doubles, but no integers. The quotient of
/// doubles differs by less than 2^-21 from the exact one, which is whole or at least 2^-32 · |`n` / `d`| away from the next
/// whole number, farther than the double can be. A division by zero gives 0, and `n`; one by -1 wraps around.
#[inline(always)]
pub fn divided(n: i32, d: i32) -> (i32, i32) {
    if d.wrapping_add(1) as u32 <= 1 {
        return if d == 0 { (0, n) } else { (n.wrapping_neg(), 0) };
    }
    let quotient = (f64::from(n) / f64::from(d)) as i32;
    (quotient, n.wrapping_sub(quotient.wrapping_mul(d)))
}

fn high_word(x: f64) -> u32 {
    (x.to_bits() >> 32) as u32
}

#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let (last, others) = coefficients.split_last().expect("a polynomial has coefficients");
    others
        .iter()
        .rev()
        .fold(*last, |sum, coefficient| sum * x + coefficient)
}

/// Reduces `x`, below 2^17, by whole quarter turns: returns their number modulo 2^32, the
/// remainder, and the amount by which that is too large.
#[inline(always)]
fn within_quarter(x: f64) -> (u32, f64, f64) {
    /// pi / 2 in three parts; multiples of the first two are exact.
    const PARTS: [f64; 3] = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21];
    let rounded = x * 0.6366197723675814 + ROUNDER;
    let quarters = rounded.to_bits() as u32;
    let count = rounded - ROUNDER;
    let first = x - count * PARTS[0];
    let second = count * PARTS[1];
    let rest = first - second;
    (quarters, rest, second - (first - rest) + count * PARTS[2])
}

/// The sine of `x - excess`, up to pi / 4.
#[inline(always)]
fn sine(x: f64, excess: f64) -> f64 {
    let z = x * x;
    let series = polynomial(
        z,
        [
            -0.1666666666666663,
            0.008333333333321978,
            -0.0001984126982947257,
            2.7557313579390667e-06,
            -2.5050740979685067e-08,
            1.5895825590154895e-10,
        ],
    );
    // The excess matters less the larger the angle is. In this order zero keeps its sign.
    x - (excess - z * (x * series + 0.5 * excess))
}

/// The cosine of `x - excess`, up to pi / 4.
#[inline(always)]
fn cosine(x: f64, excess: f64) -> f64 {
    let z = x * x;
    let series = polynomial(
        z,
        [
            0.041666666666666595,
            -0.0013888888888872856,
            2.4801587288722796e-05,
            -2.755731414111627e-07,
            2.0875695529629547e-09,
            -1.1358255365162902e-11,
        ],
    );
    let half = 0.5 * z;
    let most = 1.0 - half;
    most + (((1.0 - most) - half) + (z * z * series + x * excess))
}

/// Whether `x` is below 2^17 by its exponent.
fn is_small(x: f64) -> bool {
    (high_word(x) >> 20) & 0x7ff < 0x410
}

fn with_sign(x: f64, negative: bool) -> f64 {
    if negative {
        -x
    } else {
        x
    }
}

/// The sine of an angle in radians.
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    if !is_small(x) {
        return libm::sin(x);
    }
    let (quarters, rest, excess) = within_quarter(x);
    let value = if quarters & 1 == 0 {
        sine(rest, excess)
    } else {
        cosine(rest, excess)
    };
    with_sign(value, quarters & 2 != 0)
}

/// The cosine of an angle in radians.
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    if !is_small(x) {
        return libm::cos(x);
    }
    let (quarters, rest, excess) = within_quarter(x);
    let value = if quarters & 1 == 0 {
        cosine(rest, excess)
    } else {
        sine(rest, excess)
    };
    with_sign(value, quarters.wrapping_add(1) & 2 != 0)
}

/// `x` without its last 32 bits, so that the product of two such numbers is exact.
fn short(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !0xffff_ffff)
}

/// The tangent of an angle in radians.
#[inline(always)]
pub fn tan(x: f64) -> f64 {
    if !is_small(x) {
        return libm::tan(x);
    }
    let (quarters, rest, excess) = within_quarter(x);
    // There the curve is so large a part of the tangent that its own errors matter.
    if rest.abs() > 0.65 {
        return libm::tan(x);
    }
    let z = rest * rest;
    let above = polynomial(
        z,
        [
            0.3333333333333333,
            -0.02144103019832115,
            0.0002448048599302261,
            -1.7861455820852247e-08,
        ],
    );
    let below = polynomial(
        z,
        [1.0, -0.4643230905949634, 0.02455888891301294, -0.000255955328366271],
    );
    let curve = z * rest * above / below;
    let near = rest + curve;
    let curve = curve - excess * (1.0 + near * near);
    let tangent = rest + curve;
    if quarters & 1 == 0 {
        return tangent;
    }
    // The inverse of rest + curve: that of the rounded tangent, and a Newton step with the
    // remainder.
    let inverse = -1.0 / tangent;
    let (near, first) = (short(tangent), short(inverse));
    let left_out = curve - (near - rest);
    first + inverse * ((1.0 + first * near) + first * left_out)
}

/// e to the power of `x`.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    /// ln 2 / 64 in two parts; multiples of the first are exact.
    const PARTS: [f64; 2] = [0.01083042469326756, 2.9815858269852933e-12];
    // Below 704 the result is a normal number; the comparison also excludes NaN.
    if high_word(x) & 0x7fff_ffff >= 0x4086_0000 {
        return libm::exp(x);
    }
    let rounded = x * 92.33248261689366 + ROUNDER;
    let steps = rounded.to_bits() as u32;
    let count = rounded - ROUNDER;
    let rest = (x - count * PARTS[0]) - count * PARTS[1];
    let series = polynomial(
        rest,
        [
            0.4999999999998446,
            0.166666666666578,
            0.04166670821383848,
            0.008333342232605198,
        ],
    );
    let growth = rest + rest * rest * series;
    let (power, missing) = POWERS[(steps & 63) as usize];
    let value = power + (missing + power * growth);
    // Multiply by 2 to the power of the whole steps, in the exponent.
    f64::from_bits(value.to_bits().wrapping_add(u64::from(steps >> 6 << 20) << 32))
}

/// The natural logarithm.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    const LN2: [f64; 2] = [0.6931471803691238, 1.9082149292705877e-10];
    /// High word of the square root of 1/2.
    const ROOT: u32 = 0x3fe6_a09e;
    let high = high_word(x);
    // Zero, subnormal and negative numbers, infinity, and NaN.
    if high.wrapping_sub(0x0010_0000) >= 0x7fe0_0000 {
        return libm::log(x);
    }
    // x = 2^exponent * (1 + f), with 1 + f between the square roots of 1/2 and 2.
    let shifted = high.wrapping_sub(ROOT);
    let exponent = f64::from(shifted as i32 >> 20);
    let mantissa = (shifted & 0x000f_ffff) + ROOT;
    let f = f64::from_bits(u64::from(mantissa) << 32 | x.to_bits() & 0xffff_ffff) - 1.0;
    let half = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let series = polynomial(
        z,
        [
            0.6666666666666735,
            0.39999999999411096,
            0.2857142874326207,
            0.2222219847612725,
            0.18183569728394444,
            0.1531390363319562,
            0.14797503021857336,
        ],
    );
    exponent * LN2[0] + (f - (half - (s * (half + z * series) + exponent * LN2[1])))
}

/// The arctangent, in radians.
#[inline(always)]
pub fn atan(x: f64) -> f64 {
    use core::f64::consts::FRAC_PI_2;
    /// pi / 2 minus its nearest double.
    const BEYOND: f64 = 6.123233995736766e-17;
    /// High words of 1/16 and of 16.
    const LEAST: u32 = 0x3fb0_0000;
    const MOST: u32 = 0x4030_0000;
    let most = x.abs();
    let high = high_word(most);
    // Eight steps per power of two; the difference from a step's middle angle is 0.03 at most.
    let step = high.wrapping_sub(LEAST) >> 17;
    let angle = if let Some(&(tangent, angle)) = ANGLES.get(step as usize) {
        let rest = (most - tangent) / (1.0 + most * tangent);
        let z = rest * rest;
        let series = polynomial(
            z,
            [
                -0.3333333333333325,
                0.19999999997444257,
                -0.14285702002125134,
                0.11092215343498101,
            ],
        );
        angle + (rest + rest * z * series)
    } else {
        let (quarter, beyond, rest) = if high < MOST {
            (0.0, 0.0, most)
        } else {
            (FRAC_PI_2, BEYOND, -1.0 / most)
        };
        let z = rest * rest;
        let series = polynomial(
            z,
            [
                -0.3333333333333332,
                0.19999999999826745,
                -0.14285713930617763,
                0.11110856304000617,
                -0.0901621282933178,
            ],
        );
        quarter + (rest + (beyond + rest * z * series))
    };
    with_sign(angle, x.is_sign_negative())
}

/// Tangents near the middle of each step, and their angles, chosen so that these are exact to a
/// thousandth of a unit in the last place.
#[rustfmt::skip]
static ANGLES: [(f64, f64); 64] = [
    (0.06640524118505081, 0.06630789053393789),
    (0.07421762373281741, 0.07408180245172712),
    (0.08203000668780194, 0.0818467548012355),
    (0.08984239009088704, 0.0896018284647487),
    (0.09765477398263762, 0.09734611141307618),
    (0.10546715840307587, 0.10507869932875183),
    (0.11327954339131446, 0.11279869621547195),
    (0.12109192898622767, 0.12050521499395221),
    (0.1328045347464912, 0.1320319344180245),
    (0.14842863593150718, 0.14735280810655849),
    (0.16405274945003182, 0.1626043336048114),
    (0.17967687638471613, 0.17777993764077657),
    (0.1953010177590702, 0.19287325191099491),
    (0.21092517453407347, 0.20787812676187312),
    (0.2265493476059234, 0.222788643487388),
    (0.24217353780296635, 0.23759912520206022),
    (0.2655644370746493, 0.25957305712327255),
    (0.2968084050262888, 0.2885261597473197),
    (0.32805269237000134, 0.316990472539955),
    (0.35929731217405736, 0.3449333734876002),
    (0.39054227320011436, 0.3723266698344879),
    (0.42178758014831014, 0.39914655549799777),
    (0.45303323397560236, 0.42537350072782487),
    (0.48427923226681907, 0.45099208442966143),
    (0.5308456324576606, 0.48801853465606737),
    (0.5933215284124478, 0.5354943878277355),
    (0.6558022614491724, 0.5804433307393583),
    (0.7182873825518454, 0.6228942274643522),
    (0.7807764064048659, 0.6629088318342963),
    (0.8432688426305678, 0.7005732772484335),
    (0.9057642181181486, 0.7359906402923958),
    (0.9682620915664449, 0.7692747221801235),
    (1.0605521391731667, 0.8147760747557923),
    (1.185576659274661, 0.8701046853426365),
    (1.310617922372453, 0.9190277124757281),
    (1.4356695508921657, 0.9623968818139838),
    (1.5607270324659437, 1.000967533757009),
    (1.6857872542889971, 1.03539577840737),
    (1.8108481182852085, 1.0662446065447888),
    (1.935908245727412, 1.0939938591679919),
    (2.1189832673855706, 1.1298603575049804),
    (2.3694137480188187, 1.171430973449142),
    (2.6198032866044207, 1.2061576364470876),
    (2.8701526542040665, 1.2355355478048575),
    (3.12046505340997, 1.2606715838036204),
    (3.37074444369577, 1.282397031499505),
    (3.620994788437166, 1.3013453014189083),
    (3.871219742684926, 1.3180057993578176),
    (4.2360679775024215, 1.3389725222946325),
    (4.737401952330875, 1.3627640739332412),
    (5.2385129169096425, 1.3821717969739609),
    (5.739450110595611, 1.398295238191372),
    (6.240249990236884, 1.4118973238899943),
    (6.740939858845926, 1.4235231352953006),
    (7.241540441219561, 1.4335720333446091),
    (7.742067686838385, 1.442343063373269),
    (8.470991117284905, 1.4532902189346226),
    (9.473973386304003, 1.4656333899624538),
    (10.47640497205837, 1.4756320569489931),
    (11.478424319370635, 1.4838957672503554),
    (12.480127387255667, 1.4908397652158676),
    (13.48158267481731, 1.4967566487673678),
    (14.482840332931964, 1.5018585125143538),
    (15.48393789291242, 1.506302839909062),
];

/// 2^(k / 64), and its rounding error.
#[rustfmt::skip]
static POWERS: [(f64, f64); 64] = [
    (1.0, 0.0),
    (1.0108892860517005, -1.5234778603368577e-17),
    (1.0218971486541166, 5.109225028973444e-17),
    (1.0330248790212284, 7.600838874027088e-18),
    (1.0442737824274138, 8.551889705537965e-17),
    (1.0556451783605572, 1.759325738772092e-18),
    (1.0671404006768237, -7.899853966841582e-17),
    (1.0787607977571199, -6.656660436056593e-17),
    (1.0905077326652577, -3.046782079812471e-17),
    (1.102382583307841, 5.2660368715706944e-17),
    (1.1143867425958924, 1.0410278456845571e-16),
    (1.1265216186082418, 5.165856758795457e-17),
    (1.1387886347566916, 8.912812676025408e-17),
    (1.1511892299529827, 3.250710218863827e-17),
    (1.1637248587775775, 3.8292048369240935e-17),
    (1.1763969916502812, 5.554203254218079e-17),
    (1.189207115002721, 3.982015231465646e-17),
    (1.202156731452703, 6.644981499252301e-17),
    (1.215247359980469, -7.712630692681488e-17),
    (1.22848053610687, -1.89878163130253e-17),
    (1.241857812073484, 4.658027591836937e-17),
    (1.255380757024691, -6.7113898212968784e-18),
    (1.2690509571917332, 2.667932131342186e-18),
    (1.2828700160787783, 1.713594918243561e-17),
    (1.2968395546510096, 2.5382502794888315e-17),
    (1.3109612115247644, -7.181536135519454e-17),
    (1.3252366431597413, -2.8587312100388614e-17),
    (1.339667524053303, 8.927282594831732e-17),
    (1.3542555469368927, 7.70094837980299e-17),
    (1.3690024229745905, 9.593797919118849e-17),
    (1.383909881963832, -6.770511658794786e-17),
    (1.3989796725383112, -9.614213209051323e-17),
    (1.4142135623730951, -9.667293313452913e-17),
    (1.42961333839197, -1.2031642489053655e-17),
    (1.4451808069770467, -3.0237581349939873e-17),
    (1.460917794180647, -5.600377186075216e-17),
    (1.4768261459394993, -3.483994556892796e-17),
    (1.4929077282912648, 1.4192920154284036e-17),
    (1.5091644275934228, -1.016455327754295e-16),
    (1.5255981507445384, -1.1024941712342561e-16),
    (1.5422108254079407, 7.949834809697621e-17),
    (1.559004400237837, 3.7812070533575275e-17),
    (1.5759808451078865, -1.0136916471278304e-17),
    (1.593142151342267, -1.0094406542311964e-16),
    (1.6104903319492543, 2.4707192569797888e-17),
    (1.6280274218573478, -6.712955084707084e-17),
    (1.645755478153965, -1.0125679913674773e-16),
    (1.6636765803267364, 5.8909926967131e-17),
    (1.681792830507429, 8.199010020581497e-17),
    (1.7001063537185235, -8.0237193703977e-18),
    (1.718619298122478, -1.851380418263111e-17),
    (1.7373338352737062, 3.164389299292957e-17),
    (1.7562521603732995, 2.960140695448873e-17),
    (1.7753764925265212, 6.429731796556572e-17),
    (1.7947090750031072, 1.8227458427912087e-17),
    (1.8142521755003989, -9.969531538920349e-17),
    (1.8340080864093424, 3.283107224245627e-17),
    (1.8539791250833855, 9.761887490727594e-17),
    (1.8741676341103, -6.122763413004143e-17),
    (1.8945759815869656, 3.4034035352165297e-17),
    (1.9152065613971474, -1.0619946056195963e-16),
    (1.9360617934922943, 1.0332385960676326e-16),
    (1.9571441241754002, 8.960767791036668e-17),
    (1.978456026387951, 4.0388753109278167e-17),
];

#[cfg(test)]
mod tests;
