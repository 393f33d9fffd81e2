//! Supervision of the kernel core (core 1): its image; starting, killing and restarting it; and
//! messages to and from it.
//!
//! A kernel can be killed at any instruction. It shares only memory with this core,
//! whose rings are emptied while core 1 is held in the restart handshake ([`kairos_intercore`]).

use core::future::{poll_fn, Future};
use core::pin::Pin;
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::{Context, Poll};

use embassy_futures::yield_now;
use embassy_sync::waitqueue::AtomicWaker;
use embassy_time::{with_timeout, Duration, Instant, Timer};
use heapless::{String, Vec};
use kairos_chip::cache::clean;
use kairos_chip::gic::{barrier, send_sgi};
use kairos_health::heartbeat::Heartbeat;
use kairos_intercore::memory::KERNEL_IMAGE;
use kairos_intercore::{Corrupt, Frame, Kind, Receiver, Sender, Shared, State, REASON_MAX, SGI_DATA, SGI_RESTART};
use kairos_proto::intercore::Library;
use kairos_proto::layout::Layout;
use log::Level;
use zynq7000_hal::slcr::Slcr;

use crate::{report, secondary};

/// `kernel.bin`, as built with this image. It has its own section, so that tools can tell it from
/// this core's code.
pub static IMAGE: &[u8] = &EMBEDDED.0;

#[repr(C, align(32))]
struct Embedded<T: ?Sized>(T);
const LENGTH: usize = include_bytes!(concat!(env!("OUT_DIR"), "/kernel.bin")).len();
#[link_section = ".kernel_image"]
static EMBEDDED: Embedded<[u8; LENGTH]> = Embedded(*include_bytes!(concat!(env!("OUT_DIR"), "/kernel.bin")));
const _: () = assert!(
    LENGTH <= KERNEL_IMAGE.end - KERNEL_IMAGE.start,
    "kernel.bin does not fit into its region"
);

/// A running core 1 answers a restart within microseconds.
const RESTART_TIMEOUT: Duration = Duration::from_millis(20);
/// After a reset core 1 also sets up caches and MMU. On QEMU it may have to wait for a busy host.
const RESET_TIMEOUT: Duration = Duration::from_millis(200);
/// Longest line of a kernel's log, in bytes; a longer one is split.
const LINE_MAX: usize = 1024;
/// Interval between retries while the ring to core 1 is full.
const SPACE_INTERVAL: Duration = Duration::from_micros(100);

/// Heartbeat of the task that waits for messages of the kernel core, expected while one waits. The
/// watchdog is fed only if it beats.
pub static SUPERVISION: Heartbeat = Heartbeat::new(false);

static BELL: AtomicWaker = AtomicWaker::new();

static RESTARTS: AtomicU32 = AtomicU32::new(0);
static RESETS: AtomicU32 = AtomicU32::new(0);
static SILENCES: AtomicU32 = AtomicU32::new(0);
static FAULTS: AtomicU32 = AtomicU32::new(0);

/// Counts of events on the kernel core since this start.
pub struct Counts {
    /// Restarts, to load or to kill a kernel.
    pub restarts: u32,
    /// Resets, at the first start or because the core did not answer.
    pub resets: u32,
    /// Resets that the core did not answer either.
    pub silences: u32,
    /// Aborts and panics.
    pub faults: u32,
}

/// The counts of events on the kernel core since this start.
pub fn counts() -> Counts {
    let [restarts, resets, silences, faults] =
        [&RESTARTS, &RESETS, &SILENCES, &FAULTS].map(|count| count.load(Ordering::Relaxed));
    Counts {
        restarts,
        resets,
        silences,
        faults,
    }
}

/// Interrupt handler for the data interrupt from core 1.
pub fn on_bell() {
    BELL.wake();
}

/// Why a session with the kernel core cannot continue. The core must be restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The core does not answer, not even to a reset.
    Silent,
    /// An abort or a panic; its text has been logged.
    Fault,
    /// The contents of a ring are invalid: the kernel has overwritten it.
    Corrupt,
    /// A message of this kind in a state that does not allow it.
    Unexpected(Kind),
}

