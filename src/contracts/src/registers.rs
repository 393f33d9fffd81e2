//! Registers of the programmable logic, by their names in the descriptor.
//!
//! Generated from `src/contracts/registers.toml` by `src/contracts/generate.py`: do not edit.

/// Names of the registers of `rtio`.
pub mod rtio {
    /// Write 1: pulse the reset of the RTIO core; clears FIFOs and pending states, keeps PHY states.
    pub const RESET: &str = "rtio_reset";

    /// Reset of the PHYs, level; 1 after power-up, cleared by the firmware at boot.
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

    /// Number of output channels: channels 0 to this number - 1 take outputs.
    pub const OUTPUTS: &str = "rtio_outputs";
}

/// Names of the registers of `satellite`.
pub mod satellite {
    /// Bit 0 the line carries words, 1 the satellite is reachable: its counter is synchronised to that of the master, 2
    /// outputs are blocked: the newest events wait for buffer space.
    pub const STATE: &str = "satellite_state";
    /// Bit of `satellite_state`.
    pub const STATE_LINE_BIT: u32 = 1;
    /// Bit of `satellite_state`.
    pub const STATE_UP_BIT: u32 = 2;
    /// Bit of `satellite_state`.
    pub const STATE_BLOCKED_BIT: u32 = 4;

    /// Delay in cycles from the departure of a vector to its arrival, half of the measured round trip.
    pub const ONE_WAY_DELAY: &str = "satellite_one_way_delay";

    /// Events sent since the line came up, modulo 65536.
    pub const EVENTS: &str = "satellite_events";

    /// Destination of the satellite; those of the boards behind it follow.
    pub const DESTINATION: &str = "satellite_destination";

    /// Bit mask of the reachable boards, the satellite in bit 0 and those behind it above.
    pub const BOARDS: &str = "satellite_boards";

    /// Minimum slack in cycles of an output when it is accepted: the maximum over these boards.
    pub const SLACK: &str = "satellite_slack";

    /// Upper bound of the events lost because the logic of the satellite restarted before executing them; saturates.
    pub const LOST_OUTPUTS: &str = "satellite_lost_outputs";

    /// Write: measure the phase of the clock, if the satellite is reachable.
    pub const MEASURE: &str = "satellite_measure";

    /// Bits 11..0 phase lag of the clock recovered from the satellite relative to this board's clock, in 1/4096 of a
    /// cycle, sum of both directions; bit 12 measured since `measure` was written, and the satellite is reachable.
    pub const PHASE: &str = "satellite_phase";
    /// Bit of `satellite_phase`.
    pub const PHASE_MEASURED_BIT: u32 = 4096;
}

/// Names of the registers of `card`.
pub mod card {
    /// Bit 0 the line to the card carries words, 1 its counter is about to be set, 2 the answer to `echo` has not come,
    /// 3 RTIO has been reset, and the card is to be: until `cleared` is written, or the card is not reachable, nothing
    /// is sent to its channels, and the initiator is busy.
    pub const STATE: &str = "card_state";
    /// Bit of `card_state`.
    pub const STATE_LINE_BIT: u32 = 1;
    /// Bit of `card_state`.
    pub const STATE_TIME_DUE_BIT: u32 = 2;
    /// Bit of `card_state`.
    pub const STATE_ECHO_DUE_BIT: u32 = 4;
    /// Bit of `card_state`.
    pub const STATE_RESET_DUE_BIT: u32 = 8;

    /// Write: whether the card's channels can be reached, as `satellite_state` then says; 0 when the line goes down.
    pub const REACHABLE: &str = "card_reachable";

    /// Cycles by which `set_time` sets the card's counter ahead.
    pub const CORRECTION: &str = "card_correction";

    /// Write: set the card's counter to this board's.
    pub const SET_TIME: &str = "card_set_time";

    /// Write: measure the round trip.
    pub const ECHO: &str = "card_echo";

    /// Cycles from the first word of the echo request to the reply; saturates.
    pub const ROUND_TRIP: &str = "card_round_trip";

    /// Write: the card's channels have been reset.
    pub const CLEARED: &str = "card_cleared";

