//! The main loop: runs the machine, and connects it to the host through the network, the control
//! socket and, where it matters, the wall clock.

use std::cell::RefCell;
use std::io::Write;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::{json, Value};

use super::boards::Boards;
use super::control::Control;
use super::copy;
use super::failure::report;
use super::forward::{ready, Forwarder};
use super::net::Net;
use super::requests::{answer, parsed, Answer, Fork, Run};
use crate::machine::schedule::{CoreState, Step};
use crate::machine::time::{self, Cycles};
use crate::pl::bench::Bench;

/// Options of the loop.
#[derive(Default)]
pub struct Options {
    /// End when the first control client disconnects.
    pub exit_with_control: bool,
    /// Where UART text goes, besides the control socket.
    pub uart: Option<Box<dyn Write>>,
    /// Wall-clock time to wait for the host before virtual time advances.
    pub host_wait: Duration,
}

/// The boards with their connections to the host.
pub struct Host {
    boards: Boards,
    net: Rc<RefCell<Net>>,
    forwarder: Forwarder,
    control: Option<Control>,
    options: Options,
    started: Instant,
    announced: bool,
    reported_offline: bool,
    host_read: Cycles,
    still_since: Option<Instant>,
    /// What virtual time has reached by following the wall clock.
    follow: Option<Cycles>,
    /// Instruction count of core 1, and the time, when the host or the kernel core last made
    /// progress.
    progress: (u64, Cycles),
    /// Number of sleeps left that begin without polling.
    polls_until_check: u32,
    /// Why UART text could not be written; text after that is dropped.
    uart_failed: Option<String>,
    /// This process is a copy of another one.
    is_copy: bool,
    shutdown: bool,
}

/// Timers due within this time (150 us) of progress or of the arrival of a frame count as part of
/// it (receive coalescing, for instance) and do not wait for the host.
const SHORT: Cycles = time::CPU_HZ / 1_000_000 * 150;

/// How long to poll while a host is connected before this process sleeps. A host that has to answer
/// a call of a kernel does so within this time, and waking this process takes half as long.
const AWAKE: Duration = Duration::from_micros(100);
/// Number of sleeps without polling after polling found nothing: the host is busy with other things,
/// or has no processor.
const POLLS_BETWEEN_CHECKS: u32 = 16;

/// Virtual time between polls of the host's sockets while cores are busy.
const HOST_INTERVAL: Cycles = time::CPU_HZ / 1000;

/// A sleep may end this much later than asked (10 ms) and still count as a whole. After any longer one this process, or
/// the computer, was halted.
const OVERSLEPT: Cycles = time::CPU_HZ / 100;

/// What virtual time has reached by waiting for `timer`. Where a sleep ends later than asked, the next timers are due
/// sooner: otherwise each of those that follow each other closely would take as long as the shortest sleep.
fn followed(reached: Cycles, waited: Cycles, timer: Cycles) -> Cycles {
    (reached + waited).min(timer + OVERSLEPT)
}

impl Host {
    /// Creates the host, ready to [`Self::run`]. `net`: the gateway at the other end of the first
    /// board's cable.
    pub fn new(
        boards: Boards,
        net: Rc<RefCell<Net>>,
        forwarder: Forwarder,
        control: Option<Control>,
        options: Options,
    ) -> Self {
        Self {
            boards,
            net,
            forwarder,
            control,
            options,
            started: Instant::now(),
            announced: false,
            reported_offline: false,
            host_read: 0,
            still_since: None,
            follow: None,
            progress: (0, 0),
            polls_until_check: 0,
            uart_failed: None,
            is_copy: false,
            shutdown: false,
        }
    }

    /// Counts wall-clock time from `started` (the start of the process).
    pub fn started_at(mut self, started: Instant) -> Self {
        self.started = started;
        self
    }

