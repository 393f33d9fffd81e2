//! Kernel sessions: the service on TCP 1381 (wire protocols, section 1).
//!
//! Several clients can be connected. One at a time owns the kernel core: the newest that has sent a
//! valid greeting. It pre-empts the previous one, whose kernel is killed and whose connection is
//! closed. Without a client the idle kernel has the core ([`standalone`]).

mod boards;
mod connection;
mod end;
pub mod standalone;
mod traces;

use core::future::{poll_fn, Future};
use core::pin::pin;
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::Poll;

use embassy_executor::Spawner;
use embassy_futures::select::{select, Either};
use embassy_sync::blocking_mutex::raw::{CriticalSectionRawMutex, NoopRawMutex};
use embassy_sync::mutex::{Mutex, MutexGuard};
use embassy_sync::watch::{Receiver, Watch};
use embassy_time::{with_timeout, Duration};
use kairos_net::{Socket, Stack};
use kairos_proto::session::{GREETING, GREETING_ANSWER, PORT};
use static_cell::StaticCell;

use crate::service::{self, Buffers, Lobby, Places};
use boards::Boards;
use connection::Connection;
use end::End;
use kairos_comms::config::Config;
use kairos_comms::gateware::{self, Rtio};
use kairos_comms::kernel_core::KernelCore;
use kairos_comms::link::Links;
use kairos_comms::uncleared::uncleared;

/// Number of concurrent connections: one being served, others greeting or closing.
pub const SOCKETS: usize = 4;
/// Bytes of socket buffer in each direction.
const SOCKET_BUFFER: usize = 64 * 1024;
/// Longest kernel library, in bytes.
pub const LIBRARY_MAX: usize = 8 * 1024 * 1024;
/// Time for the last bytes to reach the host when a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// State of the client being served; owned by one client at a time.
pub struct Shared {
    kernel: KernelCore,
    /// Buffer for the kernel library while it arrives. Word-aligned, as the kernel core reads ELF
    /// headers from it.
    library: &'static mut [u8; LIBRARY_MAX],
    rtio: Option<Rtio>,
    boards: Boards,
}

type Owner = Mutex<NoopRawMutex, Shared>;

/// The users of the kernel core.
#[derive(Clone, Copy)]
struct Clients {
    /// The startup kernel has ended, and greetings are answered.
    admitted: bool,
    /// Number of the newest client with a valid greeting.
    newest: u32,
    /// Number of clients with a valid greeting whose connections are not closed yet.
    present: u32,
    /// The kernel core is lent, or about to be.
    lent: bool,
}

impl Clients {
    /// Whether an idle kernel may run.
    fn absent(&self) -> bool {
        self.admitted && self.present == 0 && !self.lent
    }
}

static CLIENTS: Watch<CriticalSectionRawMutex, Clients, { SOCKETS + 1 }> = Watch::new_with(Clients {
    admitted: false,
    newest: 0,
    present: 0,
    lent: false,
});

type Arrivals = Receiver<'static, CriticalSectionRawMutex, Clients, { SOCKETS + 1 }>;

/// Counts a client as present until it is dropped.
struct Presence(u32);

impl Presence {
    /// Registers the newest client.
    fn new() -> Self {
        let mut number = 0;
        change(|clients| {
            clients.newest = clients.newest.wrapping_add(1);
            clients.present += 1;
            number = clients.newest;
        });
        Self(number)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        change(|clients| clients.present -= 1);
    }
}

/// Counts the changes of [`CLIENTS`], which need to be polled only after a change.
static CHANGES: AtomicU32 = AtomicU32::new(0);

fn change(how: impl FnOnce(&mut Clients)) {
    CHANGES.fetch_add(1, Ordering::Relaxed);
    if let Some(mut clients) = CLIENTS.try_get() {
        how(&mut clients);
        CLIENTS.sender().send(clients);
    }
}

