//! Registers of the programmable logic, by their names in the descriptor.
//!
//! Generated from `src/contracts/registers.toml` by `src/contracts/generate.py`: do not edit.

/// Names of the registers of `rtio`.
pub mod rtio {
    /// Write 1: reset of the RTIO core, one pulse; FIFOs and pending states cleared, PHY states kept.
    pub const RESET: &str = "rtio_reset";

    /// Held level; 1 after power-up, the firmware clears it at boot.
    pub const PHY_RESET: &str = "rtio_phy_reset";

    /// Write: latch the counter.
    pub const COUNTER_UPDATE: &str = "rtio_counter_update";

    /// Latched counter in machine units (low fine bits 0).
    pub const COUNTER: &str = "rtio_counter";

    /// Bit 0 collision, 1 busy, 2 sequence error; write 1 to clear.
    pub const ASYNC_ERROR: &str = "rtio_async_error";
    /// Bit of `rtio_async_error`.
    pub const ASYNC_ERROR_COLLISION_BIT: u32 = 1;
    /// Bit of `rtio_async_error`.
    pub const ASYNC_ERROR_BUSY_BIT: u32 = 2;
    /// Bit of `rtio_async_error`.
    pub const ASYNC_ERROR_SEQUENCE_ERROR_BIT: u32 = 4;

    /// Channel of the first collision since its flag was cleared, with its destination in bits 23..16.
    pub const COLLISION_CHANNEL: &str = "rtio_collision_channel";

    /// Channel of the first busy error since its flag was cleared, with its destination in bits 23..16.
    pub const BUSY_CHANNEL: &str = "rtio_busy_channel";

    /// Channel of the first sequence error since its flag was cleared, with its destination in bits 23..16.
    pub const SEQUENCE_ERROR_CHANNEL: &str = "rtio_sequence_error_channel";

    /// Channels 0 to this number - 1 take outputs.
    pub const OUTPUTS: &str = "rtio_outputs";
}

/// Names of the registers of `satellite`.
pub mod satellite {
    /// Bit 0 the line carries words, 1 the satellite can be reached: its counter is the master's, 2 its newest events
    /// wait for room.
    pub const STATE: &str = "satellite_state";
    /// Bit of `satellite_state`.
    pub const STATE_LINE_BIT: u32 = 1;
    /// Bit of `satellite_state`.
    pub const STATE_UP_BIT: u32 = 2;
    /// Bit of `satellite_state`.
    pub const STATE_BLOCKED_BIT: u32 = 4;

    /// Cycles from a vector's departure to its arrival, half of the measured round trip.
    pub const TRAVEL: &str = "satellite_travel";

    /// Events sent since the line came up, modulo 65536.
    pub const EVENTS: &str = "satellite_events";

    /// Of the satellite; those of the boards behind it follow.
    pub const DESTINATION: &str = "satellite_destination";

    /// Which of them can be reached, the satellite in bit 0.
    pub const BOARDS: &str = "satellite_boards";

    /// Cycles that an output has to be ahead of the counter when it is taken: the greatest of those boards.
    pub const SLACK: &str = "satellite_slack";

    /// Events at most that were lost since it had not executed them when its logic began anew; stops at its greatest
    /// value.
    pub const UNPLAYED: &str = "satellite_unplayed";

    /// Write: measure the clock's phase, if the satellite can be reached.
    pub const MEASURE: &str = "satellite_measure";

    /// Bits 11..0 by what fraction of a cycle, in 1/4096, the clock of what comes from the satellite is later than this
    /// board's: both ways together; bit 12 measured since `measure`, and the satellite can be reached.
    pub const PHASE: &str = "satellite_phase";
    /// Bit of `satellite_phase`.
    pub const PHASE_MEASURED_BIT: u32 = 4096;
}

/// Names of the registers of `remote`.
pub mod remote {
    /// Of a word of 64 bits in the memory of the board at the other end, in bytes.
    pub const ADDRESS: &str = "remote_address";

    /// What is stored.
    pub const DATA: &str = "remote_data";

    /// Bytes that are stored, the lowest in bit 0; 255 after reset.
    pub const STROBES: &str = "remote_strobes";

