//! The store compared with a map, killed kernels, and traces of several boards.

use std::cell::RefCell;
use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

fn record(traces: &mut Traces, name: &[u8], count: u32) -> Result<(), Full> {
    let mut recording = traces.begin(name)?;
    for n in 0..count {
        let _ = traces.event(&mut recording, 4 << 8, i64::from(n) * 8, [n & 1].into_iter());
    }
    traces.finish(recording, i64::from(count) * 8)
}

fn events(words: &[u32], trace: Trace) -> usize {
    assert_eq!(trace.offset % ALIGNMENT, 0);
    let trace = &words[trace.offset / 4..];
    trace.chunks(2).take_while(|chunk| **chunk != END).count()
}

#[test]
fn too_long_recording_is_dropped_and_frees_its_memory() {
    let mut words = vec![0xffff_ffff; 20 * UNIT];
    let mut traces = Traces::new(&mut words);
    assert_eq!(record(&mut traces, b"long", 1000), Err(Full));
    assert_eq!(traces.find(b"long"), None);
    for _ in 0..3 {
        record(&mut traces, b"fits", 250).unwrap();
        assert_eq!(record(&mut traces, b"second", 200), Err(Full));
    }
    assert_eq!(traces.find(b"fits").unwrap().duration, 2000);
    traces.erase(b"fits");
    record(&mut traces, &[b'n'; 200], 200).unwrap();
    assert!(traces.begin(&[b'n'; 5000]).is_err());
}

#[test]
fn first_event_without_room_is_reported_with_the_length() {
    let mut words = vec![0xffff_ffff; 4 * UNIT];
    let mut traces = Traces::new(&mut words);
    let mut recording = traces.begin(b"long").unwrap();
    let mut kept = 0;
    while traces.event(&mut recording, 4 << 8, kept * 10, [1].into_iter()).is_ok() {
        kept += 1;
        assert!(kept < 100);
    }
    assert_eq!(recording.length(), (kept as u32, (kept - 1) * 10));
    assert_eq!(traces.event(&mut recording, 4 << 8, 0, [1].into_iter()), Err(Full));
    assert_eq!(traces.finish(recording, 0), Err(Full));
}

#[test]
fn corrupt_memory_ends_the_search_for_traces() {
    for size in [0, 3, 0xffff_ffff] {
        let mut words = vec![0; 4 * UNIT];
        let mut traces = Traces::new(&mut words);
        record(&mut traces, b"a", 1).unwrap();
        words[UNIT * 2 + SIZE] = size;
        let mut traces = Traces::attach(&mut words);
        assert!(traces.find(b"a").is_some() && traces.find(b"b").is_none());
        traces.erase(b"a");
        assert!(record(&mut traces, b"c", 1).is_ok());
    }
}

#[test]
fn trace_is_split_by_board() {
    let mut words = vec![0xffff_ffff; 40 * UNIT];
    let mut traces = Traces::new(&mut words);
    let far = 2 << 24 | 5 << 8;
    let mut recording = traces.begin(b"both").unwrap();
    for n in 0..20 {
        traces.event(&mut recording, 4 << 8, n * 8, [1].into_iter()).unwrap();
        traces
            .event(&mut recording, far, n * 8 + 1, [n as u32, 7].into_iter())
            .unwrap();
    }
    traces.finish(recording, 999).unwrap();
    record(&mut traces, b"after", 3).unwrap();
    let copied = RefCell::new(vec![]);
    let note = |from, to| copied.borrow_mut().push((from, to));
    let recorded = traces.find(b"both").unwrap().offset;
    traces.take_apart(b"both", 6, 0, note).unwrap();
    let found = traces.find(b"both").unwrap();
    assert_eq!((found.duration, found.number), (999, 6));
    assert_eq!(traces.named_at(found.offset), Some(6));
    let parts: Vec<_> = traces.parts(6).collect();
    assert_eq!(
        [0, 2].map(|n| parts.iter().filter(|part| part.destination == n).count()),
        [1, 1]
    );
    for part in &parts {
        assert!(!traces.is_trace(part.offset));
    }
    let far_part = *parts.iter().find(|part| part.destination == 2).unwrap();
    let content = &words[far_part.offset / 4..][..far_part.bytes / 4];
    let (mut at, mut now, mut times) = (0, 0, vec![]);
    while let Some((event, next)) = decode(content, at, now) {
        (at, now) = (next, event.time);
        assert_eq!((event.target, event.words()), (far, &[times.len() as u32, 7][..]));
        times.push(now);
    }
    assert_eq!(content[at..], END);
    // An event of one word takes two words of a trace, one of two words six.
    let places = |first, from| (0..20).map(move |n| (recorded + n * 32 + from, first + n * (8 + 2 * from)));
    let near_part = *parts.iter().find(|part| part.destination == 0).unwrap();
    let expected: Vec<_> = places(near_part.offset, 0).chain(places(far_part.offset, 8)).collect();
    assert_eq!(copied.into_inner(), expected);
    assert_eq!(times, (0..20).map(|n| n * 8 + 1).collect::<Vec<_>>());
    let mut traces = Traces::attach(&mut words);
    assert_eq!(traces.erase(b"both"), Some(6));
    assert_eq!(traces.parts(6).count(), 0);
    assert_eq!(traces.erase(b"after"), None);
    record(&mut traces, b"long", 600).unwrap();
    // There is no room for its part.
    assert_eq!(traces.take_apart(b"long", 7, 0, |_, _| {}), Err(Full));
    assert_eq!((traces.find(b"long"), traces.parts(7).count()), (None, 0));
}

