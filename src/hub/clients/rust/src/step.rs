//! Steps of a program that a device executes as one batch (`docs/batch.md`). Registers are named
//! `block/register`.

use std::time::Duration;

use crate::v1::step::{self, Step as Kind};
use crate::v1::Step;

fn one(kind: Kind) -> Step {
    Step { step: Some(kind) }
}

/// Whole microseconds, saturating: longer times exceed the duration of any program.
fn microseconds(length: Duration) -> u32 {
    length.as_micros().try_into().unwrap_or(u32::MAX)
}

/// Reads a register. The value is a result; two for a register of more than 32 bits, the high word
/// first.
pub fn read(register: impl Into<String>) -> Step {
    let register = register.into();
    one(Kind::Read(step::Read { register }))
}

/// Writes a register; in a loop, the value increases by `more` each round, if the register has at
/// most 32 bits.
pub fn write(register: impl Into<String>, value: u64, more: u32) -> Step {
    one(Kind::Write(step::Write {
        register: register.into(),
        value,
        step: more,
    }))
}

/// Sets the bits of a register selected by the mask.
pub fn modify(register: impl Into<String>, value: u32, mask: u32) -> Step {
    one(Kind::Modify(step::Modify {
        register: register.into(),
        value,
        mask,
    }))
}

/// Waits until the bits selected by the mask equal those of the value. The last value read is a
/// result.
pub fn poll(register: impl Into<String>, value: u32, mask: u32, timeout: Duration) -> Step {
    one(Kind::Poll(step::Poll {
        register: register.into(),
        value,
        mask,
        timeout_us: microseconds(timeout),
    }))
}

/// Waits.
pub fn delay(length: Duration) -> Step {
    let us = microseconds(length);
    one(Kind::Delay(step::Delay { us }))
}

/// Repeats steps.
pub fn repeat(rounds: u32, steps: impl IntoIterator<Item = Step>) -> Step {
    let steps = steps.into_iter().collect();
    one(Kind::Loop(step::Loop { rounds, steps }))
}