    /// Bit 3 loads and stores are for the board in bits 2..0, to which this link leads, not for the one at its other
    /// end.
    pub const FAR: &str = "remote_far";
    /// Bit of `remote_far`.
    pub const FAR_OTHER_BIT: u32 = 8;

    /// Write: load the word, if none is under way.
    pub const LOAD: &str = "remote_load";

    /// Write: store it, if none is under way.
    pub const STORE: &str = "remote_store";

    /// Bit 0 the link is up, 1 a load or store has not been answered, 2 nothing is under way, 4..3 status of the last
    /// one: 0 done, 1 refused, 2 error of the bus, 3 unreachable.
    pub const STATE: &str = "remote_state";
    /// Bit of `remote_state`.
    pub const STATE_UP_BIT: u32 = 1;
    /// Bit of `remote_state`.
    pub const STATE_BUSY_BIT: u32 = 2;
    /// Bit of `remote_state`.
    pub const STATE_IDLE_BIT: u32 = 4;
    /// Bit of `remote_state`.
    pub const STATE_STATUS_BIT: u32 = 8;

    /// What was loaded last.
    pub const VALUE: &str = "remote_value";

    /// Stores are answered before the other board has executed them.
    pub const EARLY: &str = "remote_early";

    /// Stores that failed after they had been answered; stops at its greatest value, as those below do.
    pub const FAILED: &str = "remote_failed";

    /// Loads and stores that were sent again.
    pub const REPEATED: &str = "remote_repeated";

    /// Answers that came too late.
    pub const STALE: &str = "remote_stale";
}

/// Names of the registers of `exports`.
pub mod exports {
    /// Which of the regions that the other board may use is set by `set`.
    pub const REGION: &str = "exports_region";

    /// Its first byte, a multiple of 8.
    pub const FIRST: &str = "exports_first";

    /// Any byte of its last word of 64 bits.
    pub const LAST: &str = "exports_last";

    /// Bit 0 it may be read, 1 written, too; 0: no such region, as after reset.
    pub const RIGHTS: &str = "exports_rights";
    /// Bit of `exports_rights`.
    pub const RIGHTS_READ_BIT: u32 = 1;
    /// Bit of `exports_rights`.
    pub const RIGHTS_WRITE_BIT: u32 = 2;

    /// Write: the region is so from now on.
    pub const SET: &str = "exports_set";

    /// Loads and stores of the other board that were refused; stops at its greatest value.
    pub const REFUSED: &str = "exports_refused";

    /// Packets of bulk transfers, likewise.
    pub const PACKETS: &str = "exports_packets";
}

/// Names of the registers of `bulk`.
pub mod bulk {
    /// Address of the ring of 64 descriptors, a multiple of 1024.
    pub const BASE: &str = "bulk_base";

    /// Descriptors that have been posted, modulo 65536.
    pub const POSTED: &str = "bulk_posted";

    /// Packets are under way together; 0: each is answered before the next one is read; 1 after reset.
    pub const EARLY: &str = "bulk_early";

    /// Write: what was posted counts as completed, and the engine goes on, once nothing is under way.
    pub const CLEAR: &str = "bulk_clear";

    /// A descriptor is complete that was to tell, or the engine has halted.
    pub const TOLD: &str = "bulk_told";

    /// Write: `told` is 0 until the next time.
    pub const HEARD: &str = "bulk_heard";

    /// 1: the interrupt is raised as long as `told` is 1.
    pub const INTERRUPT: &str = "bulk_interrupt";

    /// Descriptors that are complete, modulo 65536.
    pub const COMPLETED: &str = "bulk_completed";

    /// Bit 0 halted, 1 nothing is under way, 4..2 why: 1 refused, 2 error of the bus there, 3 unreachable, 5 invalid
    /// descriptor, 6 own memory could not be read.
    pub const STATE: &str = "bulk_state";
    /// Bit of `bulk_state`.
    pub const STATE_HALTED_BIT: u32 = 1;
    /// Bit of `bulk_state`.
    pub const STATE_IDLE_BIT: u32 = 2;
    /// Bit of `bulk_state`.
    pub const STATE_REASON_BIT: u32 = 4;

    /// Packets that were sent again; stops at its greatest value, as those below do.
    pub const REPEATED: &str = "bulk_repeated";

    /// Packets that came broken.
    pub const BROKEN: &str = "bulk_broken";

    /// Packets that came while there was no room.
    pub const DROPPED: &str = "bulk_dropped";
}