    /// Outputs for which the card is known to have room.
    pub const SPACE: &str = "card_space";

    /// Words from the card with an invalid character, or with characters that do not go together; this and the counters
    /// below saturate.
    pub const WRONG: &str = "card_wrong";

    /// Real-time packets from the card that ended too early, or of an unknown type.
    pub const MALFORMED: &str = "card_malformed";

    /// Questions for room that were not answered in time.
    pub const NO_SPACE_REPLY: &str = "card_no_space_reply";

    /// Reads that were not answered in time.
    pub const NO_READ_REPLY: &str = "card_no_read_reply";
}

/// Names of the registers of `remote`.
pub mod remote {
    /// Byte address of a 64-bit word in the memory of the board at the other end.
    pub const ADDRESS: &str = "remote_address";

    /// Data to store.
    pub const DATA: &str = "remote_data";

    /// Byte enables of stores, lowest byte in bit 0; 255 after reset.
    pub const STROBES: &str = "remote_strobes";

    /// Bit 3 loads and stores address the board in bits 2..0, which is reached over this link, instead of the board at
    /// its other end.
    pub const DESTINATION: &str = "remote_destination";
    /// Bit of `remote_destination`.
    pub const DESTINATION_OTHER_BIT: u32 = 8;

    /// Write: load the word; ignored while busy.
    pub const LOAD: &str = "remote_load";

    /// Write: store the data; ignored while busy.
    pub const STORE: &str = "remote_store";

    /// Bit 0 the link is up, 1 busy: a load or store has not been answered, 2 idle: nothing is in flight, 4..3 status
    /// of the last access: 0 done, 1 refused, 2 bus error, 3 unreachable.
    pub const STATE: &str = "remote_state";
    /// Bit of `remote_state`.
    pub const STATE_UP_BIT: u32 = 1;
    /// Bit of `remote_state`.
    pub const STATE_BUSY_BIT: u32 = 2;
    /// Bit of `remote_state`.
    pub const STATE_IDLE_BIT: u32 = 4;
    /// Bit of `remote_state`.
    pub const STATE_STATUS_BIT: u32 = 8;

    /// Data of the last load.
    pub const VALUE: &str = "remote_value";

    /// Early acknowledgement: stores are answered before the other board has executed them.
    pub const EARLY_ACKNOWLEDGE: &str = "remote_early_acknowledge";

    /// Stores that failed after an early acknowledgement; this and the counters below saturate.
    pub const FAILED: &str = "remote_failed";

    /// Bit 0 such a store has failed: the second interrupt of the logic (IRQF2P 1) is asserted, and `load` and `store`
    /// fail at once, with its status, 2..1 why it failed, a status as in `remote_state`, 3 it was for another board
    /// than the one at the other end.
    pub const LATE: &str = "remote_late";
    /// Bit of `remote_late`.
    pub const LATE_FAILED_BIT: u32 = 1;
    /// Bit of `remote_late`.
    pub const LATE_STATUS_BIT: u32 = 2;
    /// Bit of `remote_late`.
    pub const LATE_OTHER_BIT: u32 = 8;

    /// Address of its 64-bit word; this and bits 3..1 above stay until the next failure.
    pub const LATE_ADDRESS: &str = "remote_late_address";

    /// Write: the failure is known.
    pub const LATE_CLEAR: &str = "remote_late_clear";

    /// Loads and stores retransmitted.
    pub const REPEATED: &str = "remote_repeated";

    /// Answers discarded because they arrived too late.
    pub const STALE: &str = "remote_stale";

    /// Cycles after which a new load or store is retransmitted: twice the longest of the latest round trips, from 256
    /// to 4096.
    pub const TIMEOUT: &str = "remote_timeout";
}

/// Names of the registers of `exports`.
pub mod exports {
    /// Number of the region, of those exported to the other board, that `set` changes.
    pub const REGION: &str = "exports_region";

    /// Address of its first byte, a multiple of 8, as others use it.
    pub const FIRST: &str = "exports_first";

    /// Address of any byte of its last 64-bit word, likewise.
    pub const LAST: &str = "exports_last";

    /// Added to these addresses, modulo 2^32, it gives those of this board's memory, or of its block; a multiple of 8.
    /// 0: the same.
    pub const OFFSET: &str = "exports_offset";

