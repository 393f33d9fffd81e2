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
use kairos_proto::analyzer::{is_included, Head, HEAD, PORT};
use kairos_proto::link::{Service, DESTINATION_MASTER};
use static_cell::StaticCell;

use crate::service::{self, Buffers, Places, Tcp};

/// One client being served, others waiting or closing.
pub const SOCKETS: usize = 4;
/// Room for other boards' messages in bytes: full rings, without pairs.
const OTHERS: usize = (BOARDS - 1) * RING;
/// Time limit for a board to begin sending its dump, and for the whole dump.
const PATIENCE: Duration = Duration::from_millis(500);
const WHOLE: Duration = Duration::from_secs(5);

/// The analyzer, and room for other boards' recordings. Used by one client at a time.
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
    static PLACES: Places<SOCKETS> = service::places();
    static BUFFERS: Buffers<SOCKETS, { 16 * 1024 }> = service::buffers();
    let mut socket = service::socket(stack, PORT, &PLACES, &BUFFERS);
    loop {
        socket.accept().await;
        // A client that has left misses its dump.
        let _ = dumps.lock().await.dump(&mut socket).await;
        service::close(&mut socket).await;
    }
}

/// The recordings of other boards.
struct Others {
    /// A bit for each board that has reported its channels.
    telling: u32,
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
            others: room,
        } = self;
        let record = analyzer.take();
        let others = collect(*links, &mut room[..]).await;
        let is_included = |unit: &_| is_included(unit, DESTINATION_MASTER, others.telling);
        let mut head = record.head(is_included);
        head.sent_bytes += others.length as u32;
        head.total_bytes += others.total;
        head.error |= others.error;
        let sending = async {
            socket.write_all(&head.encode()).await?;
            record.send(&mut Tcp(socket), is_included).await.map_err(|Lost| Error)?;
            socket.write_all(&room[..others.length]).await
        };
        service::in_time("analyzer", head.sent_bytes as usize, sending).await
    }
}

/// Collects the dumps of all boards that answer, one after the other, so that each link needs only
/// one stream.
async fn collect(links: Links, room: &mut [u8]) -> Others {
    let mut others = Others {
        telling: 0,
        length: 0,
        total: 0,
        error: false,
    };
    for board in links.boards() {
        // An unreachable board is not asked: the events submitted to it are in this board's
        // recording.
        match take(links, board, &mut room[others.length..]).await {
            Taken::Whole(head) => {
                others.telling |= 1 << board;
                others.length += head.sent_bytes as usize;
                others.total += head.total_bytes;
                others.error |= head.error;
            }
            Taken::Absent => {}
            Taken::Cut => {
                log::error!("analyzer: the record of destination {board} is incomplete");
                others.error = true;
            }
        }
    }
    others
}

enum Taken {
    Whole(Head),
    Absent,
    Cut,
}

async fn take(links: Links, board: u8, room: &mut [u8]) -> Taken {
    let Ok(mut stream) = links.open(board, Service::Analyzer) else {
        return Taken::Absent;
    };
    let mut head = [0; HEAD];
    match with_timeout(PATIENCE, fill(&mut stream, &mut head)).await {
        Ok(Ok(HEAD)) => {}
        Ok(Ok(0) | Err(Lost)) => return Taken::Absent,
        _ => return Taken::Cut,
    }
    let Some(head) = Head::decode(&head) else {
        return Taken::Cut;
    };
    let Some(room) = room.get_mut(..head.sent_bytes as usize) else {
        return Taken::Cut;
    };
    let wanted = room.len();
    match with_timeout(WHOLE, fill(&mut stream, room)).await {
        Ok(Ok(count)) if count == wanted => Taken::Whole(head),
        _ => Taken::Cut,
    }
}

/// Reads until `room` is full or the stream ends.
async fn fill(wire: &mut impl Wire, room: &mut [u8]) -> Result<usize, Lost> {
    let mut filled = 0;
    while filled < room.len() {
        match wire.read(&mut room[filled..]).await? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}