/// Names of the registers of `window`.
pub mod window {
    /// How many of the board's links the window has addresses for.
    pub const ENDS: &str = "window_ends";

    /// Why the newest access failed that did: 2..0 as in `remote_state`, 4: the board has no such link; bit 3 it was a
    /// store.
    pub const FAULT: &str = "window_fault";
    /// Bit of `window_fault`.
    pub const FAULT_WHY_BIT: u32 = 1;
    /// Bit of `window_fault`.
    pub const FAULT_STORE_BIT: u32 = 8;

    /// Its address in the window.
    pub const ADDRESS: &str = "window_address";

    /// Accesses that failed; stops at its greatest value.
    pub const FAILED: &str = "window_failed";

    /// Destination that the addresses from B000_0000 on belong to, if the board has fewer than four links.
    pub const FAR: &str = "window_far";
}

/// Names of the registers of `mailbox`.
pub mod mailbox {
    /// Reads 0. Write: the next word of the packet that is to be sent, 256 at most.
    pub const SEND: &str = "mailbox_send";

    /// Write: the packet is complete and is sent.
    pub const GO: &str = "mailbox_go";

    /// Bit 0 the link is up, 1 a packet is being sent: neither of the two above counts.
    pub const STATE: &str = "mailbox_state";
    /// Bit of `mailbox_state`.
    pub const STATE_LINE_BIT: u32 = 1;
    /// Bit of `mailbox_state`.
    pub const STATE_BUSY_BIT: u32 = 2;

    /// Words of the oldest packet that has come, 0: none.
    pub const WAITING: &str = "mailbox_waiting";

    /// Read: its next word.
    pub const RECEIVE: &str = "mailbox_receive";

    /// Write: it has been read, its buffer is free.
    pub const RELEASE: &str = "mailbox_release";

    /// Packets that came and were dropped: no free buffer, or a word was missing; saturates.
    pub const DROPPED: &str = "mailbox_dropped";
}

/// Names of the registers of `uplink`.
pub mod uplink {
    /// Only on a satellite: bit 0 the line to the board above carries words, 1 the counter is the master's.
    pub const STATE: &str = "uplink_state";
    /// Bit of `uplink_state`.
    pub const STATE_LINE_BIT: u32 = 1;
    /// Bit of `uplink_state`.
    pub const STATE_LIVE_BIT: u32 = 2;

    /// Only on a satellite: its own destination, as the master says over the link; commands of its processors to this
    /// destination, in bits 23..16 of a channel, are for its own channels.
    pub const DESTINATION: &str = "uplink_destination";

    /// Only on a satellite: what the player submits is for the board above, which is told if a reset of this board
    /// drops it.
    pub const PLAYS: &str = "uplink_plays";
}

/// Names of the registers of `initiator`.
pub mod initiator {
    /// 0: `sev` is ignored, requests under way are forgotten, numbers start again at 1; nothing more is pushed, what
    /// was stays. To be 1 only after `initiator_busy` was 0.
    pub const ENABLE: &str = "initiator_enable";

    /// Physical address of the ring, aligned to 4096.
    pub const RING: &str = "initiator_ring";

    /// Only where inputs are pushed: physical address of the input rings, aligned to 262144; while it is 0 nothing is
    /// pushed. To be changed only while the initiator is disabled and not busy.
    pub const INPUT_RING: &str = "initiator_input_ring";

    /// A request, an answer or a pushed event is under way, or input rings are being reset.
    pub const BUSY: &str = "initiator_busy";

    /// Triggers without a request of the expected number; saturates.
    pub const LOST: &str = "initiator_lost";

    /// Bus errors of the initiator so far: bit 0 read, bit 1 write.
    pub const ERROR: &str = "initiator_error";
    /// Bit of `initiator_error`.
    pub const ERROR_READ_BIT: u32 = 1;
    /// Bit of `initiator_error`.
    pub const ERROR_WRITE_BIT: u32 = 2;

    /// Write: zero the two above, and the error in the status word.
    pub const CLEAR: &str = "initiator_clear";

    /// Reads 0. Write: for so many cycles from now outputs may be posted at first sight; 0 ends it. The status word
    /// tells of its begin and its end.
    pub const PERMIT: &str = "initiator_permit";
}

