//! The trace of the pads and of the pulse cores of all boards, for the control socket.

use serde_json::{json, Value};

use super::boards::Boards;
use crate::pl::bench::DESTINATION_SHIFT;
use crate::pl::event::Event;
use crate::pl::fabric;
use crate::pl::library::{Output, Pad};
use crate::pl::wave::Run;

/// What the pulse cores of all boards have played.
pub struct Pulses {
    /// The recordings of the boards, one after another, in the format of docs/interfaces.md section 6.
    pub words: Vec<u64>,
    /// The outputs of all boards, each with the RTIO channel of its core.
    outputs: Vec<Output>,
    /// Number of words and of outputs of each board.
    boards: Vec<(usize, usize)>,
    samples_per_cycle: u32,
    /// Whether all recordings are complete.
    complete: bool,
    /// When the master's coarse counter was 0.
    origin_ns: Option<u64>,
}

impl Pulses {
    /// The reply, without the words.
    pub fn reply(&self) -> Value {
        let boards = self.boards.iter();
        json!({
            "outputs": self.outputs,
            "samples_per_cycle": self.samples_per_cycle,
            "origin_ns": self.origin_ns,
            "words": self.words.len(),
            "boards": boards.map(|(words, outputs)| json!({ "words": words, "outputs": outputs })).collect::<Vec<_>>(),
            "complete": self.complete,
        })
    }
}

impl Boards {
    /// The recordings of the pulse cores of all boards.
    pub fn pulses(&self) -> Pulses {
        let mut pulses = Pulses {
            words: Vec::new(),
            outputs: Vec::new(),
            boards: Vec::new(),
            samples_per_cycle: 0,
            complete: true,
            origin_ns: None,
        };
        for (destination, board) in self.system.boards().iter().enumerate() {
            let bus = board.machine.bus.borrow();
            let Some(pl) = fabric::of(&bus) else { continue };
            let (shown, info) = (pl.shown(), pl.info());
            let words = shown.of_cores(info.outputs.len());
            pulses.boards.push((words.len(), info.outputs.len()));
            pulses.words.extend(words);
            pulses.outputs.extend(info.outputs.iter().map(|output| Output {
                channel: output.channel | (destination as u32) << DESTINATION_SHIFT,
                ..output.clone()
            }));
            pulses.samples_per_cycle = pulses.samples_per_cycle.max(info.samples_per_cycle);
            pulses.complete &= shown.complete;
            pulses.origin_ns = pulses.origin_ns.or(pl.origin_ns());
        }
        pulses
    }

    /// The pads of all boards, numbered consecutively. The error is a one-line message for the
    /// user.
    pub fn pads(&self) -> Result<Vec<Pad>, String> {
        let mut pads = Vec::new();
        for (destination, board) in self.system.boards().iter().enumerate() {
            let bus = board.machine.bus.borrow();
            let Some(pl) = fabric::of(&bus) else {
                return Err("there is no gateware; start the emulator with --pl".into());
            };
            let first = pads.len();
            pads.extend(pl.info().pads.iter().map(|pad| Pad {
                index: first + pad.index,
                channel: pad.channel | (destination as u32) << DESTINATION_SHIFT,
                ..pad.clone()
            }));
        }
        Ok(pads)
    }

    /// Pad events of all boards, except those of clock waveforms, from number `from` on, and the
    /// total number of events.
    pub fn events(&mut self, from: usize) -> (Vec<Event>, usize) {
        if self.system.boards().len() == 1 {
            let bus = self.master().bus.borrow();
            return fabric::of(&bus).map_or((Vec::new(), 0), |pl| {
                (pl.trace().since(from).to_vec(), pl.trace().len())
            });
        }
        let now = self.master().now();
        let mut new = Vec::new();
        let mut first = 0;
        for (board, merged) in self.system.boards().iter().zip(&mut self.merged) {
            let mut bus = board.machine.bus.borrow_mut();
            bus.update(now);
            let Some(pl) = fabric::of(&bus) else { continue };
            new.extend(pl.trace().since(*merged).iter().map(|event| Event {
                pad: first + event.pad,
                ..*event
            }));
            *merged = pl.trace().len();
            first += pl.info().pads.len() as u16;
        }
        new.sort_by_key(|event| (event.time_ns, event.pad));
        self.events.extend(new);
        (self.events.get(from..).unwrap_or_default().to_vec(), self.events.len())
    }

    /// Runs of clock waveforms at the pads of all boards, and the time in ns up to which they are
    /// known.
    pub fn runs(&self) -> (Vec<Run>, u64) {
        let (mut runs, mut known, mut first) = (Vec::new(), u64::MAX, 0);
        for board in self.system.boards() {
            let mut bus = board.machine.bus.borrow_mut();
            fabric::catch_up(&mut bus);
            let Some(pl) = fabric::of(&bus) else { continue };
            runs.extend(pl.trace().runs().map(|mut run| {
                run.wave.pad += first;
                run
            }));
            known = known.min(pl.known_ns());
            first += pl.info().pads.len() as u16;
        }
        (runs, known)
    }

    /// Clears the events of the pads.
    pub fn clear_events(&mut self) {
        self.events.clear();
        self.merged.fill(0);
        for board in self.system.boards() {
            if let Some(pl) = fabric::of_mut(&mut board.machine.bus.borrow_mut()) {
                pl.clear_trace();
            }
        }
    }
}