    /// Bit 3 the region is for the board in bits 2..0 only; 0: for all boards behind the link.
    pub const BOARD: &str = "exports_board";
    /// Bit of `exports_board`.
    pub const BOARD_NUMBER_BIT: u32 = 1;
    /// Bit of `exports_board`.
    pub const BOARD_ONLY_BIT: u32 = 8;

    /// Bit 0 readable, 1 also writable, 2 coherent with the processors' caches: loads and stores only, through the ACP;
    /// 0: not exported, as after reset.
    pub const RIGHTS: &str = "exports_rights";
    /// Bit of `exports_rights`.
    pub const RIGHTS_READ_BIT: u32 = 1;
    /// Bit of `exports_rights`.
    pub const RIGHTS_WRITE_BIT: u32 = 2;
    /// Bit of `exports_rights`.
    pub const RIGHTS_COHERENT_BIT: u32 = 4;

    /// Write: apply the registers above to the region; `offset` and `board` are 0 afterwards.
    pub const SET: &str = "exports_set";

    /// Loads and stores of the other board that were refused; saturates.
    pub const REFUSED: &str = "exports_refused";

    /// Packets of bulk transfers that were refused; saturates.
    pub const PACKETS: &str = "exports_packets";
}

/// Names of the registers of `block`.
pub mod block {
    /// Size of its addresses, which begin at `PL_BLOCK` of src/contracts/memory.toml.
    pub const BYTES: &str = "block_bytes";
}

/// Names of the registers of `bulk`.
pub mod bulk {
    /// Address of the ring of 64 descriptors, a multiple of 1024.
    pub const BASE: &str = "bulk_base";

    /// Descriptors posted, modulo 65536.
    pub const POSTED: &str = "bulk_posted";

    /// 1: several packets may be in flight; 0: each packet is answered before the next one is read. 1 after reset.
    pub const PIPELINED: &str = "bulk_pipelined";

    /// Write: count the posted descriptors as completed and resume the engine, once no packet is in flight.
    pub const CLEAR: &str = "bulk_clear";

    /// A descriptor with the notification flag has completed, or the engine has halted.
    pub const NOTIFICATION: &str = "bulk_notification";

    /// Write: clear `notification`.
    pub const NOTIFICATION_CLEAR: &str = "bulk_notification_clear";

    /// 1: assert the interrupt while `notification` is 1.
    pub const INTERRUPT: &str = "bulk_interrupt";

    /// Descriptors completed, modulo 65536.
    pub const COMPLETED: &str = "bulk_completed";

    /// Bit 0 halted, 1 idle: nothing is in flight, 4..2 reason of the halt: 1 refused, 2 bus error on the other board,
    /// 3 unreachable, 5 invalid descriptor, 6 local memory could not be read.
    pub const STATE: &str = "bulk_state";
    /// Bit of `bulk_state`.
    pub const STATE_HALTED_BIT: u32 = 1;
    /// Bit of `bulk_state`.
    pub const STATE_IDLE_BIT: u32 = 2;
    /// Bit of `bulk_state`.
    pub const STATE_REASON_BIT: u32 = 4;

    /// Packets retransmitted; this and the counters below saturate.
    pub const REPEATED: &str = "bulk_repeated";

    /// Packets received with errors.
    pub const BROKEN: &str = "bulk_broken";

    /// Packets received while no buffer was free.
    pub const DROPPED: &str = "bulk_dropped";

    /// Cycles after which a new packet is retransmitted: twice the longest of the latest round trips, from 512 to 4096.
    pub const TIMEOUT: &str = "bulk_timeout";
}

/// Names of the registers of `window`.
pub mod window {
    /// Number of the board's links that have addresses in the window.
    pub const LINKS: &str = "window_links";

    /// Cause of the latest failed access: bits 2..0 as the status in `remote_state`, or 4: the board has no such link;
    /// bit 3 it was a store.
    pub const FAULT: &str = "window_fault";
    /// Bit of `window_fault`.
    pub const FAULT_WHY_BIT: u32 = 1;
    /// Bit of `window_fault`.
    pub const FAULT_STORE_BIT: u32 = 8;