#[test]
fn outputs_of_a_card_are_in_the_part_of_this_board() {
    let mut words = vec![0; 40 * UNIT];
    let mut traces = Traces::new(&mut words);
    let mut recording = traces.begin(b"a").unwrap();
    for (n, destination) in [2, 0, 1, 2].into_iter().enumerate() {
        let target = destination << 24 | 5 << 8;
        traces
            .event(&mut recording, target, 8 * n as i64, [1].into_iter())
            .unwrap();
    }
    traces.finish(recording, 99).unwrap();
    traces.take_apart(b"a", 6, 1 << 2, |_, _| {}).unwrap();
    let mut parts: Vec<_> = traces.parts(6).collect();
    parts.sort_by_key(|part| part.destination);
    assert_eq!(parts.iter().map(|part| part.destination).collect::<Vec<_>>(), [0, 1]);
    let own = parts[0];
    let content = &words[own.offset / 4..][..own.bytes / 4];
    let (mut at, mut now, mut targets) = (0, 0, vec![]);
    while let Some((event, next)) = decode(content, at, now) {
        (at, now) = (next, event.time);
        targets.push(event.destination());
    }
    assert_eq!(targets, [2, 0, 2]);
}

#[derive(Clone, Debug)]
enum Step {
    Record(String, u32),
    Erase(String),
    /// A kernel is killed in the middle of a recording.
    Abandon(String, u32),
}

fn step() -> impl Strategy<Value = Step> {
    let name = "[abc]{0,40}";
    prop_oneof![
        (name, 0u32..200).prop_map(|(name, count)| Step::Record(name, count)),
        name.prop_map(Step::Erase),
        (name, 0u32..200).prop_map(|(name, count)| Step::Abandon(name, count)),
    ]
}

proptest! {
    #[test]
    fn store_behaves_as_a_map_and_traces_keep_their_address(steps in prop::collection::vec(step(), 1..60)) {
        let mut words = vec![0xdead_beef; 60 * UNIT];
        let _ = Traces::new(&mut words);
        let mut model: HashMap<String, (u32, usize)> = HashMap::new();
        for step in steps {
            // Attached again, as after a restart.
            let mut traces = Traces::attach(&mut words);
            match step {
                Step::Record(name, count) => {
                    model.remove(&name);
                    if record(&mut traces, name.as_bytes(), count).is_ok() {
                        let offset = traces.find(name.as_bytes()).unwrap().offset;
                        model.insert(name, (count, offset));
                    }
                }
                Step::Erase(name) => {
                    traces.erase(name.as_bytes());
                    model.remove(&name);
                }
                Step::Abandon(name, count) => {
                    model.remove(&name);
                    if let Ok(mut recording) = traces.begin(name.as_bytes()) {
                        (0..count).for_each(|n| {
                            let words = vec![n; 1 + n as usize % 16];
                            let _ = traces.event(&mut recording, 0x100, -1, words.into_iter());
                        });
                    }
                }
            }
            let traces = Traces::attach(&mut words);
            let found: Vec<_> = model.iter().map(|(name, &(count, offset))| {
                (traces.find(name.as_bytes()), count, offset)
            }).collect();
            prop_assert!(!traces.is_trace(4));
            for (trace, count, offset) in found {
                let trace = trace.unwrap();
                prop_assert_eq!((trace.duration, trace.offset), (i64::from(count) * 8, offset));
                prop_assert!(Traces::attach(&mut words).is_trace(offset));
                prop_assert_eq!(events(&words, trace), count as usize);
            }
        }
    }
}
