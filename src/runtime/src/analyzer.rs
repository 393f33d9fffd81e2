//! The analyzer service on TCP 1382 (wire protocols, section 4): each client gets what was recorded since the one before.
//!
//! The gateware writes to a ring in memory, from boot on. For a dump it is stopped, the ring is copied, and it starts anew at
//! once: little is missed, and a slow client keeps nobody from recording. Without gateware, or with one that has no
//! analyzer, the dump is empty.

use embassy_executor::Spawner;
use kairos_channel::memory::ANALYZER;
use kairos_chip::gic::barrier;
use kairos_contracts::registers::analyzer;
use kairos_net::{Error, Socket, Stack};
use kairos_pl::{Register, Register64};
use kairos_proto::analyzer::{expand, is_pair, parts, Head, MESSAGE, PORT};
use kairos_proto::descriptor::{ChannelKind, Descriptor};
use static_cell::StaticCell;

use crate::service::{self, Buffers, Places};
use kairos_comms::fair_mutex::FairMutex;
use kairos_comms::uncleared::uncleared;

/// One client being served, others waiting or on their way out.
pub const SOCKETS: usize = 4;
/// Bytes of the ring.
const RING: usize = 512 * 1024;
/// Looks at `analyzer_busy` until what is under way must have arrived.
const POLLS: u32 = 10_000;
/// Messages sent at a time.
const CHUNK: usize = 32;

const _: () = assert!(RING <= ANALYZER.end - ANALYZER.start && RING.is_multiple_of(MESSAGE));

struct Registers {
    enable: Register,
    busy: Register,
    base: Register,
    last: Register,
    pack: Register,
    lossless: Register,
    byte_count: Register64,
    message_count: Register64,
    overflow: Register,
    bus_error: Register,
}

impl Registers {
    fn find(descriptor: &Descriptor) -> Option<Self> {
        let find = |name| Register::find(descriptor, name);
        Some(Self {
            enable: find(analyzer::ENABLE)?,
            busy: find(analyzer::BUSY)?,
            base: find(analyzer::BASE)?,
            last: find(analyzer::LAST)?,
            pack: find(analyzer::PACK)?,
            lossless: find(analyzer::LOSSLESS)?,
            byte_count: Register64::find(descriptor, analyzer::BYTE_COUNT)?,
            message_count: Register64::find(descriptor, analyzer::MESSAGE_COUNT)?,
            overflow: find(analyzer::OVERFLOW)?,
            bus_error: find(analyzer::BUS_ERROR)?,
        })
    }

    /// Records from the ring's begin on.
    fn arm(&self) {
        self.base.write(ANALYZER.start as u32);
        self.last.write((ANALYZER.start + RING - 1) as u32);
        self.pack.write(1);
        self.lossless.write(0);
        self.enable.write(1);
    }

    /// Ends the recording; false if the gateware does not come to rest.
    fn disarm(&self) -> bool {
        self.enable.write(0);
        let rests = (0..POLLS).any(|_| self.busy.read() == 0);
        barrier();
        rests
    }
}

/// The analyzer, and a copy of its ring; one client has it at a time.
struct Analyzer {
    registers: Option<Registers>,
    log_channel: u8,
    copy: &'static mut [u8; RING],
}

/// Begins to record, and starts the service.
pub fn start(spawner: &Spawner, stack: &'static Stack) {
    static ANALYZER: StaticCell<FairMutex<Analyzer, SOCKETS>> = StaticCell::new();
    let descriptor = kairos_pl::descriptor().ok();
    let registers = descriptor.as_ref().and_then(Registers::find);
    let log_channel = descriptor.as_ref().and_then(|descriptor| {
        let log = descriptor.channels().find(|channel| channel.kind == ChannelKind::LOG)?;
        u8::try_from(log.number).ok().filter(|number| *number < 128)
    });
    if let Some(registers) = &registers {
        // A reset of this core alone leaves it recording.
        registers.disarm();
        registers.arm();
    }
    let analyzer = ANALYZER.init(FairMutex::new(Analyzer {
        registers,
        log_channel: log_channel.unwrap_or(0),
        copy: uncleared!(RING),
    }));
    for _ in 0..SOCKETS {
        spawner.spawn(kairos_comms::task(serve(stack, analyzer)));
    }
}

#[embassy_executor::task(pool_size = SOCKETS)]
async fn serve(stack: &'static Stack, analyzer: &'static FairMutex<Analyzer, SOCKETS>) -> ! {
    static PLACES: Places<SOCKETS> = service::places();
    static BUFFERS: Buffers<SOCKETS, { 16 * 1024 }> = service::buffers();
    let mut socket = service::socket(stack, PORT, &PLACES, &BUFFERS);
    loop {
        socket.accept().await;
        // A client that has gone misses its dump.
        let _ = analyzer.lock().await.dump(&mut socket).await;
        service::close(&mut socket).await;
    }
}

impl Analyzer {
    /// Copies the ring, oldest byte first, and lets the recording begin anew. The head of the dump, and the bytes copied.
    fn take(&mut self) -> (Head, usize) {
        let mut head = Head {
            log_channel: self.log_channel,
            ..Head::default()
        };
        let Some(registers) = &self.registers else {
            return (head, 0);
        };
        if !registers.disarm() {
            log::error!("the analyzer does not come to rest");
            head.error = true;
            return (head, 0);
        }
        let mut length = 0;
        for part in parts(registers.byte_count.read(), RING) {
            // SAFETY: the ring's memory, to which nobody writes now.
            let part = unsafe {
                core::slice::from_raw_parts((ANALYZER.start + part.start) as *const u8, part.end - part.start)
            };
            self.copy[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        head.total_bytes = registers.message_count.read() * MESSAGE as u64;
        head.error = registers.overflow.read() | registers.bus_error.read() != 0;
        registers.arm();
        let (units, _) = self.copy[..length].as_chunks::<MESSAGE>();
        let pairs = units.iter().filter(|unit| is_pair(unit)).count();
        head.sent_bytes = (length + pairs * MESSAGE) as u32;
        (head, length)
    }

    async fn dump(&mut self, socket: &mut Socket) -> Result<(), Error> {
        let (head, length) = self.take();
        let (units, _) = self.copy[..length].as_chunks::<MESSAGE>();
        let sending = async {
            socket.write_all(&head.encode()).await?;
            for chunk in units.chunks(CHUNK) {
                let mut bytes = heapless::Vec::<u8, { 2 * CHUNK * MESSAGE }>::new();
                for unit in chunk {
                    let (first, second) = expand(unit);
                    // There is room for two messages of each unit.
                    let _ = bytes.extend_from_slice(&first);
                    if let Some(second) = second {
                        let _ = bytes.extend_from_slice(&second);
                    }
                }
                socket.write_all(&bytes).await?;
            }
            Ok(())
        };
        service::in_time("analyzer", head.sent_bytes as usize, sending).await
    }
}