/// Names of the registers of `dma`.
pub mod dma {
    /// Write 1: play; write 0: stop. Not readable; see `dma_busy`.
    pub const ENABLE: &str = "dma_enable";

    /// A trace is played, or what was requested for it is still coming.
    pub const BUSY: &str = "dma_busy";

    /// Physical address of the trace; the low 7 bits are ignored.
    pub const BASE: &str = "dma_base";

    /// Added to the trace's times, modulo 2^64.
    pub const TIME_OFFSET: &str = "dma_time_offset";

    /// 0 recorded, 1 compact.
    pub const FORMAT: &str = "dma_format";

    /// 1 underflow, 2 unreachable, 4 bus error, 8 malformed trace; any write, and a start, clear it.
    pub const ERROR: &str = "dma_error";
    /// Bit of `dma_error`.
    pub const ERROR_UNDERFLOW_BIT: u32 = 1;
    /// Bit of `dma_error`.
    pub const ERROR_UNREACHABLE_BIT: u32 = 2;
    /// Bit of `dma_error`.
    pub const ERROR_BUS_BIT: u32 = 4;
    /// Bit of `dma_error`.
    pub const ERROR_MALFORMED_BIT: u32 = 8;

    /// Channel of the event that failed; with errors 4 and 8: of the last event before.
    pub const ERROR_CHANNEL: &str = "dma_error_channel";

    /// Timestamp of that event.
    pub const ERROR_TIMESTAMP: &str = "dma_error_timestamp";

    /// RTIO address of that event.
    pub const ERROR_ADDRESS: &str = "dma_error_address";

    /// Events submitted since the start, the failed one included.
    pub const EVENTS: &str = "dma_events";
}

/// Names of the registers of `analyzer`.
pub mod analyzer {
    /// 0 → 1: record from the ring's begin, counters and errors cleared (only while not busy). 1 → 0: append 'stopped'.
    pub const ENABLE: &str = "analyzer_enable";

    /// Enabled, or not everything is in memory yet.
    pub const BUSY: &str = "analyzer_busy";

    /// Physical address of the ring's first byte.
    pub const BASE: &str = "analyzer_base";

    /// Physical address of any byte of the ring's last 32.
    pub const LAST: &str = "analyzer_last";

    /// Pairs are permitted.
    pub const PACK: &str = "analyzer_pack";

    /// DMA waits when the analyzer cannot keep up.
    pub const LOSSLESS: &str = "analyzer_lossless";

    /// Bytes written to the ring since recording began.
    pub const BYTE_COUNT: &str = "analyzer_byte_count";

    /// Messages in them.
    pub const MESSAGE_COUNT: &str = "analyzer_message_count";

    /// Messages were lost.
    pub const OVERFLOW: &str = "analyzer_overflow";

    /// A write was refused.
    pub const BUS_ERROR: &str = "analyzer_bus_error";
}

/// Names of the registers of `pulse`.
pub mod pulse {
    /// Bits 3..0 channels, 7..4 samples in a cycle, 12..8 address bits of the gate table, 17..13 of the memory map,
    /// 22..18 of the pulse table.
    pub const CONFIG: &str = "pulse_config";

    /// Sample rate in 100 Hz.
    pub const RATE: &str = "pulse_rate";

    /// Channels that wait for a trigger.
    pub const ARMED: &str = "pulse_armed";

    /// Channels that run.
    pub const RUNNING: &str = "pulse_running";

    /// Errors up to now, bits as in the kernel's status; write 1 to clear.
    pub const ERROR: &str = "pulse_error";

    /// Parameters that ran out of segments, 8 bits for each channel; cleared with the error.
    pub const UNDERRUN: &str = "pulse_underrun";

    /// Channel of `first_cycle`.
    pub const FIRST_CHANNEL: &str = "pulse_first_channel";

    /// Cycle in which the channel's first underrun was, since the error was cleared.
    pub const FIRST_CYCLE: &str = "pulse_first_cycle";

    /// Write: latch the count of cycles.
    pub const CYCLE_UPDATE: &str = "pulse_cycle_update";

    /// Latched count of cycles, 48 bits, from power-up or the last reset of the PHYs.
    pub const CYCLE: &str = "pulse_cycle";

    /// Write 1: trigger.
    pub const TRIGGER: &str = "pulse_trigger";

