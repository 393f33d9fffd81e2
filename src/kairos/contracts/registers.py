# ruff: noqa: E501
"""Registers of the programmable logic, by their names in the descriptor.

Generated from src/contracts/registers.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["BLOCKS", "FIELDS"]

BLOCKS = {
    "rtio": {
        "reset": (
            1,
            "w",
            "write 1: pulse the reset of the RTIO core; clears FIFOs and pending states, keeps PHY states",
        ),
        "phy_reset": (
            1,
            "rw",
            "reset of the PHYs, level; 1 after power-up, cleared by the firmware at boot",
        ),
        "counter_update": (
            1,
            "w",
            "write: latch the counter",
        ),
        "counter": (
            64,
            "r",
            "latched counter in machine units (low fine bits 0)",
        ),
        "async_error": (
            3,
            "rw",
            "bit 0 collision, 1 busy, 2 sequence error; write 1 to clear",
        ),
        "collision_channel": (
            24,
            "r",
            "channel of the first collision since its flag was cleared, with its destination in bits 23..16",
        ),
        "busy_channel": (
            24,
            "r",
            "channel of the first busy error since its flag was cleared, with its destination in bits 23..16",
        ),
        "sequence_error_channel": (
            24,
            "r",
            "channel of the first sequence error since its flag was cleared, with its destination in bits 23..16",
        ),
        "outputs": (
            16,
            "r",
            "number of output channels: channels 0 to this number - 1 take outputs",
        ),
    },
    "satellite": {
        "state": (
            3,
            "r",
            "bit 0 the line carries words, 1 the satellite is reachable: its counter is synchronised to that of the master, 2 outputs are blocked: the newest events wait for buffer space",
        ),
        "one_way_delay": (
            16,
            "r",
            "delay in cycles from the departure of a vector to its arrival, half of the measured round trip",
        ),
        "events": (
            16,
            "r",
            "events sent since the line came up, modulo 65536",
        ),
        "destination": (
            8,
            "r",
            "destination of the satellite; those of the boards behind it follow",
        ),
        "boards": (
            8,
            "r",
            "bit mask of the reachable boards, the satellite in bit 0 and those behind it above",
        ),
        "slack": (
            18,
            "r",
            "minimum slack in cycles of an output when it is accepted: the maximum over these boards",
        ),
        "lost_outputs": (
            16,
            "r",
            "upper bound of the events lost because the logic of the satellite restarted before executing them; saturates",
        ),
        "measure": (
            1,
            "w",
            "write: measure the phase of the clock, if the satellite is reachable",
        ),
        "phase": (
            13,
            "r",
            "bits 11..0 phase lag of the clock recovered from the satellite relative to this board's clock, in 1/4096 of a cycle, sum of both directions; bit 12 measured since `measure` was written, and the satellite is reachable",
        ),
    },
    "card": {
        "state": (
            4,
            "r",
            "bit 0 the line to the card carries words, 1 its counter is about to be set, 2 the answer to `echo` has not come, 3 RTIO has been reset, and the card is to be: until `cleared` is written, or the card is not reachable, nothing is sent to its channels, and the initiator is busy",
        ),
        "reachable": (
            1,
            "w",
            "write: whether the card's channels can be reached, as `satellite_state` then says; 0 when the line goes down",
        ),
        "correction": (
            16,
            "rw",
            "cycles by which `set_time` sets the card's counter ahead",
        ),
        "set_time": (
            1,
            "w",
            "write: set the card's counter to this board's",
        ),
        "echo": (
            1,
            "w",
            "write: measure the round trip",
        ),
        "round_trip": (
            16,
            "r",
            "cycles from the first word of the echo request to the reply; saturates",
        ),
        "cleared": (
            1,
            "w",
            "write: the card's channels have been reset",
        ),
        "space": (
            16,
            "r",
            "outputs for which the card is known to have room",
        ),
        "wrong": (
            16,
            "r",
            "words from the card with an invalid character, or with characters that do not go together; this and the counters below saturate",
        ),
        "malformed": (
            16,
            "r",
            "real-time packets from the card that ended too early, or of an unknown type",
        ),
        "no_space_reply": (
            16,
            "r",
            "questions for room that were not answered in time",
        ),
        "no_read_reply": (
            16,
            "r",
            "reads that were not answered in time",
        ),
    },
    "remote": {
        "address": (
            32,
            "rw",
            "byte address of a 64-bit word in the memory of the board at the other end",
        ),
        "data": (
            64,
            "rw",
            "data to store",
        ),
        "strobes": (
            8,
            "rw",
            "byte enables of stores, lowest byte in bit 0; 255 after reset",
        ),
        "destination": (
            4,
            "rw",
            "bit 3 loads and stores address the board in bits 2..0, which is reached over this link, instead of the board at its other end",
        ),
        "load": (
            1,
            "w",
            "write: load the word; ignored while busy",
        ),
        "store": (
            1,
            "w",
            "write: store the data; ignored while busy",
        ),
        "state": (
            5,
            "r",
            "bit 0 the link is up, 1 busy: a load or store has not been answered, 2 idle: nothing is in flight, 4..3 status of the last access: 0 done, 1 refused, 2 bus error, 3 unreachable",
        ),
        "value": (
            64,
            "r",
            "data of the last load",
        ),
        "early_acknowledge": (
            1,
            "rw",
            "early acknowledgement: stores are answered before the other board has executed them",
        ),
        "failed": (
            16,
            "r",
            "stores that failed after an early acknowledgement; this and the counters below saturate",
        ),
        "late": (
            4,
            "r",
            "bit 0 such a store has failed: the second interrupt of the logic (IRQF2P 1) is asserted, and `load` and `store` fail at once, with its status, 2..1 why it failed, a status as in `remote_state`, 3 it was for another board than the one at the other end",
        ),
        "late_address": (
            32,
            "r",
            "address of its 64-bit word; this and bits 3..1 above stay until the next failure",
        ),
        "late_clear": (
            1,
            "w",
            "write: the failure is known",
        ),
        "repeated": (
            16,
            "r",
            "loads and stores retransmitted",
        ),
        "stale": (
            16,
            "r",
            "answers discarded because they arrived too late",
        ),
        "timeout": (
            16,
            "r",
            "cycles after which a new load or store is retransmitted: twice the longest of the latest round trips, from 256 to 4096",
        ),
    },
    "exports": {
        "region": (
            2,
            "rw",
            "number of the region, of those exported to the other board, that `set` changes",
        ),
        "first": (
            32,
            "rw",
            "address of its first byte, a multiple of 8, as others use it",
        ),
        "last": (
            32,
            "rw",
            "address of any byte of its last 64-bit word, likewise",
        ),
        "offset": (
            32,
            "rw",
            "added to these addresses, modulo 2^32, it gives those of this board's memory, or of its block; a multiple of 8. 0: the same",
        ),
        "board": (
            4,
            "rw",
            "bit 3 the region is for the board in bits 2..0 only; 0: for all boards behind the link",
        ),
        "rights": (
            3,
            "rw",
            "bit 0 readable, 1 also writable, 2 coherent with the processors' caches: loads and stores only, through the ACP; 0: not exported, as after reset",
        ),
        "set": (
            1,
            "w",
            "write: apply the registers above to the region; `offset` and `board` are 0 afterwards",
        ),
        "refused": (
            16,
            "r",
            "loads and stores of the other board that were refused; saturates",
        ),
        "packets": (
            16,
            "r",
            "packets of bulk transfers that were refused; saturates",
        ),
    },
    "block": {
        "bytes": (
            32,
            "r",
            "size of its addresses, which begin at `PL_BLOCK` of src/contracts/memory.toml",
        ),
    },
    "bulk": {
        "base": (
            32,
            "rw",
            "address of the ring of 64 descriptors, a multiple of 1024",
        ),
        "posted": (
            16,
            "rw",
            "descriptors posted, modulo 65536",
        ),
        "pipelined": (
            1,
            "rw",
            "1: several packets may be in flight; 0: each packet is answered before the next one is read. 1 after reset",
        ),
        "clear": (
            1,
            "w",
            "write: count the posted descriptors as completed and resume the engine, once no packet is in flight",
        ),
        "notification": (
            1,
            "r",
            "a descriptor with the notification flag has completed, or the engine has halted",
        ),
        "notification_clear": (
            1,
            "w",
            "write: clear `notification`",
        ),
        "interrupt": (
            1,
            "rw",
            "1: assert the interrupt while `notification` is 1",
        ),
        "completed": (
            16,
            "r",
            "descriptors completed, modulo 65536",
        ),
        "state": (
            5,
            "r",
            "bit 0 halted, 1 idle: nothing is in flight, 4..2 reason of the halt: 1 refused, 2 bus error on the other board, 3 unreachable, 5 invalid descriptor, 6 local memory could not be read",
        ),
        "repeated": (
            16,
            "r",
            "packets retransmitted; this and the counters below saturate",
        ),
        "broken": (
            16,
            "r",
            "packets received with errors",
        ),
        "dropped": (
            16,
            "r",
            "packets received while no buffer was free",
        ),
        "timeout": (
            16,
            "r",
            "cycles after which a new packet is retransmitted: twice the longest of the latest round trips, from 512 to 4096",
        ),
    },
    "window": {
        "links": (
            3,
            "r",
            "number of the board's links that have addresses in the window",
        ),
        "fault": (
            4,
            "r",
            "cause of the latest failed access: bits 2..0 as the status in `remote_state`, or 4: the board has no such link; bit 3 it was a store",
        ),
        "address": (
            32,
            "r",
            "address of that access in the window",
        ),
        "failed": (
            16,
            "r",
            "failed accesses; saturates",
        ),
        "destination": (
            3,
            "rw",
            "destination of the board mapped at B000_0000 and above, if the board has fewer than four links",
        ),
        "end": (
            3,
            "r",
            "number of the link that leads to this board now, of the links as the registers count them; of no meaning if none does",
        ),
        "posted": (
            1,
            "rw",
            "stores are answered before the other board has executed them",
        ),
        "late": (
            4,
            "r",
            "bit 0 a store that was answered before has failed: the second interrupt of the logic (IRQF2P 1) is asserted, and all accesses fail, 1 no load or store of this board is in flight at any link, 3..2 why it failed, a status as in `remote_state`",
        ),
        "late_address": (
            32,
            "r",
            "address of its 64-bit word in the window",
        ),
        "late_clear": (
            1,
            "w",
            "write: the failure is known",
        ),
    },
    "bridge": {
        "state": (
            5,
            "r",
            "bit 0 the link is up, 1 an access or an interrupt is under way, 2 the other end waits for data that were lost: all accesses fail until a reset, 3 the other end is in reset, 4 the packetiser is the gearbox, not the simple one",
        ),
        "width": (
            16,
            "r",
            "bits 7..0 width of the bus between the boards, 15..8 interrupts in each direction",
        ),
        "reset": (
            1,
            "rw",
            "1: both ends and the block behind the other one are in reset, and accesses fail. To be kept for 1 ms, so that nothing remains under way",
        ),
        "latency": (
            16,
            "r",
            "cycles from the address of the latest access to its answer",
        ),
        "raises": (
            16,
            "rw",
            "interrupts shown at the other board",
        ),
        "levels": (
            16,
            "r",
            "interrupts that the other board shows: those of the block, and its `outlet_raises`; 0 while the link is down",
        ),
        "enabled": (
            16,
            "rw",
            "those of `bridge_levels` that assert the third interrupt of the logic (IRQF2P 2)",
        ),
        "writes": (
            32,
            "r",
            "writes answered, modulo 2^32",
        ),
        "reads": (
            32,
            "r",
            "reads answered, modulo 2^32",
        ),
        "failed": (
            16,
            "r",
            "accesses answered with an error; saturates",
        ),
    },
    "outlet": {
        "state": (
            2,
            "r",
            "bit 0 the link is up, 1 the upstream board holds the bridge in reset",
        ),
        "raises": (
            16,
            "rw",
            "interrupts shown at the upstream board, beside those of the block",
        ),
        "levels": (
            16,
            "r",
            "interrupts that the upstream board shows; 0 while the link is down",
        ),
        "enabled": (
            16,
            "rw",
            "those of `outlet_levels` that assert the third interrupt of the logic (IRQF2P 2)",
        ),
        "writes": (
            32,
            "r",
            "writes answered, modulo 2^32",
        ),
        "reads": (
            32,
            "r",
            "reads answered, modulo 2^32",
        ),
        "failed": (
            16,
            "r",
            "answers with an error; saturates",
        ),
    },
    "pages": {
        "entry": (
            32,
            "rw",
            "write: bits 31..12 the address of a page of 4 KiB of this board's memory, shown as the page 9..2 of the range; bit 1 the upstream board may write it, 0 read it; 0 in both: it is not shown",
        ),
        "refused": (
            16,
            "r",
            "reads and writes refused by the entries, or beyond the range; saturates",
        ),
    },
    "mailbox": {
        "send": (
            32,
            "rw",
            "reads 0. Write: append a word to the packet to send, at most 256",
        ),
        "go": (
            1,
            "w",
            "write: send the packet",
        ),
        "state": (
            2,
            "r",
            "bit 0 the link is up, 1 a packet is being sent: writes to the two registers above are ignored",
        ),
        "waiting": (
            9,
            "r",
            "length in words of the oldest received packet; 0: none",
        ),
        "receive": (
            32,
            "r",
            "read: next word of this packet",
        ),
        "release": (
            1,
            "w",
            "write: free the buffer of this packet",
        ),
        "dropped": (
            16,
            "r",
            "received packets dropped because no buffer was free or a word was missing; saturates",
        ),
    },
    "uplink": {
        "state": (
            2,
            "r",
            "satellites only: bit 0 the line to the upstream board carries words, 1 the counter is synchronised to that of the master",
        ),
        "destination": (
            8,
            "rw",
            "satellites only: destination of this board, as assigned by the master over the link; commands of its processors to this destination (bits 23..16 of a channel) address its own channels",
        ),
        "remote_playback": (
            1,
            "rw",
            "satellites only: the DMA player submits events on behalf of the upstream board, which is notified if a reset of this board drops them",
        ),
    },
    "initiator": {
        "enable": (
            1,
            "rw",
            "0: ignore `sev`, discard requests in flight and restart numbering at 1; no further events are pushed, those already pushed remain. Set to 1 only after `initiator_busy` has been 0",
        ),
        "ring": (
            32,
            "rw",
            "physical address of the ring, aligned to 4096",
        ),
        "input_ring": (
            32,
            "rw",
            "only with pushed inputs: physical address of the input rings, aligned to 262144; 0: nothing is pushed. Change only while the initiator is disabled and not busy",
        ),
        "busy": (
            1,
            "r",
            "a request, an answer or a pushed event is in flight, or input rings are being reset",
        ),
        "lost": (
            16,
            "r",
            "triggers without a request of the expected number; saturates",
        ),
        "error": (
            2,
            "r",
            "bus errors of the initiator so far: bit 0 read, bit 1 write",
        ),
        "clear": (
            1,
            "w",
            "write: clear the two registers above and the error in the status word",
        ),
        "permit": (
            16,
            "rw",
            "reads 0. Write: permit for this number of cycles to post outputs without checking the clock; 0 revokes. Begin and end are reported in the status word",
        ),
    },
    "dma": {
        "enable": (
            1,
            "w",
            "write 1: play; write 0: stop. Not readable; see `dma_busy`",
        ),
        "busy": (
            1,
            "r",
            "a trace is being played, or requested data are still arriving",
        ),
        "base": (
            32,
            "rw",
            "physical address of the trace; the low 7 bits are ignored",
        ),
        "time_offset": (
            64,
            "rw",
            "added to the timestamps of the trace, modulo 2^64",
        ),
        "format": (
            1,
            "rw",
            "0 recorded, 1 compact",
        ),
        "error": (
            4,
            "rw",
            "1 underflow, 2 unreachable, 4 bus error, 8 malformed trace; cleared by any write and by a start",
        ),
        "error_channel": (
            24,
            "r",
            "channel of the failed event; with errors 4 and 8 of the last event before the error",
        ),
        "error_timestamp": (
            64,
            "r",
            "timestamp of that event",
        ),
        "error_address": (
            8,
            "r",
            "RTIO address of that event",
        ),
        "events": (
            32,
            "r",
            "events submitted since the start, including the failed one",
        ),
    },
    "analyzer": {
        "enable": (
            1,
            "rw",
            "0 → 1: start recording at the beginning of the ring and clear counters and errors (only while not busy). 1 → 0: append 'stopped'",
        ),
        "busy": (
            1,
            "r",
            "enabled, or data not yet written to memory",
        ),
        "base": (
            32,
            "rw",
            "physical address of the ring's first byte",
        ),
        "last": (
            32,
            "rw",
            "physical address of any byte of the ring's last 32",
        ),
        "pack": (
            1,
            "rw",
            "allow pairs: two messages in one unit",
        ),
        "lossless": (
            1,
            "rw",
            "stall DMA when the analyzer cannot keep up",
        ),
        "byte_count": (
            64,
            "r",
            "bytes written to the ring since recording began",
        ),
        "message_count": (
            64,
            "r",
            "messages written since recording began",
        ),
        "overflow": (
            1,
            "r",
            "messages were lost",
        ),
        "bus_error": (
            1,
            "r",
            "a write to memory returned a bus error",
        ),
    },
    "pulse": {
        "config": (
            32,
            "r",
            "bits 3..0 number of channels, 7..4 samples per cycle, 12..8 address bits of the gate table, 17..13 of the memory map, 22..18 of the pulse table",
        ),
        "rate": (
            32,
            "r",
            "sample rate in units of 100 Hz",
        ),
        "armed": (
            8,
            "r",
            "bit mask of the channels waiting for a trigger",
        ),
        "running": (
            8,
            "r",
            "bit mask of the running channels",
        ),
        "error": (
            9,
            "rw",
            "errors so far, bits as in the status for kernels; write 1 to clear",
        ),
        "underrun": (
            64,
            "r",
            "parameters that ran out of segments, 8 bits per channel; cleared with the error",
        ),
        "first_channel": (
            3,
            "rw",
            "channel selected for `first_cycle`",
        ),
        "first_cycle": (
            64,
            "r",
            "cycle of the first underrun of this channel since the error was cleared",
        ),
        "cycle_update": (
            1,
            "w",
            "write: latch the cycle counter",
        ),
        "cycle": (
            64,
            "r",
            "latched cycle counter, 48 bits, starting at power-up or the last reset of the PHYs",
        ),
        "trigger": (
            1,
            "w",
            "write 1: trigger",
        ),
        "result": (
            4,
            "rw",
            "write: result of a measurement; reads 0",
        ),
        "stream_enable": (
            1,
            "w",
            "write 1: start the stream from memory with the list at `stream_base`; write 0: stop it",
        ),
        "stream_busy": (
            1,
            "r",
            "words are being read, or requested data are still arriving",
        ),
        "stream_base": (
            32,
            "rw",
            "physical address of the list of descriptors; the low 7 bits are ignored",
        ),
        "stream_error": (
            1,
            "r",
            "the list or words could not be read; cleared by a start",
        ),
        "stream_words": (
            32,
            "r",
            "words passed to the core since the start",
        ),
    },
    "traffic": {
        "start": (
            2,
            "rw",
            "write: start. Bit 0: 0 read memory, 1 write memory; bit 1: 0 through the HP port, 1 through the ACP. Ignored while busy",
        ),
        "busy": (
            1,
            "r",
            "words are being read or written, or wait for the port",
        ),
        "address": (
            32,
            "rw",
            "physical address; the low 7 bits are ignored",
        ),
        "size": (
            32,
            "rw",
            "size in bytes; the low 3 bits are ignored",
        ),
        "seed": (
            32,
            "rw",
            "data written to memory: in each 8 bytes, low word first, the seed plus the number of the beat, and the complement of this sum",
        ),
        "first": (
            32,
            "r",
            "cycles from the start to the first beat of a read, or the first response to a write",
        ),
        "last": (
            32,
            "r",
            "cycles from the start to the last beat, or the last response",
        ),
        "sum": (
            32,
            "r",
            "sum of the words read, modulo 2^32",
        ),
        "error": (
            1,
            "r",
            "the memory has returned an error since the start",
        ),
        "lines": (
            32,
            "r",
            "EMIO lines 0 to 31 as seen by the logic, which loops them back on lines 32 to 63",
        ),
    },
    "moninj": {
        "channel": (
            16,
            "rw",
            "channel selected for the monitor",
        ),
        "probe": (
            8,
            "rw",
            "probe selected for the monitor",
        ),
        "update": (
            1,
            "w",
            "write: latch the selected probe",
        ),
        "value": (
            64,
            "r",
            "latched value of the probe",
        ),
        "inject_channel": (
            16,
            "rw",
            "channel selected for the injector",
        ),
        "inject_override": (
            8,
            "rw",
            "override selected for the injector",
        ),
        "inject_value": (
            8,
            "rw",
            "value of the selected override; 0 if it does not exist",
        ),
    },
    "clock": {
        "select": (
            1,
            "rw",
            "write 0: run from the processing system's clock, 1: from the synthesiser's, also to retry after a failure. Register accesses are delayed during the change",
        ),
        "status": (
            4,
            "r",
            "bit 0 the synthesiser's clock is selected, 1 a change is in progress, 2 locked to the selected clock, 3 PHYs are held in reset: a change is in progress, or the clock was lost",
        ),
        "lost": (
            2,
            "rw",
            "bit 0: the synthesiser's clock was lost or did not lock, and the processing system's was selected; write: acknowledge, which releases the reset of the PHYs",
        ),
        "synthesiser": (
            20,
            "r",
            "frequency of the synthesiser's clock in units of 477 Hz, exactly 4/2^20 of the processing system's clock; 0: none",
        ),
        "reference": (
            20,
            "r",
            "frequency of the external clock, in the same units; 0: none",
        ),
    },
    "link": {
        "up": (
            1,
            "r",
            "the link is established: both ends have completed the handshake",
        ),
        "ended": (
            32,
            "r",
            "number of times the link went down, by loss of the line, timeout, or a restart of the other end; this and the counters below saturate",
        ),
        "corrected": (
            32,
            "r",
            "words received with a single-bit error, which was corrected",
        ),
        "retransmitted": (
            32,
            "r",
            "words retransmitted",
        ),
        "dropped": (
            32,
            "r",
            "words received and dropped: double-bit error, or part of a corrupted or unexpected frame",
        ),
        "space": (
            10,
            "r",
            "words of the first (real-time) lane that can be sent before a further acknowledgement is needed",
        ),
        "clear": (
            1,
            "w",
            "write: clear the counters",
        ),
    },
    "cross": {
        "destination": (
            5,
            "r",
            "bits 2..0 destination of the board at the other end of this cross link, as that has told it last; bit 3 the link is up, and leads there, 4 it has been told since this board started",
        ),
    },
    "scratch": {
        "word": (
            32,
            "rw",
            "no function, for testing and measuring accesses; 0 after power-up",
        ),
        "wide": (
            64,
            "rw",
            "as `scratch_word`; writing the low word updates both words",
        ),
    },
    "spi": {
        "channel": (
            16,
            "rw",
            "RTIO channel of the SPI master that executes the transfer",
        ),
        "config": (
            32,
            "rw",
            "configuration of the transfer, as in an event at address 1; chip select is always released afterwards",
        ),
        "data": (
            32,
            "rw",
            "write: execute a transfer with these data, as in an event at address 0, as soon as the master is idle; ignored while busy",
        ),
        "state": (
            3,
            "r",
            "bit 0 the transfer is pending, 1 the last transfer was refused, because an experiment kept chip select asserted for 1 ms, 2 the channel has no SPI master",
        ),
        "value": (
            32,
            "r",
            "data received by the last transfer with the input flag set",
        ),
    },
}
"""Registers of each block by name: width in bits, access (r, w), what it is for."""

FIELDS = {
    "rtio_async_error": {"collision": 0, "busy": 1, "sequence_error": 2},
    "satellite_state": {"line": 0, "up": 1, "blocked": 2},
    "satellite_phase": {"measured": 12},
    "card_state": {"line": 0, "time_due": 1, "echo_due": 2, "reset_due": 3},
    "remote_destination": {"other": 3},
    "remote_state": {"up": 0, "busy": 1, "idle": 2, "status": 3},
    "remote_late": {"failed": 0, "status": 1, "other": 3},
    "exports_board": {"number": 0, "only": 3},
    "exports_rights": {"read": 0, "write": 1, "coherent": 2},
    "bulk_state": {"halted": 0, "idle": 1, "reason": 2},
    "window_fault": {"why": 0, "store": 3},
    "window_late": {"failed": 0, "idle": 1, "status": 2},
    "bridge_state": {"up": 0, "busy": 1, "stuck": 2, "held": 3, "packed": 4},
    "bridge_width": {"data": 0, "interrupts": 8},
    "outlet_state": {"up": 0, "held": 1},
    "mailbox_state": {"line": 0, "busy": 1},
    "uplink_state": {"line": 0, "live": 1},
    "initiator_error": {"read": 0, "write": 1},
    "dma_error": {"underflow": 0, "unreachable": 1, "bus": 2, "malformed": 3},
    "traffic_start": {"write": 0, "coherent": 1},
    "clock_status": {"selected": 0, "switching": 1, "locked": 2, "hold": 3},
    "clock_lost": {"lost": 0},
    "cross_destination": {"number": 0, "leads": 3, "known": 4},
    "spi_state": {"busy": 0, "refused": 1, "absent": 2},
}
"""Bits of registers, by the register's name."""