impl core::fmt::Display for Failure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Failure::Silent => "the kernel core does not answer, even after a reset",
            Failure::Fault => "fault on the kernel core",
            Failure::Corrupt => "the kernel has overwritten the memory between the cores",
            Failure::Unexpected(kind) => return write!(f, "unexpected message {} from the kernel core", *kind as u8),
        })
    }
}

impl From<Corrupt> for Failure {
    fn from(_: Corrupt) -> Self {
        Failure::Corrupt
    }
}

/// The kernel core, owned by the task that serves a session.
pub struct KernelCore {
    shared: &'static Shared,
    ends: Option<(Sender<'static>, Receiver<'static>)>,
    released: bool,
    /// A library has been loaded, and its kernel has not ended by itself.
    occupied: bool,
    /// The kernel's log output since its last line break, with its level.
    line: (Level, Vec<u8, LINE_MAX>),
}

impl KernelCore {
    /// Claims the kernel core, not yet released from reset. Called once.
    pub fn claim() -> Self {
        let shared = Shared::get();
        shared.initialise();
        Self {
            shared,
            ends: None,
            released: false,
            occupied: false,
            line: (Level::Info, Vec::new()),
        }
    }

    /// Kills any kernel and brings the core into its main loop with empty rings.
    pub async fn restart(&mut self) -> Result<(), Failure> {
        self.flush_line();
        self.ends = None;
        self.occupied = false;
        RESTARTS.fetch_add(1, Ordering::Relaxed);
        self.shared.request_restart();
        if self.released {
            send_sgi(1, SGI_RESTART);
            if self.enter(RESTART_TIMEOUT).await {
                return Ok(());
            }
            log::warn!("the kernel core does not answer, resetting it");
        }
        RESETS.fetch_add(1, Ordering::Relaxed);
        self.reset();
        if self.enter(RESET_TIMEOUT).await {
            return Ok(());
        }
        SILENCES.fetch_add(1, Ordering::Relaxed);
        log::error!("{}", Failure::Silent);
        Err(Failure::Silent)
    }

    /// Makes the core load a library, which must not change until the answer. Each kernel starts on
    /// a freshly restarted core, without state of the previous one.
    pub async fn load(&mut self, library: &[u8]) -> Result<(), Failure> {
        self.restart().await?;
        let location = Library {
            address: library.as_ptr() as u32,
            length: library.len() as u32,
        };
        self.send(Kind::Load, &location.encode(), false).await
    }

    /// Kills a loaded or running kernel, and restarts a core that has failed.
    pub async fn stop(&mut self) {
        if self.occupied || self.shared.state() == State::Faulted {
            // The failure has been logged; the next load tries again and reports to its client.
            let _ = self.restart().await;
        }
    }

    /// Records that the kernel has ended by itself.
    pub fn ended(&mut self) {
        self.flush_line();
        self.occupied = false;
    }

