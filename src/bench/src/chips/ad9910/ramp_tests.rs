//! Tests of the digital ramp and the keying under control of their pins.

use kairos_contracts::chips::ad9910::{asf, ramp_limit, ramp_rate, ramp_step};

use super::tests::{clocked, tone_at, write};
use super::*;

/// With a frequency ramp from 100 to 110, up in steps of 3 every 4 ns, down in steps of 2 every 8
/// ns.
fn ramping(flags: u64) -> Ad9910 {
    let mut chip = clocked();
    write(
        &mut chip,
        chip::RAMP_LIMIT.address,
        ramp_limit::UPPER.put(ramp_limit::LOWER.put(0, 100), 110),
    );
    write(
        &mut chip,
        chip::RAMP_STEP.address,
        ramp_step::DOWN.put(ramp_step::UP.put(0, 3), 2),
    );
    write(
        &mut chip,
        chip::RAMP_RATE.address,
        ramp_rate::DOWN.put(ramp_rate::UP.put(0, 1), 2),
    );
    write(&mut chip, chip::CFR2.address, cfr2::DRG_ENABLE.put(flags, 1));
    chip.update(LOCK);
    chip
}

fn ramp(chip: &Ad9910, from: u64, count: usize) -> Vec<i64> {
    (0..count as u64)
        .map(|n| chip.ramp.course().value(from + 4 * n))
        .collect()
}

#[test]
fn ramp_direction_follows_its_pin() {
    let mut chip = ramping(0);
    assert_eq!(ramp(&chip, 0, 3), [100; 3]);
    assert!(chip.is_over(LOCK));
    let up = Lines {
        drctl: true,
        ..Lines::default()
    };
    chip.set_lines(LOCK + 100, up);
    assert_eq!(ramp(&chip, 100, 6), [100, 103, 106, 109, 110, 110]);
    assert_eq!((chip.is_over(LOCK + 112), chip.is_over(LOCK + 116)), (false, true));
    chip.set_lines(LOCK + 108, Lines { drhold: true, ..up });
    assert_eq!(ramp(&chip, 108, 3), [106; 3]);
    chip.set_lines(LOCK + 120, Lines::default());
    assert_eq!(ramp(&chip, 120, 8), [106, 106, 104, 104, 102, 102, 100, 100]);
}

#[test]
fn ramp_without_dwell_restarts_at_its_limit() {
    let mut chip = ramping(cfr2::DRG_NODWELL_HIGH.put(0, 1));
    let up = Lines {
        drctl: true,
        ..Lines::default()
    };
    chip.set_lines(LOCK + 100, up);
    chip.set_lines(LOCK + 104, Lines::default());
    assert_eq!(
        ramp(&chip, 100, 6),
        [100, 103, 106, 109, 100, 100],
        "only the rising edge counts"
    );
    let both = ramping(cfr2::DRG_NODWELL_LOW.put(cfr2::DRG_NODWELL_HIGH.put(0, 1), 1));
    let there = [
        100, 103, 106, 109, 110, 110, 108, 108, 106, 106, 104, 104, 102, 102, 100, 103,
    ];
    assert_eq!(ramp(&both, 0, 16), there);
}

#[test]
fn ramp_changes_phase_or_amplitude_as_configured() {
    for (destination, phase, amplitude) in [
        (cfr2::DRG_DESTINATION_POW, 0x1234, 0x3fff),
        (cfr2::DRG_DESTINATION_ASF, 0, 0x1234 >> 2),
    ] {
        let mut chip = clocked();
        write(
            &mut chip,
            chip::RAMP_LIMIT.address,
            ramp_limit::UPPER.put(ramp_limit::LOWER.put(0, 0x1234_5678), u64::from(u32::MAX)),
        );
        write(&mut chip, chip::RAMP_RATE.address, 0x0001_0001);
        write(
            &mut chip,
            chip::CFR2.address,
            cfr2::DRG_DESTINATION.put(cfr2::DRG_ENABLE.put(0, 1), destination),
        );
        chip.update(LOCK);
        assert_eq!(chip.output.waves.latest().pow.value(0), phase);
        assert_eq!(chip.output.levels.latest().value(0), amplitude);
    }
}