    /// Address of that access in the window.
    pub const ADDRESS: &str = "window_address";

    /// Failed accesses; saturates.
    pub const FAILED: &str = "window_failed";

    /// Destination of the board mapped at B000_0000 and above, if the board has fewer than four links.
    pub const DESTINATION: &str = "window_destination";

    /// Number of the link that leads to this board now, of the links as the registers count them; of no meaning if none
    /// does.
    pub const END: &str = "window_end";

    /// Stores are answered before the other board has executed them.
    pub const POSTED: &str = "window_posted";

    /// Bit 0 a store that was answered before has failed: the second interrupt of the logic (IRQF2P 1) is asserted, and
    /// all accesses fail, 1 no load or store of this board is in flight at any link, 3..2 why it failed, a status as in
    /// `remote_state`.
    pub const LATE: &str = "window_late";
    /// Bit of `window_late`.
    pub const LATE_FAILED_BIT: u32 = 1;
    /// Bit of `window_late`.
    pub const LATE_IDLE_BIT: u32 = 2;
    /// Bit of `window_late`.
    pub const LATE_STATUS_BIT: u32 = 4;

    /// Address of its 64-bit word in the window.
    pub const LATE_ADDRESS: &str = "window_late_address";

    /// Write: the failure is known.
    pub const LATE_CLEAR: &str = "window_late_clear";
}

/// Names of the registers of `bridge`.
pub mod bridge {
    /// Bit 0 the link is up, 1 an access or an interrupt is under way, 2 the other end waits for data that were lost:
    /// all accesses fail until a reset, 3 the other end is in reset, 4 the packetiser is the gearbox, not the simple
    /// one.
    pub const STATE: &str = "bridge_state";
    /// Bit of `bridge_state`.
    pub const STATE_UP_BIT: u32 = 1;
    /// Bit of `bridge_state`.
    pub const STATE_BUSY_BIT: u32 = 2;
    /// Bit of `bridge_state`.
    pub const STATE_STUCK_BIT: u32 = 4;
    /// Bit of `bridge_state`.
    pub const STATE_HELD_BIT: u32 = 8;
    /// Bit of `bridge_state`.
    pub const STATE_PACKED_BIT: u32 = 16;

    /// Bits 7..0 width of the bus between the boards, 15..8 interrupts in each direction.
    pub const WIDTH: &str = "bridge_width";
    /// Bit of `bridge_width`.
    pub const WIDTH_DATA_BIT: u32 = 1;
    /// Bit of `bridge_width`.
    pub const WIDTH_INTERRUPTS_BIT: u32 = 256;

    /// 1: both ends and the block behind the other one are in reset, and accesses fail. To be kept for 1 ms, so that
    /// nothing remains under way.
    pub const RESET: &str = "bridge_reset";

    /// Cycles from the address of the latest access to its answer.
    pub const LATENCY: &str = "bridge_latency";

    /// Interrupts shown at the other board.
    pub const RAISES: &str = "bridge_raises";

    /// Interrupts that the other board shows: those of the block, and its `outlet_raises`; 0 while the link is down.
    pub const LEVELS: &str = "bridge_levels";

    /// Those of `bridge_levels` that assert the third interrupt of the logic (IRQF2P 2).
    pub const ENABLED: &str = "bridge_enabled";

    /// Writes answered, modulo 2^32.
    pub const WRITES: &str = "bridge_writes";

    /// Reads answered, modulo 2^32.
    pub const READS: &str = "bridge_reads";

    /// Accesses answered with an error; saturates.
    pub const FAILED: &str = "bridge_failed";
}

/// Names of the registers of `outlet`.
pub mod outlet {
    /// Bit 0 the link is up, 1 the upstream board holds the bridge in reset.
    pub const STATE: &str = "outlet_state";
    /// Bit of `outlet_state`.
    pub const STATE_UP_BIT: u32 = 1;
    /// Bit of `outlet_state`.
    pub const STATE_HELD_BIT: u32 = 2;

    /// Interrupts shown at the upstream board, beside those of the block.
    pub const RAISES: &str = "outlet_raises";

