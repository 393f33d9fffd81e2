//! Kernel sessions: the service on TCP 1381 (wire protocols, section 1).
//!
//! Several clients can be connected. One at a time owns the kernel core: the newest that has sent a
//! valid greeting. It pre-empts the previous one, whose kernel is killed and whose connection is
//! closed. Without a client the idle kernel has the core ([`standalone`]).

mod boards;
mod connection;
pub mod standalone;
mod traces;

use core::sync::atomic::Ordering;

use embassy_executor::Spawner;
use embassy_futures::select::{select, Either};
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::mutex::{Mutex, MutexGuard};
use kairos_net::{Socket, Stack};
use kairos_proto::session::{GREETING, GREETING_ANSWER, PORT};
use log::Level;
use static_cell::StaticCell;

use crate::clients::{Client, ClientSlots};
use crate::service::{self, Buffers, SocketMemories, Unread};
use boards::Boards;
use connection::Connection;
use kairos_comms::close_reason::CloseReason;
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

/// The clients, one of which uses the kernel core. They are served once the startup kernel has
/// ended.
static CLIENTS: ClientSlots = ClientSlots::closed(SOCKETS);

/// Access to the kernel core for measurements, while no kernel runs or may start.
#[derive(Clone, Copy)]
pub struct KernelAccess(&'static Owner);

/// Exclusive use of the kernel core, until this is dropped.
pub struct KernelGuard {
    shared: MutexGuard<'static, NoopRawMutex, Shared>,
    _reservation: Reservation,
}

/// Prevents the idle kernel from starting until this is dropped.
struct Reservation;

impl Reservation {
    fn new() -> Self {
        CLIENTS.change(|state| state.is_reserved = true);
        Self
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        CLIENTS.change(|state| state.is_reserved = false);
    }
}

impl KernelAccess {
    /// Reserves the core; `None` if a session is open, a startup kernel has not ended, or an idle
    /// kernel is set.
    pub async fn acquire(self) -> Option<KernelGuard> {
        let unused = CLIENTS.state().is_some_and(|state| state.is_unused());
        if !unused || standalone::IS_SET.load(Ordering::Relaxed) {
            return None;
        }
        let reservation = Reservation::new();
        Some(KernelGuard {
            shared: self.0.lock().await,
            _reservation: reservation,
        })
    }
}

impl KernelGuard {
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
) -> KernelAccess {
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
    KernelAccess(owner)
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
    CLIENTS.change(|state| state.is_open = true);
}

#[embassy_executor::task(pool_size = SOCKETS)]
async fn serve(stack: &'static Stack, owner: &'static Owner) {
    static SOCKET_MEMORIES: SocketMemories<SOCKETS> = service::socket_memories();
    static BUFFERS: Buffers<SOCKETS, SOCKET_BUFFER> = service::buffers();
    let mut socket = service::socket(stack, PORT, &SOCKET_MEMORIES, &BUFFERS);
    loop {
        socket.accept().await;
        let mut client = CLIENTS.occupy();
        CLIENTS.wait(|state| state.is_open).await;
        if client.greet(&mut socket, GREETING).await && socket.write_all(&[GREETING_ANSWER]).await.is_ok() {
            client.begin();
            serve_client(&mut socket, owner, &client).await;
            client.end();
        }
        service::close(&mut socket, Unread::Discard).await;
    }
}

/// Serves a client that has sent its greeting, until it leaves, violates the protocol or is
/// pre-empted.
async fn serve_client(socket: &mut Socket, owner: &'static Owner, client: &Client<'_>) {
    let address = socket.remote();
    let served = select(client.superseded(), async {
        let mut shared = owner.lock().await;
        // Ends the kernel of a client that was superseded.
        shared.kernel.stop().await;
        if let Some(address) = address {
            log::info!("session with {address}");
        }
        let reason = Connection::new(socket, &mut shared).serve().await;
        shared.kernel.stop().await;
        // Includes errors of outputs executed after the kernel's end.
        gateware::find_errors(shared.rtio);
        reason
    });
    let reason = match served.await {
        Either::First(()) => CloseReason::Superseded,
        Either::Second(reason) => reason,
    };
    let level = match reason {
        CloseReason::Closed => Level::Info,
        // Its kernel has been killed.
        _ => Level::Warn,
    };
    log::log!(level, "session ended: {reason}");
}
