//! The control socket, and the loop around the machine that lets the host in.
//!
//! Requests and replies are one line of JSON each, see docs/interfaces.md section 7.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{json, Value};

use crate::host::forward::Forwarder;
use crate::machine::schedule::{CoreState, Machine, Step};
use crate::machine::time::{self, Cycles};

#[derive(Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    Status,
    Trace {
        #[serde(default)]
        from: usize,
    },
    TraceClear,
    Uart {
        #[serde(default)]
        from: usize,
    },
    Set {
        skip: bool,
    },
    Pad {
        index: usize,
        level: u8,
    },
    Clock {
        input: u64,
    },
    Write {
        address: u32,
        value: u32,
    },
    Shutdown,
}

struct Client {
    stream: UnixStream,
    input: Vec<u8>,
    first: bool,
}

/// The socket and its clients.
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    clients: Vec<Client>,
    accepted: bool,
}

impl Control {
    /// Listens at `path`, replacing a socket that nobody listens on. The error is a line for the user.
    pub fn new(path: &Path) -> Result<Self, String> {
        if path.exists() && UnixStream::connect(path).is_err() {
            let _ = std::fs::remove_file(path);
        }
        let listener = UnixListener::bind(path).map_err(|e| match e.kind() {
            ErrorKind::AddrInUse => format!("control socket {}: another emulator uses it", path.display()),
            _ => format!("control socket {}: {e}", path.display()),
        })?;
        listener
            .set_nonblocking(true)
            .map_err(|e| format!("control socket: {e}"))?;
        Ok(Self {
            listener,
            path: path.into(),
            clients: Vec::new(),
            accepted: false,
        })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Options of the loop.
#[derive(Default)]
pub struct Options {
    /// End when the first control client disconnects.
    pub exit_with_control: bool,
    /// Where UART text goes, besides the control socket.
    pub uart: Option<Box<dyn Write>>,
    /// Wall-clock time for which time stands still for the host.
    pub host_wait: Duration,
}

/// The machine with its connections to the host.
pub struct Host {
    machine: Machine,
    forwarder: Forwarder,
    control: Option<Control>,
    options: Options,
    started: Instant,
    announced: bool,
    uart_written: usize,
    host_read: Cycles,
    still_since: Option<Instant>,
    follow: Option<(Instant, Cycles)>,
    /// Instructions of core 1, and the time, when the host or the kernel core last made progress.
    progress: (u64, Cycles),
    shutdown: bool,
}

/// What is due so soon after progress belongs to it (received frames that gather, for instance) and does not wait: 150 us.
const SHORT: Cycles = time::CPU_HZ / 1_000_000 * 150;

/// Virtual time between looks at the host's sockets while cores are busy.
const HOST_INTERVAL: Cycles = time::CPU_HZ / 1000;

impl Host {
    /// Ready to [`Self::run`].
    pub fn new(machine: Machine, forwarder: Forwarder, control: Option<Control>, options: Options) -> Self {
        Self {
            machine,
            forwarder,
            control,
            options,
            started: Instant::now(),
            announced: false,
            uart_written: 0,
            host_read: 0,
            still_since: None,
            follow: None,
            progress: (0, 0),
            shutdown: false,
        }
    }

    /// Counts wall-clock time from `started` (the start of the process).
    pub fn started_at(mut self, started: Instant) -> Self {
        self.started = started;
        self
    }

    /// Runs until told to end, or until core 0 can do nothing more. The error is a line for the user.
    pub fn run(&mut self) -> Result<(), String> {
        let mut looked = Instant::now();
        let mut turns = 0u32;
        while !self.shutdown {
            let step = self.machine.step();
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(64) && looked.elapsed() > Duration::from_millis(5) {
                looked = Instant::now();
                self.serve_control();
                self.flush_uart();
            }
            self.report_crashes()?;
            if let Step::HostOnly(timer) = step {
                self.wait(timer);
                looked = Instant::now();
            } else if self.machine.now() >= self.host_read + HOST_INTERVAL {
                self.read_host();
            }
        }
        self.flush_uart();
        Ok(())
    }

    fn report_crashes(&mut self) -> Result<(), String> {
        for why in std::mem::take(&mut self.machine.crashes) {
            self.flush_uart();
            if self.machine.state(0) == CoreState::Crashed {
                return Err(why);
            }
            eprintln!("kairos-emulator: {why}");
        }
        Ok(())
    }

    /// Moves data between host and gateway.
    fn read_host(&mut self) {
        let now = self.machine.now();
        self.host_read = now;
        if self.machine.ready && self.forwarder.pump(&mut self.machine.net) {
            self.machine.net.poll(now);
            self.still_since = None;
            self.follow = None;
            self.progress.1 = now;
        }
        self.machine.host_listens = self.forwarder.host_listens();
    }

    /// Whether `timer` is due soon after progress.
    fn belongs_to_progress(&mut self, timer: Cycles) -> bool {
        let kernel = self.machine.cores[1].instructions();
        if self.progress.0 != kernel {
            self.progress = (kernel, self.machine.now());
        }
        timer <= self.progress.1 + SHORT
    }

    /// Only the host can make progress, or what is due at `timer`.
    fn wait(&mut self, timer: Option<Cycles>) {
        self.flush_uart();
        if self.machine.ready && !self.announced {
            self.announce();
        }
        self.serve_control();
        // Before the host is looked at: what happens does not depend on how quick it is.
        if let Some(timer) = timer.filter(|&t| self.belongs_to_progress(t)) {
            self.machine.move_to(timer);
            return;
        }
        let listened = self.machine.host_listens;
        self.read_host();
        if self.shutdown || self.machine.net.next().is_some() || self.machine.host_listens != listened {
            return;
        }
        let since = *self.still_since.get_or_insert_with(Instant::now);
        let still = self.options.host_wait.saturating_sub(since.elapsed());
        let (Some(timer), false) = (timer, self.forwarder.is_unconnected()) else {
            self.still_since = None;
            self.sleep(Duration::from_secs(1));
            return;
        };
        if !still.is_zero() {
            self.sleep(still);
            return;
        }
        let now = self.machine.now();
        let (from, base) = *self.follow.get_or_insert_with(|| (Instant::now(), now));
        let reached = base + time::from_ns(from.elapsed().as_nanos() as u64);
        if reached >= timer {
            self.machine.move_to(timer);
        } else {
            self.sleep(Duration::from_nanos(time::to_ns(timer - reached)));
        }
    }

    /// Sleeps until a socket has something, at most for `limit`.
    fn sleep(&mut self, limit: Duration) {
        let mut fds: Vec<libc::pollfd> = Vec::new();
        let mut add = |fd: RawFd, read: bool, write: bool| {
            let events = if read { libc::POLLIN } else { 0 } | if write { libc::POLLOUT } else { 0 };
            if events != 0 {
                fds.push(libc::pollfd { fd, events, revents: 0 });
            }
        };
        if self.machine.ready {
            for (fd, read, write) in self.forwarder.interests(&mut self.machine.net) {
                add(fd, read, write);
            }
        }
        if let Some(control) = &self.control {
            add(control.listener.as_raw_fd(), true, false);
            for client in &control.clients {
                add(client.stream.as_raw_fd(), true, false);
            }
        }
        let timeout = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        };
        // SAFETY: `fds` is an array of that length; the timeout is a local.
        unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, &timeout, std::ptr::null()) };
    }

    fn announce(&mut self) {
        self.announced = true;
        let forwards: serde_json::Map<String, Value> = self
            .forwarder
            .ports()
            .into_iter()
            .map(|(guest, host)| (guest, host.into()))
            .collect();
        let line = json!({
            "event": "ready",
            "forwards": forwards,
            "wall_s": self.started.elapsed().as_secs_f64(),
            "time_ns": time::to_ns(self.machine.now()),
        });
        let mut out = std::io::stdout().lock();
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            self.shutdown = true; // whoever started the emulator is gone
        }
    }

    fn flush_uart(&mut self) {
        let new = &self.machine.uart[self.uart_written..];
        if let (Some(file), false) = (&mut self.options.uart, new.is_empty()) {
            if let Err(e) = file.write_all(new).and_then(|()| file.flush()) {
                log::warn!("uart: {e}");
            }
        }
        self.uart_written = self.machine.uart.len();
    }

    fn serve_control(&mut self) {
        let Some(mut control) = self.control.take() else { return };
        while let Ok((stream, _)) = control.listener.accept() {
            if stream.set_nonblocking(true).is_ok() {
                control.clients.push(Client {
                    stream,
                    input: Vec::new(),
                    first: !control.accepted,
                });
                control.accepted = true;
            }
        }
        let mut kept = Vec::new();
        for mut client in control.clients.drain(..) {
            let open = client.read();
            while let Some(end) = client.input.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = client.input.drain(..=end).collect();
                let reply = match serde_json::from_slice(&line) {
                    Ok(request) => self.answer(request).unwrap_or_else(|e| json!({ "error": e })),
                    Err(e) => json!({ "error": format!("bad request: {e}") }),
                };
                client.reply(&reply);
            }
            if open {
                kept.push(client);
            } else if client.first && self.options.exit_with_control {
                self.shutdown = true;
            }
        }
        control.clients = kept;
        self.control = Some(control);
    }

    fn answer(&mut self, request: Request) -> Result<Value, String> {
        let machine = &mut self.machine;
        let mut bus = machine.bus.borrow_mut();
        let no_pl = || "there is no gateware; start the emulator with --pl".to_string();
        Ok(match request {
            Request::Status => json!({
                "time_ns": time::to_ns(machine.now()),
                "instructions": [machine.cores[0].instructions(), machine.cores[1].instructions()],
                "pl_cycles": bus.pl.as_ref().map_or(0, |p| p.clocked),
                "pl_cycles_skipped": bus.pl.as_ref().map_or(0, |p| p.skipped),
                "uart_bytes": machine.uart_bytes,
                "pl_slips": bus.pl.as_ref().map_or(0, |p| p.slips),
                "clock_output": bus.gpio.clock_output(machine.now()),
                "queued": bus.pl.as_ref().is_some_and(|p| p.next().is_some()),
                "wall_s": self.started.elapsed().as_secs_f64(),
                "state": [state_name(machine.state(0)), state_name(machine.state(1))],
                "pc": [machine.cores[0].pc(), machine.cores[1].pc()],
                "sev_count": bus.sev_count,
                "sev_cycles": bus.sev_cycles,
            }),
            Request::Trace { from } => {
                let pl = bus.pl.as_ref().ok_or_else(no_pl)?;
                let pads: Vec<Value> = pl
                    .info()
                    .pads
                    .iter()
                    .map(|p| json!({ "index": p.index, "name": p.name, "channel": p.channel }))
                    .collect();
                let events = &pl.trace.events;
                let new: Vec<Value> = events
                    .get(from..)
                    .unwrap_or_default()
                    .iter()
                    .map(|e| json!([e.time_ns, e.pad, e.level.map(u8::from)]))
                    .collect();
                json!({ "pads": pads, "events": new, "next": events.len() })
            }
            Request::TraceClear => {
                bus.pl.as_mut().ok_or_else(no_pl)?.trace.clear();
                json!({})
            }
            Request::Uart { from } => {
                let text = String::from_utf8_lossy(machine.uart.get(from..).unwrap_or_default());
                json!({ "text": text, "next": machine.uart.len() })
            }
            Request::Set { skip } => {
                bus.pl.as_mut().ok_or_else(no_pl)?.skip = skip;
                json!({})
            }
            Request::Pad { index, level } => {
                bus.pl.as_mut().ok_or_else(no_pl)?.set_pad(index, level != 0)?;
                json!({})
            }
            Request::Clock { input } => {
                let now = machine.now();
                bus.gpio.set_clock_input(input, now);
                json!({})
            }
            Request::Write { address, value } => {
                let now = machine.now();
                if address % 4 != 0 {
                    return Err(format!("{address:#x} is not the address of a word"));
                }
                if bus.memory.write(address, &value.to_le_bytes()) {
                    bus.requests.flush_code = [true; 2];
                } else {
                    bus.write(0, address, 4, value, now);
                }
                json!({})
            }
            Request::Shutdown => {
                self.shutdown = true;
                json!({})
            }
        })
    }
}

fn state_name(state: CoreState) -> &'static str {
    match state {
        CoreState::Running => "running",
        CoreState::WaitInterrupt => "wfi",
        CoreState::WaitEvent => "wfe",
        CoreState::Reset => "reset",
        CoreState::BootRom => "boot_rom",
        CoreState::Crashed => "crashed",
    }
}

impl Client {
    /// Reads what is there; false at the end of the stream.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(n) => self.input.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return true,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Sends a reply, however long: the client is waiting for it.
    fn reply(&mut self, value: &Value) {
        let _ = self.stream.set_nonblocking(false);
        let _ = self.stream.set_write_timeout(Some(Duration::from_secs(5)));
        let _ = self.stream.write_all(format!("{value}\n").as_bytes());
        let _ = self.stream.set_nonblocking(true);
    }
}