    /// Interrupts that the upstream board shows; 0 while the link is down.
    pub const LEVELS: &str = "outlet_levels";

    /// Those of `outlet_levels` that assert the third interrupt of the logic (IRQF2P 2).
    pub const ENABLED: &str = "outlet_enabled";

    /// Writes answered, modulo 2^32.
    pub const WRITES: &str = "outlet_writes";

    /// Reads answered, modulo 2^32.
    pub const READS: &str = "outlet_reads";

    /// Answers with an error; saturates.
    pub const FAILED: &str = "outlet_failed";
}

/// Names of the registers of `pages`.
pub mod pages {
    /// Write: bits 31..12 the address of a page of 4 KiB of this board's memory, shown as the page 9..2 of the range;
    /// bit 1 the upstream board may write it, 0 read it; 0 in both: it is not shown.
    pub const ENTRY: &str = "pages_entry";

    /// Reads and writes refused by the entries, or beyond the range; saturates.
    pub const REFUSED: &str = "pages_refused";
}

/// Names of the registers of `mailbox`.
pub mod mailbox {
    /// Reads 0. Write: append a word to the packet to send, at most 256.
    pub const SEND: &str = "mailbox_send";

    /// Write: send the packet.
    pub const GO: &str = "mailbox_go";

    /// Bit 0 the link is up, 1 a packet is being sent: writes to the two registers above are ignored.
    pub const STATE: &str = "mailbox_state";
    /// Bit of `mailbox_state`.
    pub const STATE_LINE_BIT: u32 = 1;
    /// Bit of `mailbox_state`.
    pub const STATE_BUSY_BIT: u32 = 2;

    /// Length in words of the oldest received packet; 0: none.
    pub const WAITING: &str = "mailbox_waiting";

    /// Read: next word of this packet.
    pub const RECEIVE: &str = "mailbox_receive";

    /// Write: free the buffer of this packet.
    pub const RELEASE: &str = "mailbox_release";

    /// Received packets dropped because no buffer was free or a word was missing; saturates.
    pub const DROPPED: &str = "mailbox_dropped";
}

/// Names of the registers of `uplink`.
pub mod uplink {
    /// Satellites only: bit 0 the line to the upstream board carries words, 1 the counter is synchronised to that of
    /// the master.
    pub const STATE: &str = "uplink_state";
    /// Bit of `uplink_state`.
    pub const STATE_LINE_BIT: u32 = 1;
    /// Bit of `uplink_state`.
    pub const STATE_LIVE_BIT: u32 = 2;

    /// Satellites only: destination of this board, as assigned by the master over the link; commands of its processors
    /// to this destination (bits 23..16 of a channel) address its own channels.
    pub const DESTINATION: &str = "uplink_destination";

    /// Satellites only: the DMA player submits events on behalf of the upstream board, which is notified if a reset of
    /// this board drops them.
    pub const REMOTE_PLAYBACK: &str = "uplink_remote_playback";
}

/// Names of the registers of `initiator`.
pub mod initiator {
    /// 0: ignore `sev`, discard requests in flight and restart numbering at 1; no further events are pushed, those
    /// already pushed remain. Set to 1 only after `initiator_busy` has been 0.
    pub const ENABLE: &str = "initiator_enable";

    /// Physical address of the ring, aligned to 4096.
    pub const RING: &str = "initiator_ring";

    /// Only with pushed inputs: physical address of the input rings, aligned to 262144; 0: nothing is pushed. Change
    /// only while the initiator is disabled and not busy.
    pub const INPUT_RING: &str = "initiator_input_ring";

    /// A request, an answer or a pushed event is in flight, or input rings are being reset.
    pub const BUSY: &str = "initiator_busy";

    /// Triggers without a request of the expected number; saturates.
    pub const LOST: &str = "initiator_lost";

    /// Bus errors of the initiator so far: bit 0 read, bit 1 write.
    pub const ERROR: &str = "initiator_error";
    /// Bit of `initiator_error`.
    pub const ERROR_READ_BIT: u32 = 1;
    /// Bit of `initiator_error`.
    pub const ERROR_WRITE_BIT: u32 = 2;