/// Lends the kernel core for measurements, while no kernel runs or may start.
#[derive(Clone, Copy)]
pub struct Loan(&'static Owner);

/// The kernel core, lent until this is dropped.
pub struct Lent {
    shared: MutexGuard<'static, NoopRawMutex, Shared>,
    _lease: Lease,
}

/// Prevents the idle kernel from starting until this is dropped.
struct Lease;

impl Drop for Lease {
    fn drop(&mut self) {
        change(|clients| clients.lent = false);
    }
}

impl Loan {
    /// Borrows the core; `None` if a session is open, a startup kernel has not ended, or an idle
    /// kernel is set.
    pub async fn take(self) -> Option<Lent> {
        let free = CLIENTS.try_get().is_some_and(|clients| clients.absent());
        if !free || standalone::IS_SET.load(Ordering::Relaxed) {
            return None;
        }
        change(|clients| clients.lent = true);
        let lease = Lease;
        Some(Lent {
            shared: self.0.lock().await,
            _lease: lease,
        })
    }
}

impl Lent {
    pub fn kernel(&mut self) -> &mut KernelCore {
        &mut self.shared.kernel
    }
}

/// Starts the kernel core and the tasks that serve clients.
pub fn start(
    spawner: &Spawner,
    stack: &'static Stack,
    kernel: KernelCore,
    rtio: Option<Rtio>,
    links: Links,
    config: &'static Config,
) -> Loan {
    static OWNER: StaticCell<Owner> = StaticCell::new();
    let owner: &'static Owner = OWNER.init(Mutex::new(Shared {
        kernel,
        library: uncleared!(LIBRARY_MAX),
        rtio,
        boards: Boards::new(links),
    }));
    spawner.spawn(kairos_comms::task(start_kernel_core(owner, config)));
    spawner.spawn(kairos_comms::task(standalone::idle(owner, config)));
    for _ in 0..SOCKETS {
        spawner.spawn(kairos_comms::task(serve(stack, owner)));
    }
    Loan(owner)
}

/// Starts core 1 at boot, so that the first kernel need not wait for it, and a failure to start is
/// noticed. Then runs the startup kernel. Only after that are clients served, and the idle kernel
/// run.
#[embassy_executor::task]
async fn start_kernel_core(owner: &'static Owner, config: &'static Config) {
    let mut shared = owner.lock().await;
    if shared.kernel.restart().await.is_ok() {
        log::info!("kernel core ready");
    }
    standalone::startup(&mut shared, config).await;
    change(|clients| clients.admitted = true);
}

#[embassy_executor::task(pool_size = SOCKETS)]
async fn serve(stack: &'static Stack, owner: &'static Owner) {
    static LOBBY: Lobby = Lobby::new(SOCKETS);
    static PLACES: Places<SOCKETS> = service::places();
    static BUFFERS: Buffers<SOCKETS, SOCKET_BUFFER> = service::buffers();
    let mut socket = service::socket(stack, PORT, &PLACES, &BUFFERS);
    let mut clients = CLIENTS.receiver().expect("a receiver for each task");
    loop {
        socket.accept().await;
        let guest = LOBBY.enter();
        clients.get_and(|clients| clients.admitted).await;
        if guest.greet(&mut socket, GREETING).await && socket.write_all(&[GREETING_ANSWER]).await.is_ok() {
            serve_client(&mut socket, owner, &mut clients).await;
        }
        // Orderly if the client reads; after a timeout the connection is reset.
        socket.close();
        let _ = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
        socket.abort();
        let _ = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
    }
}

/// Serves a client that has sent its greeting, until it leaves, violates the protocol or is
/// pre-empted.
async fn serve_client(socket: &mut Socket, owner: &'static Owner, clients: &mut Arrivals) {
    let presence = Presence::new();
    let address = socket.remote();
    let mut superseded = pin!(clients.get_and(|clients| clients.newest != presence.0));
    let mut asked = None;
    let superseded = poll_fn(|cx| {
        let changes = CHANGES.load(Ordering::Relaxed);
        match asked.replace(changes) == Some(changes) {
            // This task's waker is registered already.
            true => Poll::Pending,
            false => superseded.as_mut().poll(cx),
        }
    });
    let served = select(superseded, async {
        let mut shared = owner.lock().await;
        // Ends the kernel of a client that was superseded.
        shared.kernel.stop().await;
        if let Some(address) = address {
            log::info!("session with {address}");
        }
        let end = Connection::new(socket, &mut shared).serve().await;
        shared.kernel.stop().await;
        // Includes errors of outputs executed after the kernel's end.
        gateware::find_errors(shared.rtio);
        end
    });
    match served.await {
        Either::First(_) => log::warn!("session ended: another client has taken over"),
        Either::Second(End::Closed) => log::info!("session ended: {}", End::Closed),
        Either::Second(end) => log::warn!("session ended: {end}"),
    }
}