    /// Write: a measurement's result; reads 0.
    pub const RESULT: &str = "pulse_result";

    /// Write 1: begin the stream from memory whose list is at `stream_base`; write 0: end it.
    pub const STREAM_ENABLE: &str = "pulse_stream_enable";

    /// Words are read, or what was requested is still coming.
    pub const STREAM_BUSY: &str = "pulse_stream_busy";

    /// Physical address of the list of descriptors; the low 7 bits are ignored.
    pub const STREAM_BASE: &str = "pulse_stream_base";

    /// The list or words could not be read; a start clears it.
    pub const STREAM_ERROR: &str = "pulse_stream_error";

    /// Words given to the core since the start.
    pub const STREAM_WORDS: &str = "pulse_stream_words";
}

/// Names of the registers of `traffic`.
pub mod traffic {
    /// Write: begin. Bit 0: 0 reads memory, 1 writes it; bit 1: 0 through the HP port, 1 through the ACP. Ignored while
    /// busy.
    pub const START: &str = "traffic_start";
    /// Bit of `traffic_start`.
    pub const START_WRITE_BIT: u32 = 1;
    /// Bit of `traffic_start`.
    pub const START_COHERENT_BIT: u32 = 2;

    /// Words are read or written, or wait for the port.
    pub const BUSY: &str = "traffic_busy";

    /// Physical address; the low 7 bits are ignored.
    pub const ADDRESS: &str = "traffic_address";

    /// Bytes; the low 3 bits are ignored.
    pub const SIZE: &str = "traffic_size";

    /// Written to memory: in each 8 bytes, low word first, this number plus that of the beat, and its complement.
    pub const SEED: &str = "traffic_seed";

    /// Cycles from the start to the first beat of a read, or to the first response to a write.
    pub const FIRST: &str = "traffic_first";

    /// Cycles from the start to the last beat, or to the last response.
    pub const LAST: &str = "traffic_last";

    /// Sum of the words that were read, modulo 2^32.
    pub const SUM: &str = "traffic_sum";

    /// The memory has answered with an error since the start.
    pub const ERROR: &str = "traffic_error";

    /// What the logic sees of EMIO lines 0 to 31; it gives them back on lines 32 to 63.
    pub const LINES: &str = "traffic_lines";
}

/// Names of the registers of `moninj`.
pub mod moninj {
    /// Channel selected for the monitor.
    pub const CHANNEL: &str = "moninj_channel";

    /// Probe selected for the monitor.
    pub const PROBE: &str = "moninj_probe";

    /// Write: latch the selected probe.
    pub const UPDATE: &str = "moninj_update";

    /// Latched probe.
    pub const VALUE: &str = "moninj_value";

    /// Channel selected for the injector.
    pub const INJECT_CHANNEL: &str = "moninj_inject_channel";

    /// Override selected for the injector.
    pub const INJECT_OVERRIDE: &str = "moninj_inject_override";

    /// The selected override; 0 if it does not exist.
    pub const INJECT_VALUE: &str = "moninj_inject_value";
}

/// Names of the registers of `clock`.
pub mod clock {
    /// Write 0: run from the processing system's clock, 1: from the synthesiser's; also if that failed before. Accesses
    /// are answered late meanwhile.
    pub const SELECT: &str = "clock_select";

    /// Bit 0 the synthesiser's clock is used, 1 being changed, 2 locked to the clock that is used, 3 PHYs are in reset:
    /// being changed, or lost.
    pub const STATUS: &str = "clock_status";
    /// Bit of `clock_status`.
    pub const STATUS_SELECTED_BIT: u32 = 1;
    /// Bit of `clock_status`.
    pub const STATUS_SWITCHING_BIT: u32 = 2;
    /// Bit of `clock_status`.
    pub const STATUS_LOCKED_BIT: u32 = 4;
    /// Bit of `clock_status`.
    pub const STATUS_HOLD_BIT: u32 = 8;

    /// Bit 0: the synthesiser's clock was lost, or could not be locked to, and the other one was taken; write:
    /// acknowledge, PHYs leave reset.
    pub const LOST: &str = "clock_lost";
    /// Bit of `clock_lost`.
    pub const LOST_BIT: u32 = 1;