    /// Write: clear the two registers above and the error in the status word.
    pub const CLEAR: &str = "initiator_clear";

    /// Reads 0. Write: permit for this number of cycles to post outputs without checking the clock; 0 revokes. Begin
    /// and end are reported in the status word.
    pub const PERMIT: &str = "initiator_permit";
}

/// Names of the registers of `dma`.
pub mod dma {
    /// Write 1: play; write 0: stop. Not readable; see `dma_busy`.
    pub const ENABLE: &str = "dma_enable";

    /// A trace is being played, or requested data are still arriving.
    pub const BUSY: &str = "dma_busy";

    /// Physical address of the trace; the low 7 bits are ignored.
    pub const BASE: &str = "dma_base";

    /// Added to the timestamps of the trace, modulo 2^64.
    pub const TIME_OFFSET: &str = "dma_time_offset";

    /// 0 recorded, 1 compact.
    pub const FORMAT: &str = "dma_format";

    /// 1 underflow, 2 unreachable, 4 bus error, 8 malformed trace; cleared by any write and by a start.
    pub const ERROR: &str = "dma_error";
    /// Bit of `dma_error`.
    pub const ERROR_UNDERFLOW_BIT: u32 = 1;
    /// Bit of `dma_error`.
    pub const ERROR_UNREACHABLE_BIT: u32 = 2;
    /// Bit of `dma_error`.
    pub const ERROR_BUS_BIT: u32 = 4;
    /// Bit of `dma_error`.
    pub const ERROR_MALFORMED_BIT: u32 = 8;

    /// Channel of the failed event; with errors 4 and 8 of the last event before the error.
    pub const ERROR_CHANNEL: &str = "dma_error_channel";

    /// Timestamp of that event.
    pub const ERROR_TIMESTAMP: &str = "dma_error_timestamp";

    /// RTIO address of that event.
    pub const ERROR_ADDRESS: &str = "dma_error_address";

    /// Events submitted since the start, including the failed one.
    pub const EVENTS: &str = "dma_events";
}

/// Names of the registers of `analyzer`.
pub mod analyzer {
    /// 0 → 1: start recording at the beginning of the ring and clear counters and errors (only while not busy). 1 → 0:
    /// append 'stopped'.
    pub const ENABLE: &str = "analyzer_enable";

    /// Enabled, or data not yet written to memory.
    pub const BUSY: &str = "analyzer_busy";

    /// Physical address of the ring's first byte.
    pub const BASE: &str = "analyzer_base";

    /// Physical address of any byte of the ring's last 32.
    pub const LAST: &str = "analyzer_last";

    /// Allow pairs: two messages in one unit.
    pub const PACK: &str = "analyzer_pack";

    /// Stall DMA when the analyzer cannot keep up.
    pub const LOSSLESS: &str = "analyzer_lossless";

    /// Bytes written to the ring since recording began.
    pub const BYTE_COUNT: &str = "analyzer_byte_count";

    /// Messages written since recording began.
    pub const MESSAGE_COUNT: &str = "analyzer_message_count";

    /// Messages were lost.
    pub const OVERFLOW: &str = "analyzer_overflow";

    /// A write to memory returned a bus error.
    pub const BUS_ERROR: &str = "analyzer_bus_error";
}

/// Names of the registers of `pulse`.
pub mod pulse {
    /// Bits 3..0 number of channels, 7..4 samples per cycle, 12..8 address bits of the gate table, 17..13 of the memory
    /// map, 22..18 of the pulse table.
    pub const CONFIG: &str = "pulse_config";

    /// Sample rate in units of 100 Hz.
    pub const RATE: &str = "pulse_rate";

    /// Bit mask of the channels waiting for a trigger.
    pub const ARMED: &str = "pulse_armed";

    /// Bit mask of the running channels.
    pub const RUNNING: &str = "pulse_running";

    /// Errors so far, bits as in the status for kernels; write 1 to clear.
    pub const ERROR: &str = "pulse_error";

    /// Parameters that ran out of segments, 8 bits per channel; cleared with the error.
    pub const UNDERRUN: &str = "pulse_underrun";

    /// Channel selected for `first_cycle`.
    pub const FIRST_CHANNEL: &str = "pulse_first_channel";