    /// Runs until shutdown is requested or core 0 crashes. The error is a one-line message for the
    /// user.
    pub fn run(&mut self) -> Result<(), String> {
        let mut checked = Instant::now();
        let mut turns = 0u32;
        while !self.shutdown {
            let step = self.boards.system.step();
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(64) && checked.elapsed() > Duration::from_millis(5) {
                checked = Instant::now();
                self.flush_uart();
                self.serve_control();
                self.report_bench()?;
            }
            self.report_crashes()?;
            if let Step::HostOnly(timer) = step {
                self.report_bench()?;
                self.wait(timer);
                checked = Instant::now();
            } else if self.boards.master().now() >= self.host_read + HOST_INTERVAL {
                self.read_host();
            }
        }
        self.flush_uart();
        if self.is_copy {
            // The translator would wait for threads that only the original has.
            copy::exit();
        }
        self.uart_failed
            .take()
            .map_or(Ok(()), |why| Err(format!("the UART output is incomplete: {why}")))
    }

    fn report_crashes(&mut self) -> Result<(), String> {
        for why in self.boards.take_crashes() {
            self.flush_uart();
            if self.boards.master().state(0) == CoreState::Crashed {
                return Err(why);
            }
            report(why);
        }
        Ok(())
    }

    /// Returns an error if a part of the bench has failed.
    fn report_bench(&mut self) -> Result<(), String> {
        let failure = self.boards.bench().ok().and_then(Bench::failure);
        failure.map_or(Ok(()), |why| Err(format!("bench: {why}")))
    }

    /// Transfers data between host and gateway.
    fn read_host(&mut self) {
        let now = self.boards.master().now();
        self.host_read = now;
        if self.boards.master().ready {
            self.net.borrow_mut().ask_again(now);
            let input = self.forwarder.pump(&mut self.net.borrow_mut());
            if input.any {
                self.net.borrow_mut().poll(now);
                self.progress.1 = now;
            }
            // A monitor or a log that polls is not what a kernel waits for; virtual time would
            // never advance.
            if input.session {
                self.still_since = None;
                self.follow = None;
            }
        }
        self.boards.system.master_mut().host_listens = self.forwarder.host_listens();
    }

    /// Whether `timer` is due soon after progress.
    fn belongs_to_progress(&mut self, timer: Cycles) -> bool {
        let master = self.boards.master();
        let kernel = master.cores[1].instructions();
        if self.progress.0 != kernel {
            self.progress = (kernel, master.now());
        }
        timer <= self.progress.1.max(self.net.borrow().delivered) + SHORT
    }

    /// Handles the state in which only the host, or the event due at `timer`, can make progress.
    fn wait(&mut self, timer: Option<Cycles>) {
        self.flush_uart();
        if self.boards.master().ready && !self.announced {
            self.announce();
        }
        if self.boards.master().is_offline() && !self.reported_offline {
            self.reported_offline = true;
            self.announce_event(&json!({ "event": "offline" }));
        }
        self.serve_control();
        // Before polling the host, so that the result does not depend on its speed.
        if let Some(timer) = timer.filter(|&t| self.belongs_to_progress(t)) {
            self.boards.system.move_to(timer);
            return;
        }
        let listened = self.boards.master().host_listens;
        self.read_host();
        if self.shutdown || self.net.borrow().next().is_some() || self.boards.master().host_listens != listened {
            return;
        }
        if self.answer_idle() || self.let_clocks_run(timer) {
            return;
        }
        let since = *self.still_since.get_or_insert_with(Instant::now);
        let still = self.options.host_wait.saturating_sub(since.elapsed());
        let (Some(timer), false) = (timer, self.forwarder.is_unconnected()) else {
            (self.still_since, self.follow) = (None, None);
            self.sleep(Duration::from_secs(1));
            return;
        };
        if !still.is_zero() {
            self.sleep(still);
            return;
        }
        self.follow_wall_clock(timer);
    }

    /// Waits for the host until `timer` is due. Only the time that is spent waiting counts: what the host waited for a
    /// device that is emulated slowly, or while nothing was connected, is not made up for at once.
    fn follow_wall_clock(&mut self, timer: Cycles) {
        let now = self.boards.master().now();
        let reached = self.follow.map_or(now, |reached| reached.max(now));
        if reached >= timer {
            self.boards.system.move_to(timer);
            return;
        }
        let began = Instant::now();
        self.sleep(Duration::from_nanos(time::to_ns(timer - reached)));
        let waited = time::from_ns(began.elapsed().as_nanos() as u64);
        self.follow = Some(followed(reached, waited, timer));
    }

