//! The programmable logic as a peripheral of the processing system, behind GP0 and GP1, with 16
//! interrupts and event lines. It is empty until configured.

use std::path::{Path, PathBuf};

use super::bitstream;
use super::gp::Access as GpAccess;
use super::library::Library;
use super::link::End;
use super::Pl;
use crate::machine::bus::Bus;
use crate::machine::memory::Memory;
use crate::machine::params::Params;
use crate::machine::peripheral::{sooner, Access, Asked, Context, Due, Ended, Fault, Peripheral, Reset};
use crate::machine::signals::{Configuration, Signals};
use crate::machine::time::{self, Cycles};

/// PL cycles run at once while nothing else happens.
const CHUNK: u64 = 1000;

/// Gateware available for configuration of the PL. Beside each library is the descriptor that its
/// bitstream contains.
#[derive(Default)]
pub struct Gateware {
    libraries: Vec<(PathBuf, Vec<u8>)>,
    params: Params,
    skip: bool,
}

impl Gateware {
    /// Checks the libraries and reads their descriptors. The error is a one-line message for the
    /// user.
    pub fn new(libraries: &[PathBuf], params: &Params, skip: bool) -> Result<Self, String> {
        let with_descriptor = |path: &PathBuf| {
            Library::load(path)?; // report errors now
            let descriptor = path.with_file_name("descriptor.bin");
            let bytes = std::fs::read(&descriptor).map_err(|e| {
                format!(
                    "{} (which says what bitstream is of {}): {e}",
                    descriptor.display(),
                    path.display()
                )
            })?;
            Ok((path.clone(), bytes))
        };
        Ok(Self {
            libraries: libraries.iter().map(with_descriptor).collect::<Result<_, String>>()?,
            params: params.clone(),
            skip,
        })
    }

    /// Loads the gateware whose descriptor the frames of a bitstream contain, running from `now`
    /// on.
    pub fn with_descriptor(&self, frames: &[u32], now: Cycles) -> Option<Pl> {
        let bytes: Vec<u8> = frames.iter().flat_map(|word| word.to_le_bytes()).collect();
        let (path, _) = self
            .libraries
            .iter()
            .find(|(_, descriptor)| bytes.starts_with(descriptor))?;
        self.load(path, now).map_err(|error| log::error!("{error}")).ok()
    }

    fn load(&self, path: &Path, now: Cycles) -> Result<Pl, String> {
        let mut pl = Pl::new(Library::load(path)?, &self.params, self.skip);
        pl.start_at(now);
        Ok(pl)
    }
}

/// The PL, configured or not.
pub struct Fabric {
    pl: Option<Pl>,
    gateware: Gateware,
}

impl Fabric {
    /// Creates the PL with this gateware, if any, and the gateware available for its configuration.
    pub fn new(pl: Option<Pl>, gateware: Gateware) -> Self {
        Self { pl, gateware }
    }

    /// The gateware, if configured.
    pub fn pl(&self) -> Option<&Pl> {
        self.pl.as_ref()
    }

    /// Connects a link of the gateware. The error is a one-line message for the user.
    pub fn connect(&mut self, end: End, name: &str) -> Result<(), String> {
        let pl = self
            .pl
            .as_mut()
            .ok_or("it has no gateware, or only when it has booted")?;
        pl.connect(end, name)
    }

    /// Advances the logic for another board, see [`Pl::led`].
    pub fn lead(&mut self, to: u64, acting: u64, wakes: bool, urgent: bool, memory: &Memory) {
        if let Some(pl) = &mut self.pl {
            pl.led(to, acting, wakes, urgent, memory);
        }
    }

    fn configure(&mut self, configuration: Configuration, now: Cycles, signals: &mut Signals) {
        let words = match configuration {
            Configuration::Clear => return self.pl = None,
            Configuration::Words(words) => words,
        };
        match bitstream::configure(&words) {
            Ok(frames) => {
                (signals.configured, signals.changed) = (true, true);
                self.pl = self.gateware.with_descriptor(&frames, now);
                if self.pl.is_none() {
                    log::warn!("the PL is configured with a gateware that the emulator has no library for");
                }
            }
            Err(error) => log::warn!("the PL does not accept the bitstream: {error}"),
        }
    }

    /// Performs an access through GP0. Returns the word.
    fn access(&mut self, at: Access, store: Option<u32>, context: &mut Context) -> u32 {
        let Some(pl) = &mut self.pl else { return 0 };
        clocks(pl, at.now, context);
        pl.set_card_power(context.signals.card_power, at.now, context.memory);
        let access = GpAccess {
            address: at.address,
            size: at.size,
            store,
        };
        let done = pl.access(access, context.signals.caller, at.now, context.memory);
        context.stall = done.stall;
        context.ends_turn = !done.alone;
        done.value << at.shift()
    }
}

/// Passes the frequencies of the clocks to the gateware.
fn clocks(pl: &mut Pl, now: Cycles, context: &mut Context) {
    if pl.measures_clocks() {
        let (synthesiser, reference) = (context.signals.synthesiser.at(now), context.signals.reference.at(now));
        pl.set_clock("synthesiser", synthesiser, now, context.memory);
        pl.set_clock("reference", reference, now, context.memory);
    }
}