    /// Cycle of the first underrun of this channel since the error was cleared.
    pub const FIRST_CYCLE: &str = "pulse_first_cycle";

    /// Write: latch the cycle counter.
    pub const CYCLE_UPDATE: &str = "pulse_cycle_update";

    /// Latched cycle counter, 48 bits, starting at power-up or the last reset of the PHYs.
    pub const CYCLE: &str = "pulse_cycle";

    /// Write 1: trigger.
    pub const TRIGGER: &str = "pulse_trigger";

    /// Write: result of a measurement; reads 0.
    pub const RESULT: &str = "pulse_result";

    /// Write 1: start the stream from memory with the list at `stream_base`; write 0: stop it.
    pub const STREAM_ENABLE: &str = "pulse_stream_enable";

    /// Words are being read, or requested data are still arriving.
    pub const STREAM_BUSY: &str = "pulse_stream_busy";

    /// Physical address of the list of descriptors; the low 7 bits are ignored.
    pub const STREAM_BASE: &str = "pulse_stream_base";

    /// The list or words could not be read; cleared by a start.
    pub const STREAM_ERROR: &str = "pulse_stream_error";

    /// Words passed to the core since the start.
    pub const STREAM_WORDS: &str = "pulse_stream_words";
}

/// Names of the registers of `traffic`.
pub mod traffic {
    /// Write: start. Bit 0: 0 read memory, 1 write memory; bit 1: 0 through the HP port, 1 through the ACP. Ignored
    /// while busy.
    pub const START: &str = "traffic_start";
    /// Bit of `traffic_start`.
    pub const START_WRITE_BIT: u32 = 1;
    /// Bit of `traffic_start`.
    pub const START_COHERENT_BIT: u32 = 2;

    /// Words are being read or written, or wait for the port.
    pub const BUSY: &str = "traffic_busy";

    /// Physical address; the low 7 bits are ignored.
    pub const ADDRESS: &str = "traffic_address";

    /// Size in bytes; the low 3 bits are ignored.
    pub const SIZE: &str = "traffic_size";

    /// Data written to memory: in each 8 bytes, low word first, the seed plus the number of the beat, and the
    /// complement of this sum.
    pub const SEED: &str = "traffic_seed";

    /// Cycles from the start to the first beat of a read, or the first response to a write.
    pub const FIRST: &str = "traffic_first";

    /// Cycles from the start to the last beat, or the last response.
    pub const LAST: &str = "traffic_last";

    /// Sum of the words read, modulo 2^32.
    pub const SUM: &str = "traffic_sum";

    /// The memory has returned an error since the start.
    pub const ERROR: &str = "traffic_error";

    /// EMIO lines 0 to 31 as seen by the logic, which loops them back on lines 32 to 63.
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

    /// Latched value of the probe.
    pub const VALUE: &str = "moninj_value";

    /// Channel selected for the injector.
    pub const INJECT_CHANNEL: &str = "moninj_inject_channel";

    /// Override selected for the injector.
    pub const INJECT_OVERRIDE: &str = "moninj_inject_override";

    /// Value of the selected override; 0 if it does not exist.
    pub const INJECT_VALUE: &str = "moninj_inject_value";
}

/// Names of the registers of `clock`.
pub mod clock {
    /// Write 0: run from the processing system's clock, 1: from the synthesiser's, also to retry after a failure.
    /// Register accesses are delayed during the change.
    pub const SELECT: &str = "clock_select";

    /// Bit 0 the synthesiser's clock is selected, 1 a change is in progress, 2 locked to the selected clock, 3 PHYs are
    /// held in reset: a change is in progress, or the clock was lost.
    pub const STATUS: &str = "clock_status";
    /// Bit of `clock_status`.
    pub const STATUS_SELECTED_BIT: u32 = 1;
    /// Bit of `clock_status`.
    pub const STATUS_SWITCHING_BIT: u32 = 2;
    /// Bit of `clock_status`.
    pub const STATUS_LOCKED_BIT: u32 = 4;
    /// Bit of `clock_status`.
    pub const STATUS_HOLD_BIT: u32 = 8;