    /// Completes the handshake of a requested restart.
    async fn enter(&mut self, timeout: Duration) -> bool {
        let restarted = poll_fn(|cx| {
            BELL.register(cx.waker());
            if self.shared.has_restarted() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        if with_timeout(timeout, restarted).await.is_err() {
            return false;
        }
        // SAFETY: `restart` has dropped the ends handed out before.
        self.ends = unsafe { self.shared.grant(|| send_sgi(1, SGI_DATA)) };
        self.ends.is_some()
    }

    /// Resets core 1 and starts it on a fresh copy of its image.
    fn reset(&mut self) {
        // SAFETY: no other code uses the SLCR now.
        unsafe {
            Slcr::with(|slcr| {
                let mut reset = slcr.reset_ctrl();
                reset.modify_a9_cpu(|cpu| cpu.with_cpu1_reset(true));
                reset.modify_a9_cpu(|cpu| cpu.with_cpu1_clockstop(true));
            });
        }
        // SAFETY: the region belongs to core 1, which is stopped; source and destination do not
        // overlap.
        unsafe { core::ptr::copy_nonoverlapping(IMAGE.as_ptr(), KERNEL_IMAGE.start as *mut u8, IMAGE.len()) };
        clean(KERNEL_IMAGE.start, IMAGE.len());
        let boot = &self.shared.boot;
        boot.ttbr0
            .store(aarch32_cpu::register::Ttbr0::read().raw_value(), Ordering::Relaxed);
        boot.dacr
            .store(aarch32_cpu::register::Dacr::read().raw_value(), Ordering::Relaxed);
        clean(core::ptr::from_ref(boot) as usize, core::mem::size_of_val(boot));
        barrier();
        // SAFETY: no other code uses the SLCR, and what core 1 needs to start, the branch at address 0
        // and the image, is in memory.
        unsafe {
            Slcr::with(|slcr| {
                let mut reset = slcr.reset_ctrl();
                reset.modify_a9_cpu(|cpu| cpu.with_cpu1_reset(false));
                reset.modify_a9_cpu(|cpu| cpu.with_cpu1_clockstop(false));
            });
        }
        secondary::open();
        self.released = true;
    }

    /// Waits for the next frame from the kernel core. Log frames are logged and not returned.
    /// Cancel-safe: dropping the future loses nothing.
    pub async fn next_frame(&mut self) -> Result<Frame, Failure> {
        loop {
            let expected = SUPERVISION.expect();
            let frame = poll_fn(|cx| self.poll_frame(cx)).await?;
            drop(expected);
            match frame.kind {
                Kind::Log => self.log().await?,
                _ => return Ok(frame),
            }
        }
    }

    /// Waits for the next frame, of any kind; `None` if `poll_other` is ready first, or the deadline
    /// has passed.
    pub async fn next_frame_or(
        &mut self,
        deadline: Option<Instant>,
        mut poll_other: impl FnMut(&mut Context<'_>) -> Poll<()>,
    ) -> Result<Option<Frame>, Failure> {
        let _expected = SUPERVISION.expect();
        let mut timer = deadline.map(Timer::at);
        poll_fn(|cx| {
            if let Poll::Ready(frame) = self.poll_frame(cx) {
                return Poll::Ready(frame.map(Some));
            }
            let mut is_due = poll_other(cx).is_ready();
            if let Some(timer) = &mut timer {
                is_due |= Pin::new(timer).poll(cx).is_ready();
            }
            match is_due {
                true => Poll::Ready(Ok(None)),
                false => Poll::Pending,
            }
        })
        .await
    }

    /// Polls for the next frame, of any kind. The caller must expect the heartbeat of
    /// [`SUPERVISION`] while it waits.
    pub fn poll_frame(&mut self, cx: &Context<'_>) -> Poll<Result<Frame, Failure>> {
        SUPERVISION.beat();
        // In this order: core 1 may ring at any time, and frames sent before a failure must be
        // received.
        BELL.register(cx.waker());
        let faulted = self.ends.is_some() && self.shared.state() == State::Faulted;
        let frame = match &mut self.ends {
            Some((_, receiver)) => receiver.next_frame(),
            // A core that could not be started sends nothing.
            None => Ok(None),
        };
        match frame {
            Ok(Some(frame)) => Poll::Ready(Ok(frame)),
            Ok(None) | Err(Corrupt) if faulted => {
                self.log_fault();
                Poll::Ready(Err(Failure::Fault))
            }
            Ok(None) => Poll::Pending,
            Err(Corrupt) => Poll::Ready(Err(Failure::Corrupt)),
        }
    }

    /// Logs the `Log` frame that was received last.
    pub async fn log(&mut self) -> Result<(), Failure> {
        self.log_frame()?;
        // A kernel can log faster than this core formats; the host must still be able to end it.
        yield_now().await;
        Ok(())
    }

    /// Reads from the payload of the frame that `next_frame` returned. A short read occurs only at
    /// its end.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Failure> {
        let (_, receiver) = self.ends.as_mut().ok_or(Failure::Silent)?;
        Ok(receiver.read(bytes)?)
    }

    /// Reads the record that comes next in the payload of the current frame.
    pub fn record<L: Layout>(&mut self) -> Result<L, Failure> {
        let mut bytes = L::Bytes::default();
        match self.read(bytes.as_mut())? {
            length if length == L::LENGTH => Ok(L::from_bytes(&bytes)),
            _ => Err(Failure::Corrupt),
        }
    }

    /// The payload of the current frame as text, truncated to `N` bytes.
    pub fn text<const N: usize>(&mut self) -> Result<String<N>, Failure> {
        let mut bytes = [0; N];
        let length = self.read(&mut bytes)?;
        let text = bytes[..length].utf8_chunks().next().map_or("", |chunk| chunk.valid());
        Ok(String::try_from(text).unwrap_or_default())
    }

    /// Unread payload bytes of the current frame.
    pub fn remaining(&self) -> usize {
        self.ends.as_ref().map_or(0, |(_, receiver)| receiver.remaining())
    }

    /// Sends as much of a message's payload as fits, in one frame; `None` if nothing does.
    pub fn try_send(&mut self, kind: Kind, payload: &[u8], more: bool) -> Option<usize> {
        let (sender, _) = self.ends.as_mut()?;
        sender.try_send(kind, payload, more)
    }

    /// Waits briefly for space in the ring.
    pub async fn wait_for_space(&mut self) -> Result<(), Failure> {
        if self.ends.is_none() {
            return Err(Failure::Silent);
        }
        if self.shared.state() == State::Faulted {
            self.log_fault();
            return Err(Failure::Fault);
        }
        Timer::after(SPACE_INTERVAL).await;
        Ok(())
    }

    /// Sends a message, waiting for space. `more`: the message continues with the next call.
    pub async fn send(&mut self, kind: Kind, mut payload: &[u8], more: bool) -> Result<(), Failure> {
        self.occupied = true;
        loop {
            match self.try_send(kind, payload, more) {
                Some(taken) if taken == payload.len() => return Ok(()),
                Some(taken) => payload = &payload[taken..],
                None => self.wait_for_space().await?,
            }
        }
    }

    /// Logs the text of a `Log` frame line by line, under the target `kernel`.
    fn log_frame(&mut self) -> Result<(), Failure> {
        let mut level = [0];
        self.read(&mut level)?;
        self.line.0 = match level[0] {
            1 => Level::Error,
            2 => Level::Warn,
            4 => Level::Debug,
            5 => Level::Trace,
            _ => Level::Info,
        };
        let mut bytes = [0; 256];
        loop {
            let length = self.read(&mut bytes)?;
            if length == 0 {
                return Ok(());
            }
            for &byte in &bytes[..length] {
                if byte == b'\n' {
                    self.flush_line();
                    continue;
                }
                if self.line.1.is_full() {
                    self.split_line();
                }
                let _ = self.line.1.push(byte);
            }
        }
    }

    /// Ends and logs the kernel's current line.
    fn flush_line(&mut self) {
        if !self.line.1.is_empty() {
            let (level, text) = &self.line;
            if *level <= log::max_level() {
                crate::logger::write(*level, "kernel", format_args!("{}", Lossy(text)));
            }
            self.line.1.clear();
        }
    }

    /// Splits a line that is too long. An incomplete character moves to the next line.
    fn split_line(&mut self) {
        let cut = match core::str::from_utf8(&self.line.1) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.line.1.len(),
        };
        let mut begun = Vec::<u8, 4>::new();
        let _ = begun.extend_from_slice(&self.line.1[cut..]);
        self.line.1.truncate(cut);
        self.flush_line();
        let _ = self.line.1.extend_from_slice(&begun);
    }

    fn log_fault(&self) {
        let mut buffer = [0; REASON_MAX];
        let reason = self.shared.reason(&mut buffer);
        FAULTS.fetch_add(1, Ordering::Relaxed);
        log::error!("kernel core: {reason}");
        report::keep(report::Core::Kernel, format_args!("{reason}"));
    }
}

/// Bytes displayed as text, with U+FFFD in place of invalid UTF-8.
struct Lossy<'a>(&'a [u8]);

impl core::fmt::Display for Lossy<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_str("\u{fffd}")?;
            }
        }
        Ok(())
    }
}

/// Writes a branch to the kernel core's image at the reset vector. Must run before the low megabyte
/// is protected.
pub fn write_reset_branch() {
    /// `ldr pc, [pc, #-4]`: loads the word after it.
    const LOAD_PC: u32 = 0xe51f_f004;
    // SAFETY: writes the first two words of on-chip memory (or DDR), which nothing else uses. In
    // assembly, as address 0 is a null pointer to Rust.
    unsafe {
        core::arch::asm!(
            "str {branch}, [{zero}]",
            "str {target}, [{zero}, #4]",
            zero = in(reg) 0,
            branch = in(reg) LOAD_PC,
            target = in(reg) KERNEL_IMAGE.start,
            options(nostack)
        );
    }
    clean(0, 8);
}
