//! The time cursor, in machine units and in seconds.

use super::{exactly, Call};
use crate::diagnostic::Result;
use crate::emit::{Cursor, Emitter};
use crate::ir::{self, Binary, Value};
use crate::language::{Exception, Time};
use crate::types::{Kind, Ty, Types};

/// What is wrong about a time in seconds that is none in machine units.
pub(crate) const NO_TIME: &str = "a time in seconds is not a number, or too long";
/// The first time in machine units that is too long.
pub(crate) const LONGEST: f64 = (1u64 << 63) as f64;

pub fn typing(types: &mut Types, call: &Call, time: Time) -> Result<Ty> {
    let (argument, what) = match time {
        Time::NowMu => return Ok(types.new_type(Kind::Int64)),
        Time::Delay => (Kind::Float, "the duration in seconds"),
        Time::DelayMu | Time::AtMu => (Kind::Int64, "the time in machine units"),
    };
    types.require_kind(argument, call.types[0], call.args[0].span, what)?;
    Ok(types.new_type(Kind::None))
}

pub fn code(emitter: &mut Emitter, time: Time, values: Vec<Value>) -> Value {
    match time {
        Time::NowMu => return emitter.now_mu(),
        Time::Delay => {
            let [seconds] = exactly(values);
            let period = Value::float(emitter.module.target.ref_period);
            let units = emitter.build.binary(Binary::FDiv, seconds, period);
            let units = emitter.round(units);
            let wrong = (Exception::ValueError, NO_TIME);
            emitter.require_integer(&units, &ir::Ty::I64, [wrong; 2]);
            let units = emitter.build.convert(units, &ir::Ty::I64);
            emitter.set_cursor(Cursor::Delay, units);
        }
        Time::DelayMu => {
            let [units] = exactly(values);
            emitter.set_cursor(Cursor::Delay, units);
        }
        Time::AtMu => {
            let [time] = exactly(values);
            emitter.set_cursor(Cursor::At, time);
        }
    }
    Value::unit()
}
