//! `pulse_update` and `pulse_update_all`: convert a kernel's new values for a gate of the pulse
//! core to words and send them, with no host in the loop; `pulse_make` and `pulse_store`: likewise a
//! whole pulse, to be played at once or as a gate in the tables. `pulse_change`: sends the words by which
//! two gate sets differ. `pulse_stream`: stores words where the core reads them from memory. `pulse_note` and `pulse_noted`: which gates are in a core's tables.

use kairos_chip::gic::barrier;
use kairos_contracts::pulse::KERNEL_PULSE_SEGMENTS;
use kairos_intercore::memory::STREAM;
use kairos_kernel::streams;
use kairos_proto::exception::Id;
use kairos_pulse::adjust::{AdjustError, Adjustable, Numbers};
use kairos_pulse::course::{CourseError, SEGMENTS};
use kairos_pulse::difference::differences;
use kairos_pulse::kernel_pulse::{KernelPulse, KernelPulseError, MOST_VALUES};
use kairos_pulse::store::Room;
use kairos_pulse::units::{Rates, UnitError};

use crate::fault::broken;
use crate::memory::{doubles, words, Area};
use crate::owned::{BorrowCell, Owned};
use crate::raise;
use crate::rtio::{now_mu, output, set_now_mu, CYCLE};

/// Cycles between words that program tables: more than the longest takes.
const SLOTS: i64 = 8;
/// Most values of one course.
const MOST: usize = SEGMENTS + 1;

/// `pulse_update(gate, parameter, target, value)`: changes a parameter of a gate. `gate` describes
/// its adjustable parameters.
///
/// The words are events at the cursor, which each advances by a cycle: the last one goes to
/// `target`, those before it to address 0 of its channel. If `target` is also address 0, they are
/// ordinary outputs; if not, they are urgent.
extern "C" fn update(gate: u32, parameter: u32, target: u32, value: f64) {
    let Some(gate) = adjustable(gate) else { return };
    if let Err(error) = gate.change(parameter, &[value], &mut |word, last| send(target, word, last)) {
        refuse(error, parameter);
    }
}