    /// Frequency of the synthesiser's clock in 477 Hz, exactly 4/2^20 of the processing system's clock; 0: none.
    pub const SYNTHESISER: &str = "clock_synthesiser";

    /// Frequency of the external clock, likewise.
    pub const REFERENCE: &str = "clock_reference";
}

/// Names of the registers of `link`.
pub mod link {
    /// The other end is there, and both know each other.
    pub const UP: &str = "link_up";

    /// How often the link went down: the line did, silence, or the other end began anew; saturates, as those below do.
    pub const ENDED: &str = "link_ended";

    /// Words that came with one wrong bit, and were corrected.
    pub const CORRECTED: &str = "link_corrected";

    /// Words that were sent again.
    pub const RETRANSMITTED: &str = "link_retransmitted";

    /// Words that came and were not passed on: two bits wrong, or of a frame that was not right or not expected.
    pub const DROPPED: &str = "link_dropped";

    /// Words of the first lane, that of real time, that may leave before one of those under way is acknowledged.
    pub const SPACE: &str = "link_space";

    /// Write: zero the counts.
    pub const CLEAR: &str = "link_clear";
}

/// Names of the registers of `scratch`.
pub mod scratch {
    /// No use: for whoever wants to try or to measure accesses; 0 after power-up.
    pub const WORD: &str = "scratch_word";

    /// As `scratch_word`; both its words change when the low one is written.
    pub const WIDE: &str = "scratch_wide";
}

/// Names of the registers of `spi`.
pub mod spi {
    /// RTIO channel of the SPI master that makes the transfer.
    pub const CHANNEL: &str = "spi_channel";

    /// Its configuration, as an event at address 1 has it; chip select is released after it in any case.
    pub const CONFIG: &str = "spi_config";

    /// Write: make the transfer with these data, as an event at address 0 has them, when the master has nothing to do;
    /// ignored while busy.
    pub const DATA: &str = "spi_data";

    /// Bit 0 it has not been made yet, 1 the last one was not made, as an experiment kept chip select for 1 ms, 2 the
    /// channel has no SPI master.
    pub const STATE: &str = "spi_state";
    /// Bit of `spi_state`.
    pub const STATE_BUSY_BIT: u32 = 1;
    /// Bit of `spi_state`.
    pub const STATE_REFUSED_BIT: u32 = 2;
    /// Bit of `spi_state`.
    pub const STATE_ABSENT_BIT: u32 = 4;

    /// What was received last by a transfer whose configuration has the flag for input.
    pub const VALUE: &str = "spi_value";
}

/// Registers that firmware or kernels work with, so that a batch may not write them: block, name in it, and whether a
/// batch may read it.
pub const RESERVED: &[(&str, &str, bool)] = &[
    ("rtio", "reset", false),
    ("rtio", "phy_reset", true),
    ("rtio", "counter_update", false),
    ("rtio", "async_error", true),
    ("window", "far", true),
    ("mailbox", "send", false),
    ("mailbox", "go", false),
    ("mailbox", "receive", false),
    ("mailbox", "release", false),
    ("uplink", "destination", true),
    ("uplink", "plays", true),
    ("initiator", "enable", true),
    ("initiator", "ring", true),
    ("initiator", "input_ring", true),
    ("initiator", "clear", false),
    ("initiator", "permit", false),
    ("dma", "enable", false),
    ("dma", "base", true),
    ("dma", "time_offset", true),
    ("dma", "format", true),
    ("dma", "error", true),
    ("analyzer", "enable", true),
    ("analyzer", "base", true),
    ("analyzer", "last", true),
    ("analyzer", "pack", true),
    ("analyzer", "lossless", true),
    ("pulse", "error", true),
    ("pulse", "first_channel", true),
    ("pulse", "cycle_update", false),
    ("pulse", "trigger", false),
    ("pulse", "result", false),
    ("pulse", "stream_enable", false),
    ("pulse", "stream_base", true),
    ("traffic", "start", false),
    ("traffic", "address", true),
    ("traffic", "size", true),
    ("traffic", "seed", true),
    ("moninj", "channel", true),
    ("moninj", "probe", true),
    ("moninj", "update", false),
    ("moninj", "inject_channel", true),
    ("moninj", "inject_override", true),
    ("moninj", "inject_value", true),
    ("clock", "select", true),
    ("clock", "lost", true),
];
