//! The analyzer service on TCP 1382 (wire protocols, section 4): each client receives what was
//! recorded since the previous dump, on this board and then on the boards reached by its links.

use embassy_executor::Spawner;
use embassy_time::{with_timeout, Duration};
use kairos_comms::analyzer::{Analyzer, RING};
use kairos_comms::fair_mutex::FairMutex;
use kairos_comms::link::{Links, BOARDS};
use kairos_comms::uncleared::uncleared;
use kairos_comms::wire::{Lost, Wire};
use kairos_net::{Error, Socket, Stack};
use kairos_proto::analyzer::{is_included, DumpHeader, HEAD, PORT};
use kairos_proto::link::{Service, DESTINATION_MASTER};
use static_cell::StaticCell;

use crate::service::{self, Buffers, SocketMemories, Tcp, Unread};

/// One client being served, others waiting or closing.
pub const SOCKETS: usize = 4;
/// Buffer for other boards' messages in bytes: full rings, without pairs.
const OTHERS: usize = (BOARDS - 1) * RING;
/// Time limit for a board to begin sending its dump, and for the whole dump.
const FIRST_TIMEOUT: Duration = Duration::from_millis(500);
const DUMP_TIMEOUT: Duration = Duration::from_secs(5);

/// The analyzer, and a buffer for other boards' recordings. Used by one client at a time.
struct Dumps {
    analyzer: Analyzer,
    links: Links,
    others: &'static mut [u8; OTHERS],
}

/// Starts the recording and the service.
pub fn start(spawner: &Spawner, stack: &'static Stack, links: Links) {
    static DUMPS: StaticCell<FairMutex<Dumps, SOCKETS>> = StaticCell::new();
    let dumps = DUMPS.init(FairMutex::new(Dumps {
        analyzer: Analyzer::start(),
        links,
        others: uncleared!(OTHERS),
    }));
    for _ in 0..SOCKETS {
        spawner.spawn(kairos_comms::task(serve(stack, dumps)));
    }
}

#[embassy_executor::task(pool_size = SOCKETS)]
async fn serve(stack: &'static Stack, dumps: &'static FairMutex<Dumps, SOCKETS>) -> ! {
    static SOCKET_MEMORIES: SocketMemories<SOCKETS> = service::socket_memories();
    static BUFFERS: Buffers<SOCKETS, { 16 * 1024 }> = service::buffers();
    let mut socket = service::socket(stack, PORT, &SOCKET_MEMORIES, &BUFFERS);
    loop {
        socket.accept().await;
        // A client that has left misses its dump.
        let _ = dumps.lock().await.dump(&mut socket).await;
        service::close(&mut socket, Unread::Drain).await;
    }
}

/// The recordings of other boards.
struct Others {
    /// A bit for each board that has reported its channels.
    reporting: u32,
    /// Length of their messages, in bytes.
    length: usize,
    total: u64,
    error: bool,
}

impl Dumps {
    async fn dump(&mut self, socket: &mut Socket) -> Result<(), Error> {
        let Self {
            analyzer,
            links,
            others: buffer,
        } = self;
        let record = analyzer.take();
        let others = collect(*links, &mut buffer[..]).await;
        let is_included = |unit: &_| is_included(unit, DESTINATION_MASTER, others.reporting);
        let mut head = record.head(is_included);
        head.sent_bytes += others.length as u32;
        head.total_bytes += others.total;
        head.error |= others.error;
        let sending = async {
            socket.write_all(&head.encode()).await?;
            record.send(&mut Tcp(socket), is_included).await.map_err(|Lost| Error)?;
            socket.write_all(&buffer[..others.length]).await
        };
        service::in_time("analyzer", head.sent_bytes as usize, sending).await
    }
}

/// Collects the dumps of all boards that answer, one after the other, so that each link needs only
/// one stream.
async fn collect(links: Links, buffer: &mut [u8]) -> Others {
    let mut others = Others {
        reporting: 0,
        length: 0,
        total: 0,
        error: false,
    };
    for board in links.boards() {
        // An unreachable board is not asked: the events submitted to it are in this board's
        // recording.
        match take(links, board, &mut buffer[others.length..]).await {
            Dump::Complete(head) => {
                others.reporting |= 1 << board;
                others.length += head.sent_bytes as usize;
                others.total += head.total_bytes;
                others.error |= head.error;
            }
            Dump::Absent => {}
            Dump::Truncated => {
                log::error!("analyzer: the record of destination {board} is incomplete");
                others.error = true;
            }
        }
    }
    others
}

enum Dump {
    Complete(DumpHeader),
    Absent,
    Truncated,
}

async fn take(links: Links, board: u8, buffer: &mut [u8]) -> Dump {
    let Ok(mut stream) = links.open(board, Service::Analyzer) else {
        return Dump::Absent;
    };
    let mut head = [0; HEAD];
    match with_timeout(FIRST_TIMEOUT, fill(&mut stream, &mut head)).await {
        Ok(Ok(HEAD)) => {}
        Ok(Ok(0) | Err(Lost)) => return Dump::Absent,
        _ => return Dump::Truncated,
    }
    let Some(head) = DumpHeader::decode(&head) else {
        return Dump::Truncated;
    };
    let Some(buffer) = buffer.get_mut(..head.sent_bytes as usize) else {
        return Dump::Truncated;
    };
    let wanted = buffer.len();
    match with_timeout(DUMP_TIMEOUT, fill(&mut stream, buffer)).await {
        Ok(Ok(count)) if count == wanted => Dump::Complete(head),
        _ => Dump::Truncated,
    }
}

/// Reads until `buffer` is full or the stream ends.
async fn fill(wire: &mut impl Wire, buffer: &mut [u8]) -> Result<usize, Lost> {
    let mut filled = 0;
    while filled < buffer.len() {
        match wire.read(&mut buffer[filled..]).await? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}