/// `pulse_update_all(gate, parameters, values, target)`: the same for several parameters.
/// Consecutive values of one parameter form one course: steps, or knots of a spline.
extern "C" fn update_all(gate: u32, parameters: u32, values: u32, target: u32) {
    let Some(gate) = adjustable(gate) else { return };
    let (parameters, mut values) = match words(parameters).and_then(|p| Ok((p, doubles(values)?))) {
        Ok(lists) => lists,
        Err(error) => broken(format_args!("a change of a gate: {error}")),
    };
    if parameters.len() != values.len() {
        return raise::firmware(Id::ValueError, "the numbers of parameters and values differ", [0; 3]);
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

/// `pulse_make(pulse, values, target, rate)`: sends a pulse to `target` as words of the stream, each an event at the
/// cursor, which advances by a cycle. `rate`: samples per second.
extern "C" fn make(pulse: u32, values: u32, target: u32, rate: f64) {
    with_pulse(pulse, values, rate, &|made, values, rates| {
        made.words(values, rates, &mut |word| send(target, word, false))
    });
}

/// `pulse_store(room, pulse, values, target, rate)`: likewise, as the words that make the pulse a gate in the tables, at
/// the place `room`.
extern "C" fn store(room: u32, pulse: u32, values: u32, target: u32, rate: f64) {
    let room = match words(room) {
        Ok(list) => Room::new(list),
        Err(error) => broken(format_args!("room for a gate: {error}")),
    };
    with_pulse(pulse, values, rate, &|made, values, rates| {
        let room = room.as_ref().ok_or(KernelPulseError::Malformed)?;
        made.store(room, values, rates, &mut |word| send_slowly(target, word))
    });
}

/// `pulse_change(known, wanted, target)`: sends those of the words `wanted` that are not among the words `known`. Both
/// program tables, and are sorted.
extern "C" fn change(known: u32, wanted: u32, target: u32) {
    match words(known).and_then(|known| Ok((known, words(wanted)?))) {
        Ok((known, wanted)) => differences(known, wanted, &mut |word| send_slowly(target, word)),
        Err(error) => broken(format_args!("words of tables: {error}")),
    }
}

/// Gives the words of a pulse with these values.
type Give<'a> = &'a dyn Fn(KernelPulse<'static>, &[f64], &Rates) -> Result<(), KernelPulseError>;

/// Raises the error of `give`, to which a kernel's pulse and values are passed, if any.
fn with_pulse(pulse: u32, values: u32, rate: f64, give: Give) {
    let (list, mut values) = match words(pulse).and_then(|p| Ok((p, doubles(values)?))) {
        Ok(lists) => lists,
        Err(error) => broken(format_args!("a pulse: {error}")),
    };
    let mut buffer = [0.0; MOST_VALUES];
    let count = values.len();
    let made = match (KernelPulse::new(list), buffer.get_mut(..count)) {
        (Some(made), Some(buffer)) => {
            buffer.fill_with(|| values.next().unwrap_or_default());
            let rates = Rates {
                clock: rate,
                samples_per_cycle: 1,
            };
            give(made, buffer, &rates)
        }
        _ => Err(KernelPulseError::Malformed),
    };
    if let Err(error) = made {
        refuse_pulse(error);
    }
}

/// Raises ValueError.
#[cold]
fn refuse_pulse(error: KernelPulseError) {
    let (text, numbers) = match error {
        KernelPulseError::Course { parameter, error } => return refuse(error.into(), parameter),
        KernelPulseError::Count { parameter } => (
            "courses of parameter {0} that are added have equal numbers of values or 1, at most {1}",
            [parameter.into(), KERNEL_PULSE_SEGMENTS as i64 + 1, 0],
        ),
        KernelPulseError::Length { cycles } => ("a pulse of {0} cycles is too short", [cycles.into(), 0, 0]),
        KernelPulseError::Room { segments } => (
            "the pulse has {0} different segments, more than the gate has room for",
            [segments.into(), 0, 0],
        ),
        KernelPulseError::Malformed => (
            "a pulse has channels, parameters 0 to 7, and as many values as its courses say",
            [0; 3],
        ),
    };
    raise::firmware(Id::ValueError, text, numbers);
}

/// Memory of the streams. It is not cached, so the HP port sees all stores.
static STREAMS: BorrowCell<Area<{ STREAM.start }, { STREAM.end }>> = {
    // SAFETY: reserved in the memory map for this, and used by this module only. The gateware reads
    // it.
    BorrowCell::new(unsafe { Area::new() })
};

/// End of the newest stream, in integers.
static NEXT: Owned<usize> = Owned::new(0);

/// Reclaims the memory in a restart.
pub fn reclaim() {
    STREAMS.reclaim();
}

/// `pulse_stream(words)`
extern "C" fn stream(list: u32) -> u32 {
    let words = match words(list) {
        Ok(words) => words,
        Err(error) => broken(format_args!("words of a stream: {error}")),
    };
    let put = |memory: &mut Area<_, _>| streams::put(memory.words(), STREAM.start as u32, NEXT.get(), words);
    let whole = words.len().is_multiple_of(streams::WORD);
    let Some((address, next)) = whole.then(|| STREAMS.with(put)).flatten() else {
        let text = "a stream has whole words of 8 integers, at most {1} words: not {0} integers";
        let most = streams::most(STREAM.len()) as i64;
        raise::firmware(Id::ValueError, text, [words.len() as i64, most, 0]);
        return 0;
    };
    NEXT.set(next);
    // Drains the processor's write buffers before the logic is notified.
    barrier();
    address
}

/// Which gates a core has: survives the kernel that loaded them, as they do.
struct Note {
    target: Owned<u32>,
    value: Owned<u32>,
}

/// Number of targets about which something is noted; a further one replaces the oldest.
const NOTES_MOST: usize = 64;
/// No target: it would have the last address of the last channel.
const FREE: u32 = u32::MAX;

static NOTES: [Note; NOTES_MOST] = [const {
    Note {
        target: Owned::new(FREE),
        value: Owned::new(0),
    }
}; NOTES_MOST];
/// The note to be replaced next, once none is free.
static OLDEST: Owned<usize> = Owned::new(0);

/// `pulse_note(target, value)`
pub extern "C" fn pulse_note(target: u32, value: u32) {
    let note = noted(target).unwrap_or_else(|| {
        let usual = usual_note(target);
        let free = match usual.target.get() {
            FREE => Some(usual),
            _ => noted(FREE),
        };
        let note = free.unwrap_or_else(|| {
            let at = OLDEST.get() % NOTES_MOST;
            OLDEST.set(at + 1);
            &NOTES[at]
        });
        // If the kernel is killed here, the note says that nothing is known.
        note.value.set(0);
        note.target.set(target);
        note
    });
    note.value.set(value);
}

/// `pulse_noted(target)`: each change of a gate asks, also one that is due at once.
pub extern "C" fn pulse_noted(target: u32) -> u32 {
    let usual = usual_note(target);
    match usual.target.get() == target {
        true => usual.value.get(),
        false => noted_elsewhere(target),
    }
}

/// The note of a target, if no other one has taken its place: found without a search.
fn usual_note(target: u32) -> &'static Note {
    &NOTES[(target ^ target >> 8) as usize % NOTES_MOST]
}

#[cold]
fn noted_elsewhere(target: u32) -> u32 {
    noted(target).map_or(0, |note| note.value.get())
}

fn noted(target: u32) -> Option<&'static Note> {
    NOTES.iter().find(|note| note.target.get() == target)
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

/// Sends a word that writes tables: the next one may come when the longest has been executed.
fn send_slowly(target: u32, word: &Numbers) {
    output::send(target, word);
    set_now_mu(now_mu().wrapping_add(SLOTS * CYCLE));
}

/// Raises ValueError.
#[cold]
fn refuse(error: AdjustError, parameter: u32) {
    let text = match error {
        AdjustError::Fixed => "parameter {0} of the gate is not adjustable",
        AdjustError::Count { .. } => "parameter {0} of the gate has {1} segments: give as many steps or one more knot",
        AdjustError::Factor => "a factor takes parameter {0} out of its range",
        AdjustError::Course(CourseError::Unit(UnitError::Frequency { .. })) => {
            "a frequency of parameter {0} is beyond half the sample rate"
        }
        AdjustError::Course(CourseError::Unit(UnitError::Amplitude { .. })) => {
            "an amplitude of parameter {0} is outside of -200 to 200, full scale"
        }
        AdjustError::Course(CourseError::Unit(_)) => "a value of parameter {0} is not a finite number",
        AdjustError::Course(CourseError::Overshoot { .. }) => "parameter {0} exceeds full scale between its knots",
        AdjustError::Course(CourseError::TooSteep) => "parameter {0} changes too steeply",
        AdjustError::Course(CourseError::TooShort { .. }) => "a segment of parameter {0} is too short",
        AdjustError::Course(CourseError::Room) => "parameter {0} has too many values",
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
    pulse_make => make;
    pulse_store => store;
    pulse_change => change;
    pulse_stream => stream;
}