    /// Sleeps until a socket is ready, at most for `limit`.
    fn sleep(&mut self, limit: Duration) {
        let limit = self.time_left().map_or(limit, |left| left.min(limit));
        let mut fds: Vec<libc::pollfd> = Vec::new();
        let mut add = |fd: RawFd, read: bool, write: bool| {
            let events = if read { libc::POLLIN } else { 0 } | if write { libc::POLLOUT } else { 0 };
            if events != 0 {
                fds.push(libc::pollfd { fd, events, revents: 0 });
            }
        };
        if self.boards.master().ready {
            for (fd, read, write) in self.forwarder.interests(&mut self.net.borrow_mut()) {
                add(fd, read, write);
            }
        }
        if let Some(control) = &self.control {
            for fd in control.descriptors() {
                add(fd, true, false);
            }
        }
        self.polls_until_check = self.polls_until_check.saturating_sub(1);
        if self.boards.master().host_listens && self.polls_until_check == 0 {
            let began = Instant::now();
            while began.elapsed() < AWAKE.min(limit) {
                // SAFETY: the pointer and length are those of `fds`.
                if unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, 0) } != 0 {
                    return;
                }
                std::thread::yield_now();
            }
            self.polls_until_check = POLLS_BETWEEN_CHECKS;
        }
        let timeout = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        };
        // SAFETY: the pointer and length are those of `fds`; the timeout is a local.
        unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, &timeout, std::ptr::null()) };
    }

    fn announce(&mut self) {
        self.announced = true;
        self.announce_event(&json!({
            "event": "ready",
            "forwards": self.forwarder.by_port(),
            "wall_s": self.started.elapsed().as_secs_f64(),
            "time_ns": time::to_ns(self.boards.master().now()),
        }));
    }

    /// Prints an event for the program that started the emulator.
    fn announce_event(&mut self, event: &Value) {
        let mut out = std::io::stdout().lock();
        if writeln!(out, "{event}").and_then(|()| out.flush()).is_err() {
            self.shutdown = true; // the process that started the emulator is gone
        }
    }

    /// Writes the UARTs' output. A failed write, for instance to a full disk, does not stop the
    /// emulator: it is reported at the control socket and at the end.
    fn flush_uart(&mut self) {
        let new = self.boards.new_text(self.shutdown);
        if new.is_empty() {
            return;
        }
        if let Some(file) = &mut self.options.uart {
            if let Err(e) = file.write_all(&new).and_then(|()| file.flush()) {
                self.uart_failed = Some(e.to_string());
                self.options.uart = None; // stops at the first failure, so no line is missing from the middle
            }
        }
    }

    /// Serves pending requests.
    fn serve_control(&mut self) {
        let Some(mut control) = self.control.take() else { return };
        let mut readable = ready(control.descriptors()).into_iter();
        let known = control.clients.len();
        if readable.len() > known && readable.next_back() == Some(true) {
            control.accept();
        }
        let mut readable = readable.take(known).chain(std::iter::repeat(true));
        let run = Run {
            started: self.started,
            uart_failed: self.uart_failed.as_deref(),
            forwarder: &self.forwarder,
        };
        let mut forked = None;
        control.clients.retain_mut(|client| {
            if forked.is_some() {
                return true; // it is served by the other process
            }
            let open = readable.next() != Some(true) || client.read();
            loop {
                let waited = client.waiting.as_ref().map(|(wait, _)| wait.reply(&self.boards, false));
                match waited {
                    Some(None) => break,
                    Some(Some(reply)) => client.finish(reply),
                    None => {
                        let Some(line) = client.request() else { break };
                        let (request, id) = parsed(&line);
                        match request.and_then(|request| answer(&mut self.boards, request, &run)) {
                            Ok(Answer::Now(reply)) => client.reply(reply, id),
                            Ok(Answer::Later(wait)) => client.waiting = Some((wait, id)),
                            Ok(Answer::Fork(fork)) => {
                                let own = client
                                    .passed
                                    .take()
                                    .ok_or("a copy needs a socket, to be passed with the request");
                                match own.map_err(String::from).and_then(|own| Ok((copy::forked()?, own))) {
                                    Ok((None, own)) => {
                                        forked = Some((fork, Control::connected(own)));
                                        return true;
                                    }
                                    Ok((Some(pid), _)) => client.reply(json!({ "pid": pid }), id),
                                    Err(error) => client.reply(json!({ "error": error }), id),
                                }
                            }
                            Ok(Answer::End) => {
                                client.reply(json!({}), id);
                                self.shutdown = true;
                            }
                            Err(error) => client.reply(json!({ "error": error }), id),
                        }
                    }
                }
            }
            self.shutdown |= !open && client.first && self.options.exit_with_control;
            open
        });
        match forked {
            None => self.control = Some(control),
            Some((fork, own)) => self.begin_as_copy(control, own, &fork),
        }
    }

    /// Begins as the copy, with the control socket `own`, of a process that had the control socket `control`.
    fn begin_as_copy(&mut self, control: Control, own: Control, fork: &Fork) {
        control.leave();
        match self.forwarder.elsewhere() {
            Ok(forwarder) => (self.control, self.forwarder) = (Some(own), forwarder),
            Err(why) => {
                report(why);
                self.shutdown = true;
            }
        }
        // Whoever started the other process reads its standard output.
        (self.announced, self.is_copy) = (true, true);
        self.options.uart = None;
        (self.started, self.still_since, self.follow) = (Instant::now(), None, None);
        if let (Some(seed), Ok(bench)) = (fork.seed, self.boards.bench()) {
            bench.reseed(seed);
        }
    }

    /// Answers the clients that wait for idleness; called when the machine can make no progress and
    /// the host is silent. Returns whether there were any.
    fn answer_idle(&mut self) -> bool {
        let mut answered = false;
        for client in self.control.iter_mut().flat_map(|control| &mut control.clients) {
            let waited = client.waiting.as_ref();
            if let Some(reply) = waited.and_then(|(wait, _)| wait.reply(&self.boards, true)) {
                client.finish(reply);
                answered = true;
            }
        }
        answered
    }

    /// If a client waits for a time, no host is connected and clock generators are running,
    /// advances virtual time to the end of that wait, or to `timer` if earlier. Returns whether it
    /// did.
    fn let_clocks_run(&mut self, timer: Option<Cycles>) -> bool {
        let clients = self.control.iter().flat_map(|control| &control.clients);
        let times = clients.filter_map(|client| client.waiting.as_ref()?.0.time());
        let Some(time) = times
            .min()
            .filter(|_| self.forwarder.is_unconnected() && self.boards.runs_on())
        else {
            return false;
        };
        self.boards.system.move_to(timer.map_or(time, |timer| timer.min(time)));
        true
    }

    /// Wall-clock time until the first timeout of a client's wait.
    fn time_left(&self) -> Option<Duration> {
        let clients = self.control.iter().flat_map(|control| &control.clients);
        clients.filter_map(|client| client.waiting.as_ref()?.0.left()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_that_follow_each_other_closely_share_a_sleep() {
        // Timers each microsecond; no sleep ends before 60 of them.
        let (shortest, step) = (60, 1);
        let (mut now, mut reached, mut slept) = (0, 0, 0);
        while now < 600 {
            let timer = now + step;
            if reached < timer {
                reached = followed(reached, shortest, timer);
                slept += shortest;
            }
            now = timer;
        }
        assert_eq!(slept, 600);
    }

    #[test]
    fn time_of_a_halted_process_is_not_made_up_for() {
        let hour = 3600 * time::CPU_HZ;
        assert_eq!(followed(5, hour, 10), 10 + OVERSLEPT);
    }
}