/// The gateware of a machine, if configured.
pub fn of(bus: &Bus) -> Option<&Pl> {
    bus.get::<Fabric>()?.pl.as_ref()
}

/// The gateware of a machine, mutably.
pub fn of_mut(bus: &mut Bus) -> Option<&mut Pl> {
    bus.get_mut::<Fabric>()?.pl.as_mut()
}

/// Brings the trace of a machine's gateware up to the time that it is known to have reached.
pub fn catch_up(bus: &mut Bus) {
    bus.with(|fabric: &mut Fabric, context| {
        if let Some(pl) = &mut fabric.pl {
            pl.catch_up(context.memory);
        }
    });
}

/// Drives an input pad of a machine's gateware from `now` on. The error is a one-line message for
/// the user.
pub fn set_pad(bus: &mut Bus, index: usize, level: bool, now: Cycles) -> Result<(), String> {
    let set = bus.with(|fabric: &mut Fabric, context| match &mut fabric.pl {
        Some(pl) => pl.set_pad(index, level, now, context.memory),
        None => Err("there is no gateware; start the emulator with --pl".into()),
    });
    set.unwrap_or(Ok(()))
}

impl Peripheral for Fabric {
    fn read(&mut self, at: Access, context: &mut Context) -> u32 {
        self.access(at, None, context)
    }

    fn write(&mut self, at: Access, value: u32, context: &mut Context) {
        self.access(at, Some(value), context);
    }

    fn begin(&mut self, at: Access, store: Option<u32>, context: &mut Context) -> Option<bool> {
        let pl = self.pl.as_mut().filter(|pl| pl.has_window())?;
        let access = GpAccess {
            address: at.address,
            size: at.size,
            store,
        };
        Some(pl.begin_window(access, at.now, context.memory))
    }

    fn end(&mut self) -> Option<Ended> {
        self.pl.as_mut()?.take_window()
    }

    fn ask(&mut self) -> Option<Asked> {
        self.pl.as_mut()?.take_asked()
    }

    fn answer(&mut self, result: Result<u32, Fault>) {
        if let Some(pl) = &mut self.pl {
            pl.answer_asked(result);
        }
    }

    /// Clears the configuration of a machine with a boot ROM; resets gateware that is reloaded by
    /// each reset.
    fn reset(&mut self, what: Reset, context: &mut Context) {
        if !matches!(what, Reset::System(_)) {
            return;
        }
        if context.memory.has_boot_rom() {
            self.pl = None;
        }
        if let Some(pl) = self.pl.as_mut().filter(|pl| pl.reloads()) {
            if let Err(error) = pl.reload(context.memory) {
                log::error!("{error}");
            }
        }
    }

    fn update(&mut self, now: Cycles, context: &mut Context) -> bool {
        let Some(pl) = &mut self.pl else { return true };
        pl.advance(now, context.memory, false);
        context.signals.lines_in = pl.lines();
        clocks(pl, now, context);
        if let Some(at) = pl.deliver_events() {
            context.signals.event = [Some(at); 2];
        }
        true
    }

    fn next(&self, due: &mut Due) {
        let Some(pl) = &self.pl else { return };
        sooner(&mut due.answer, pl.answer());
        sooner(&mut due.answer, pl.window_due());
        sooner(&mut due.arrival, pl.interrupted());
        sooner(&mut due.work, pl.woke());
        sooner(&mut due.woken, pl.woke());
        sooner(&mut due.work, pl.stretch(CHUNK));
        sooner(&mut due.work, pl.asked());
        sooner(&mut due.queued, pl.next());
        sooner(&mut due.queued, pl.bench_under_way());
        sooner(&mut due.bench, pl.bench_next());
        sooner(&mut due.plug, pl.next_plug());
    }

    fn irq(&self) -> u32 {
        self.pl.as_ref().map_or(0, |pl| pl.interrupts().into())
    }

    fn event(&mut self, now: Cycles, context: &mut Context) {
        if let Some(pl) = &mut self.pl {
            pl.send_event(now, context.signals.caller, context.memory);
        }
    }

    fn noted(&mut self, number: u8, registers: [u32; 4], context: &mut Context) {
        if let Some(pl) = &mut self.pl {
            let caller = context.signals.caller;
            pl.noted(number, registers, caller, context.memory);
        }
    }

    fn signalled(&mut self, now: Cycles, context: &mut Context) {
        if let Some(configuration) = context.signals.configuration.take() {
            self.configure(configuration, now, context.signals);
        }
        let lines = context.signals.lines_out;
        if let Some(pl) = self.pl.as_mut().filter(|pl| pl.lines_set() != lines) {
            pl.set_lines(lines, now, context.memory);
        }
    }

    fn idle(&mut self, until: Cycles, context: &mut Context) -> Cycles {
        let Some(pl) = &mut self.pl else { return until };
        let reached = time::from_pl(pl.advance(until, context.memory, true));
        match pl.woke() {
            Some(woke) => until.min(woke),
            None if time::to_pl(reached) < time::to_pl(until) => reached,
            None => until,
        }
    }
}
