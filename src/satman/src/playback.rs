//! DMA traces received from the board with the network, and their playback at its request,
//! independent of the kernel core.

use heapless::Vec;
use kairos_chip::cache::clean;
use kairos_comms::uncleared::uncleared;
use kairos_contracts::link::PLAYED_NOT;
use kairos_contracts::registers::uplink;
use kairos_intercore::{Shared, COMMS};
use kairos_links::library_store::LibraryStore;
use kairos_pl::player::{Failed, Player};
use kairos_pl::Register;
use kairos_proto::dma::ALIGNMENT;
use kairos_proto::kernel_message::{Header, Kept, KernelMessage, Played};
use kairos_proto::layout::Layout;

/// Content of an answer.
pub type Content = Vec<u8, { Played::LENGTH }>;

/// Size of the buffer for all traces, in bytes.
const TRACES: usize = 8 * 1024 * 1024;
/// Most traces kept.
const TRACES_MOST: usize = 1024;
/// Polls within which a stopped player must complete its current work.
const POLLS: u32 = 10_000;

/// The traces, and the player.
pub struct DmaPlayback {
    traces: LibraryStore<'static, TRACES_MOST>,
    player: Option<Player>,
    /// Set while the player plays for the upstream board.
    remote_playback: Option<Register>,
    /// The request being executed.
    playing: Option<Header>,
    /// Answers to be sent.
    answers: Vec<(Header, Content), 4>,
}

impl DmaPlayback {
    /// Creates the state. Called once, before any kernel.
    pub fn new() -> Self {
        let memory: &'static mut [u8] = uncleared!(TRACES + ALIGNMENT);
        let skipped = memory.as_ptr().align_offset(ALIGNMENT);
        let descriptor = kairos_pl::descriptor().ok();
        let player = descriptor.as_ref().and_then(Player::find);
        let remote_playback = descriptor
            .as_ref()
            .and_then(|descriptor| Register::find(descriptor, uplink::REMOTE_PLAYBACK));
        if let Some(player) = player {
            // It may still play since before this start.
            player.stop();
        }
        Self {
            traces: LibraryStore::aligned(&mut memory[skipped..], ALIGNMENT),
            player,
            remote_playback,
            playing: None,
            answers: Vec::new(),
        }
    }

    /// Begins receiving a trace, if there is space.
    pub fn begin(&mut self, header: &Header) {
        if self.traces.begin(header.number, 0, header.length as usize).is_err() {
            log::error!(
                "no space for a DMA trace of {} bytes: the limit is {TRACES_MOST} traces and {TRACES} bytes in all",
                header.length
            );
        }
    }

    pub fn space(&mut self) -> &mut [u8] {
        self.traces.space()
    }

    pub fn filled(&mut self, count: usize) {
        self.traces.filled(count);
    }

    /// Completes the reception of a trace, which may have been dropped.
    pub fn complete(&mut self, header: &Header) {
        let stored = self.traces.bytes(header.number).is_some();
        self.answer(header, KernelMessage::Kept, &Kept { stored });
    }

    pub fn erase(&mut self, number: u32) {
        self.stop();
        self.traces.remove(number);
    }

    /// Stops playback and drops all traces.
    pub fn clear(&mut self) {
        self.stop();
        self.traces.clear();
        self.answers.clear();
    }

    /// Starts playback; it is answered when playback has ended.
    pub fn play(&mut self, header: &Header, time: i64) {
        let trace = self.traces.bytes(header.number).filter(|_| self.playing.is_none());
        let (Some(trace), Some(player)) = (trace, self.player) else {
            return self.played(header, Some(not_played(header)));
        };
        if !Shared::get().take_player(COMMS) {
            return self.played(header, Some(not_played(header)));
        }
        let address = trace.as_ptr() as usize;
        // The gateware reads memory, not caches.
        clean(address, trace.len());
        self.set_playing(true);
        player.start(address as u32, time);
        self.playing = Some(*header);
    }

    pub fn is_playing(&self) -> bool {
        self.playing.is_some()
    }

    /// Checks whether playback has ended.
    pub fn poll(&mut self) {
        let (Some(header), Some(player)) = (self.playing, self.player) else {
            return;
        };
        if !player.is_busy() {
            self.playing = None;
            let failed = player.take_error();
            self.set_playing(false);
            Shared::get().release_player(COMMS);
            self.played(&header, failed);
        }
    }

    /// Stops playback without an answer.
    pub fn stop(&mut self) {
        let (Some(_), Some(player)) = (self.playing.take(), self.player) else {
            return;
        };
        player.stop();
        for _ in 0..POLLS {
            if !player.is_busy() {
                break;
            }
        }
        player.take_error();
        self.set_playing(false);
        Shared::get().release_player(COMMS);
    }

    fn set_playing(&self, playing: bool) {
        if let Some(register) = self.remote_playback {
            register.write(u32::from(playing));
        }
    }

    /// Takes the next answer to be sent.
    pub fn next_answer(&mut self) -> Option<(Header, Content)> {
        (!self.answers.is_empty()).then(|| self.answers.remove(0))
    }

    fn played(&mut self, header: &Header, failed: Option<Failed>) {
        let played = failed.map_or_else(Played::default, |Failed { bits, channel, time }| Played {
            bits,
            channel,
            time,
        });
        self.answer(header, KernelMessage::Played, &played);
    }

    fn answer<L: Layout>(&mut self, header: &Header, kind: KernelMessage, content: &L) {
        let length = L::LENGTH as u32;
        let header = Header {
            kind,
            length,
            ..*header
        };
        // Cannot fail: there are no longer ones.
        let content = Content::from_slice(content.encode().as_ref()).unwrap_or_default();
        let _ = self.answers.push((header, content));
    }
}

fn not_played(header: &Header) -> Failed {
    Failed {
        bits: PLAYED_NOT,
        channel: u32::from(header.board) << 16,
        time: 0,
    }
}