#[test]
fn keying_pin_switches_and_ramps_the_amplitude() {
    let mut chip = clocked();
    let word = cfr1::MANUAL_OSK_EXTERNAL.put(cfr1::OSK_ENABLE.put(0, 1), 1);
    write(&mut chip, chip::CFR1.address, word);
    // 100, in steps of 4 every 8 ns
    write(
        &mut chip,
        chip::ASF.address,
        asf::RAMP_RATE.put(asf::STEP.put(asf::ASF.put(0, 100), 2), 2),
    );
    chip.update(LOCK);
    let level = |chip: &Ad9910, cycle| chip.output.levels.latest().value(cycle);
    assert_eq!(level(&chip, 0), 0);
    let pressed = Lines {
        osk: true,
        ..Lines::default()
    };
    chip.set_lines(LOCK + 4, pressed);
    assert_eq!(level(&chip, 4), 100);
    write(
        &mut chip,
        chip::CFR1.address,
        cfr1::SELECT_AUTO_OSK.put(cfr1::OSK_ENABLE.put(0, 1), 1),
    );
    chip.set_lines(LOCK + 8, Lines::default());
    chip.update(LOCK + 1000);
    chip.set_lines(LOCK + 2000, pressed);
    assert_eq!(
        [2000, 2008, 2196, 2400].map(|cycle| level(&chip, cycle)),
        [0, 4, 96, 100]
    );
    chip.set_lines(LOCK + 2040, Lines::default());
    assert_eq!([2040, 2048, 2200].map(|cycle| level(&chip, cycle)), [20, 16, 0]);
}

#[test]
fn ramp_reports_are_limited_in_number() {
    let mut chip = ramping(0);
    write(
        &mut chip,
        chip::RAMP_LIMIT.address,
        ramp_limit::UPPER.put(ramp_limit::LOWER.put(0, 1 << 28), 1 << 29),
    );
    write(&mut chip, chip::RAMP_STEP.address, ramp_step::UP.put(0, 1 << 12));
    chip.update(LOCK);
    chip.set_lines(
        LOCK + 100,
        Lines {
            drctl: true,
            ..Lines::default()
        },
    );
    // 65536 steps of 4 ns
    let (mut at, mut reports) = (LOCK + 100, 0);
    while let Some(next) = chip.next(at) {
        assert!(next > at, "at {at}");
        at = next;
        tone_at(&mut chip, at);
        reports += 1;
    }
    assert!((256..300).contains(&reports), "{reports}");
    assert_eq!(tone_at(&mut chip, at).hz, 125e6);
    assert_eq!(at, LOCK + 100 + 4 * 65_536 + 79 + 12 - 12);
    chip.set_gain(at, f64::NEG_INFINITY);
    chip.set_lines(at, Lines::default());
    chip.act(at + 100);
    assert_eq!(chip.next(at + 100), None, "nobody hears it");
}

/// The number of SYNC_CLK cycles between two updates, as drivers count it: a ramp down from its
/// lower limit 0 in steps of -1, which the second update stops.
#[test]
fn ramp_with_negative_step_counts_upwards() {
    let all = u64::from(u32::MAX);
    let mut chip = counting(all);
    assert_eq!(ramp(&chip, 0, 4), [0, 1, 2, 3]);
    assert!(chip.complaints().is_empty());
    for (delay, counted) in [(400, 100), (404, 101), (408, 102)] {
        let mut chip = counting(all);
        write(&mut chip, chip::RAMP_STEP.address, 0);
        write(&mut chip, chip::CFR1.address, 0);
        chip.update(LOCK + delay);
        assert_eq!(chip.ramp.course().value(1 << 40), counted, "{delay} ns");
    }
    let mut full = counting(all - 9);
    full.set_lines(LOCK + 100, Lines::default());
    assert_eq!(
        full.ramp.course().value(1 << 40),
        i64::from(u32::MAX),
        "up to the upper limit"
    );
}

/// A chip whose ramp has started with steps down of `step`.
fn counting(step: u64) -> Ad9910 {
    let mut chip = clocked();
    write(
        &mut chip,
        chip::RAMP_LIMIT.address,
        ramp_limit::UPPER.put(0, u64::from(u32::MAX)),
    );
    write(&mut chip, chip::RAMP_RATE.address, ramp_rate::DOWN.put(0, 1));
    write(&mut chip, chip::RAMP_STEP.address, ramp_step::DOWN.put(0, step));
    write(&mut chip, chip::CFR2.address, cfr2::DRG_ENABLE.put(0, 1));
    write(&mut chip, chip::CFR1.address, cfr1::DRG_AUTOCLEAR.put(0, 1));
    chip.update(LOCK);
    chip
}

#[test]
fn ramp_of_normal_steps_stops_at_its_limit() {
    let mut chip = counting(7);
    assert_eq!(ramp(&chip, 0, 2), [0, 0]);
    write(&mut chip, chip::RAMP_STEP.address, ramp_step::UP.put(0, 1 << 31));
    chip.update(LOCK + 100);
    let up = Lines {
        drctl: true,
        ..Lines::default()
    };
    chip.set_lines(LOCK + 200, up);
    assert_eq!(
        ramp(&chip, 200, 2),
        [0, 0],
        "the step up is negative: at the lower limit"
    );
}