    /// Bit 0: the synthesiser's clock was lost or did not lock, and the processing system's was selected; write:
    /// acknowledge, which releases the reset of the PHYs.
    pub const LOST: &str = "clock_lost";
    /// Bit of `clock_lost`.
    pub const LOST_BIT: u32 = 1;

    /// Frequency of the synthesiser's clock in units of 477 Hz, exactly 4/2^20 of the processing system's clock; 0:
    /// none.
    pub const SYNTHESISER: &str = "clock_synthesiser";

    /// Frequency of the external clock, in the same units; 0: none.
    pub const REFERENCE: &str = "clock_reference";
}

/// Names of the registers of `link`.
pub mod link {
    /// The link is established: both ends have completed the handshake.
    pub const UP: &str = "link_up";

    /// Number of times the link went down, by loss of the line, timeout, or a restart of the other end; this and the
    /// counters below saturate.
    pub const ENDED: &str = "link_ended";

    /// Words received with a single-bit error, which was corrected.
    pub const CORRECTED: &str = "link_corrected";

    /// Words retransmitted.
    pub const RETRANSMITTED: &str = "link_retransmitted";

    /// Words received and dropped: double-bit error, or part of a corrupted or unexpected frame.
    pub const DROPPED: &str = "link_dropped";

    /// Words of the first (real-time) lane that can be sent before a further acknowledgement is needed.
    pub const SPACE: &str = "link_space";

    /// Write: clear the counters.
    pub const CLEAR: &str = "link_clear";
}

/// Names of the registers of `cross`.
pub mod cross {
    /// Bits 2..0 destination of the board at the other end of this cross link, as that has told it last; bit 3 the link
    /// is up, and leads there, 4 it has been told since this board started.
    pub const DESTINATION: &str = "cross_destination";
    /// Bit of `cross_destination`.
    pub const DESTINATION_NUMBER_BIT: u32 = 1;
    /// Bit of `cross_destination`.
    pub const DESTINATION_LEADS_BIT: u32 = 8;
    /// Bit of `cross_destination`.
    pub const DESTINATION_KNOWN_BIT: u32 = 16;
}

/// Names of the registers of `scratch`.
pub mod scratch {
    /// No function, for testing and measuring accesses; 0 after power-up.
    pub const WORD: &str = "scratch_word";

    /// As `scratch_word`; writing the low word updates both words.
    pub const WIDE: &str = "scratch_wide";
}

/// Names of the registers of `spi`.
pub mod spi {
    /// RTIO channel of the SPI master that executes the transfer.
    pub const CHANNEL: &str = "spi_channel";

    /// Configuration of the transfer, as in an event at address 1; chip select is always released afterwards.
    pub const CONFIG: &str = "spi_config";

    /// Write: execute a transfer with these data, as in an event at address 0, as soon as the master is idle; ignored
    /// while busy.
    pub const DATA: &str = "spi_data";

    /// Bit 0 the transfer is pending, 1 the last transfer was refused, because an experiment kept chip select asserted
    /// for 1 ms, 2 the channel has no SPI master.
    pub const STATE: &str = "spi_state";
    /// Bit of `spi_state`.
    pub const STATE_BUSY_BIT: u32 = 1;
    /// Bit of `spi_state`.
    pub const STATE_REFUSED_BIT: u32 = 2;
    /// Bit of `spi_state`.
    pub const STATE_ABSENT_BIT: u32 = 4;

    /// Data received by the last transfer with the input flag set.
    pub const VALUE: &str = "spi_value";
}

/// Registers that firmware or kernels work with, so that a batch may not write them: block, name in it, and whether a
/// batch may read it.
pub const RESERVED: &[(&str, &str, bool)] = &[
    ("rtio", "reset", false),
    ("rtio", "phy_reset", true),
    ("rtio", "counter_update", false),
    ("rtio", "async_error", true),
    ("window", "destination", true),
    ("window", "posted", true),
    ("window", "late_clear", false),
    ("pages", "entry", true),
    ("mailbox", "send", false),
    ("mailbox", "go", false),
    ("mailbox", "receive", false),
    ("mailbox", "release", false),
    ("uplink", "destination", true),
    ("uplink", "remote_playback", true),
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
