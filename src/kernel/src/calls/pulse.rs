//! `pulse_update` and `pulse_update_all`: a kernel's new value for a gate of the pulse core, made to words and sent here, with no host in the loop.

use kairos_proto::exception::Id;
use kairos_pulse::adjust::{AdjustError, Adjustable, Numbers};
use kairos_pulse::course::{CourseError, SEGMENTS};
use kairos_pulse::units::UnitError;

use crate::fault::broken;
use crate::memory::{doubles, words};
use crate::raise;
use crate::rtio::{now_mu, output, set_now_mu, CYCLE};

/// Values of one course at most.
const MOST: usize = SEGMENTS + 1;

/// `pulse_update(gate, parameter, target, value)`: gives a parameter of a gate another value. `gate`: what is adjustable of it.
///
/// The words are events at the cursor, which each moves by a cycle: the last one to `target`, those before it to address 0
/// of its channel. If that is address 0 too, they are outputs like any other; if not, they are urgent.
extern "C" fn update(gate: u32, parameter: u32, target: u32, value: f64) {
    let Some(gate) = adjustable(gate) else { return };
    if let Err(error) = gate.change(parameter, &[value], &mut |word, last| send(target, word, last)) {
        refuse(error, parameter);
    }
}

/// `pulse_update_all(gate, parameters, values, target)`: likewise several parameters. Values that follow one another for one
/// parameter are one course: steps, or knots of a spline.
extern "C" fn update_all(gate: u32, parameters: u32, values: u32, target: u32) {
    let Some(gate) = adjustable(gate) else { return };
    let (parameters, mut values) = match words(parameters).and_then(|p| Ok((p, doubles(values)?))) {
        Ok(lists) => lists,
        Err(error) => broken(format_args!("a change of a gate: {error}")),
    };
    if parameters.len() != values.len() {
        return raise::firmware(Id::ValueError, "parameters and values are not equally many", [0; 3]);
    }
    let mut buffer = [0.0; MOST];
    for course in parameters.chunk_by(|a, b| a == b) {
        let Some(buffer) = buffer.get_mut(..course.len()) else {
            return refuse(AdjustError::Course(CourseError::Room), course[0]);
        };
        buffer.fill_with(|| values.next().unwrap_or_default());
        let more = values.len() != 0;
        if let Err(error) = gate.change(course[0], buffer, &mut |word, last| send(target, word, last && !more)) {
            return refuse(error, course[0]);
        }
    }
}

#[inline(always)]
fn adjustable(list: u32) -> Option<Adjustable<'static>> {
    match words(list) {
        Ok(list) => {
            let gate = Adjustable::new(list);
            if gate.is_none() {
                raise::firmware(Id::ValueError, "the gate's adjustable segments cannot be read", [0; 3]);
            }
            gate
        }
        Err(error) => broken(format_args!("a gate: {error}")),
    }
}

fn send(target: u32, word: &Numbers, last: bool) {
    match (last, target & 0xff) {
        (_, 0) => output::send(target, word),
        (true, _) => output::send_now(target, word),
        (false, _) => output::send_unasked(target & !0xff, word),
    }
    set_now_mu(now_mu().wrapping_add(CYCLE));
}

/// Raises ValueError.
#[cold]
fn refuse(error: AdjustError, parameter: u32) {
    let text = match error {
        AdjustError::Fixed => "parameter {0} of the gate is not adjustable",
        AdjustError::Count { .. } => {
            "parameter {0} of the gate has {1} segments, which takes as many steps or one knot more"
        }
        AdjustError::Factor => "a factor takes parameter {0} out of its range",
        AdjustError::Course(CourseError::Unit(UnitError::Frequency { .. })) => {
            "a frequency of parameter {0} is outside of half the sample rate"
        }
        AdjustError::Course(CourseError::Unit(UnitError::Amplitude { .. })) => {
            "an amplitude of parameter {0} is outside of -200 to 200, full scale"
        }
        AdjustError::Course(CourseError::Unit(_)) => "a value of parameter {0} is not a finite number",
        AdjustError::Course(CourseError::Overshoot { .. }) => "between its knots parameter {0} is beyond full scale",
        AdjustError::Course(CourseError::TooSteep) => "the course of parameter {0} is too steep",
        AdjustError::Course(CourseError::TooShort { .. }) => "a segment of parameter {0} is too short",
        AdjustError::Course(CourseError::Room) => "the course of parameter {0} has too many values",
    };
    let segments = match error {
        AdjustError::Count { segments } => segments as i64,
        _ => 0,
    };
    raise::firmware(Id::ValueError, text, [i64::from(parameter), segments, 0]);
}

raise::raising! {
    pulse_update => update;
    pulse_update_all => update_all;
}
