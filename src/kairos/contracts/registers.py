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
            "write 1: reset of the RTIO core, one pulse; FIFOs and pending states cleared, PHY states kept",
        ),
        "phy_reset": (
            1,
            "rw",
            "held level; 1 after power-up, the firmware clears it at boot",
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
            "channels 0 to this number - 1 take outputs",
        ),
    },
    "satellite": {
        "state": (
            3,
            "r",
            "bit 0 the line carries words, 1 the satellite can be reached: its counter is the master's, 2 its newest events wait for room",
        ),
        "travel": (
            16,
            "r",
            "cycles from a vector's departure to its arrival, half of the measured round trip",
        ),
        "events": (
            16,
            "r",
            "events sent since the line came up, modulo 65536",
        ),
        "destination": (
            8,
            "r",
            "of the satellite; those of the boards behind it follow",
        ),
        "boards": (
            8,
            "r",
            "which of them can be reached, the satellite in bit 0",
        ),
        "slack": (
            18,
            "r",
            "cycles that an output has to be ahead of the counter when it is taken: the greatest of those boards",
        ),
        "unplayed": (
            16,
            "r",
            "events at most that were lost since it had not executed them when its logic began anew; stops at its greatest value",
        ),
        "measure": (
            1,
            "w",
            "write: measure the clock's phase, if the satellite can be reached",
        ),
        "phase": (
            13,
            "r",
            "bits 11..0 by what fraction of a cycle, in 1/4096, the clock of what comes from the satellite is later than this board's: both ways together; bit 12 measured since `measure`, and the satellite can be reached",
        ),
    },
    "remote": {
        "address": (
            32,
            "rw",
            "of a word of 64 bits in the memory of the board at the other end, in bytes",
        ),
        "data": (
            64,
            "rw",
            "what is stored",
        ),
        "strobes": (
            8,
            "rw",
            "bytes that are stored, the lowest in bit 0; 255 after reset",
        ),
        "far": (
            4,
            "rw",
            "bit 3 loads and stores are for the board in bits 2..0, to which this link leads, not for the one at its other end",
        ),
        "load": (
            1,
            "w",
            "write: load the word, if none is under way",
        ),
        "store": (
            1,
            "w",
            "write: store it, if none is under way",
        ),
        "state": (
            5,
            "r",
            "bit 0 the link is up, 1 a load or store has not been answered, 2 nothing is under way, 4..3 status of the last one: 0 done, 1 refused, 2 error of the bus, 3 unreachable",
        ),
        "value": (
            64,
            "r",
            "what was loaded last",
        ),
        "early": (
            1,
            "rw",
            "stores are answered before the other board has executed them",
        ),
        "failed": (
            16,
            "r",
            "stores that failed after they had been answered; stops at its greatest value, as those below do",
        ),
        "repeated": (
            16,
            "r",
            "loads and stores that were sent again",
        ),
        "stale": (
            16,
            "r",
            "answers that came too late",
        ),
    },
    "exports": {
        "region": (
            2,
            "rw",
            "which of the regions that the other board may use is set by `set`",
        ),
        "first": (
            32,
            "rw",
            "its first byte, a multiple of 8",
        ),
        "last": (
            32,
            "rw",
            "any byte of its last word of 64 bits",
        ),
        "rights": (
            2,
            "rw",
            "bit 0 it may be read, 1 written, too; 0: no such region, as after reset",
        ),
        "set": (
            1,
            "w",
            "write: the region is so from now on",
        ),
        "refused": (
            16,
            "r",
            "loads and stores of the other board that were refused; stops at its greatest value",
        ),
        "packets": (
            16,
            "r",
            "packets of bulk transfers, likewise",
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
            "descriptors that have been posted, modulo 65536",
        ),
        "early": (
            1,
            "rw",
            "packets are under way together; 0: each is answered before the next one is read; 1 after reset",
        ),
        "clear": (
            1,
            "w",
            "write: what was posted counts as completed, and the engine goes on, once nothing is under way",
        ),
        "told": (
            1,
            "r",
            "a descriptor is complete that was to tell, or the engine has halted",
        ),
        "heard": (
            1,
            "w",
            "write: `told` is 0 until the next time",
        ),
        "interrupt": (
            1,
            "rw",
            "1: the interrupt is raised as long as `told` is 1",
        ),
        "completed": (
            16,
            "r",
            "descriptors that are complete, modulo 65536",
        ),
        "state": (
            5,
            "r",
            "bit 0 halted, 1 nothing is under way, 4..2 why: 1 refused, 2 error of the bus there, 3 unreachable, 5 invalid descriptor, 6 own memory could not be read",
        ),
        "repeated": (
            16,
            "r",
            "packets that were sent again; stops at its greatest value, as those below do",
        ),
        "broken": (
            16,
            "r",
            "packets that came broken",
        ),
        "dropped": (
            16,
            "r",
            "packets that came while there was no room",
        ),
    },
    "window": {
        "ends": (
            3,
            "r",
            "how many of the board's links the window has addresses for",
        ),
        "fault": (
            4,
            "r",
            "why the newest access failed that did: 2..0 as in `remote_state`, 4: the board has no such link; bit 3 it was a store",
        ),
        "address": (
            32,
            "r",
            "its address in the window",
        ),
        "failed": (
            16,
            "r",
            "accesses that failed; stops at its greatest value",
        ),
        "far": (
            3,
            "rw",
            "destination that the addresses from B000_0000 on belong to, if the board has fewer than four links",
        ),
    },
    "mailbox": {
        "send": (
            32,
            "rw",
            "reads 0. Write: the next word of the packet that is to be sent, 256 at most",
        ),
        "go": (
            1,
            "w",
            "write: the packet is complete and is sent",
        ),
        "state": (
            2,
            "r",
            "bit 0 the link is up, 1 a packet is being sent: neither of the two above counts",
        ),
        "waiting": (
            9,
            "r",
            "words of the oldest packet that has come, 0: none",
        ),
        "receive": (
            32,
            "r",
            "read: its next word",
        ),
        "release": (
            1,
            "w",
            "write: it has been read, its buffer is free",
        ),
        "dropped": (
            16,
            "r",
            "packets that came and were dropped: no free buffer, or a word was missing; saturates",
        ),
    },
    "uplink": {
        "state": (
            2,
            "r",
            "only on a satellite: bit 0 the line to the board above carries words, 1 the counter is the master's",
        ),
        "destination": (
            8,
            "rw",
            "only on a satellite: its own destination, as the master says over the link; commands of its processors to this destination, in bits 23..16 of a channel, are for its own channels",
        ),
        "plays": (
            1,
            "rw",
            "only on a satellite: what the player submits is for the board above, which is told if a reset of this board drops it",
        ),
    },
    "initiator": {
        "enable": (
            1,
            "rw",
            "0: `sev` is ignored, requests under way are forgotten, numbers start again at 1; nothing more is pushed, what was stays. To be 1 only after `initiator_busy` was 0",
        ),
        "ring": (
            32,
            "rw",
            "physical address of the ring, aligned to 4096",
        ),
        "input_ring": (
            32,
            "rw",
            "only where inputs are pushed: physical address of the input rings, aligned to 262144; while it is 0 nothing is pushed. To be changed only while the initiator is disabled and not busy",
        ),
        "busy": (
            1,
            "r",
            "a request, an answer or a pushed event is under way, or input rings are being reset",
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
            "write: zero the two above, and the error in the status word",
        ),
        "permit": (
            16,
            "rw",
            "reads 0. Write: for so many cycles from now outputs may be posted at first sight; 0 ends it. The status word tells of its begin and its end",
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
            "a trace is played, or what was requested for it is still coming",
        ),
        "base": (
            32,
            "rw",
            "physical address of the trace; the low 7 bits are ignored",
        ),
        "time_offset": (
            64,
            "rw",
            "added to the trace's times, modulo 2^64",
        ),
        "format": (
            1,
            "rw",
            "0 recorded, 1 compact",
        ),
        "error": (
            4,
            "rw",
            "1 underflow, 2 unreachable, 4 bus error, 8 malformed trace; any write, and a start, clear it",
        ),
        "error_channel": (
            24,
            "r",
            "channel of the event that failed; with errors 4 and 8: of the last event before",
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
            "events submitted since the start, the failed one included",
        ),
    },
    "analyzer": {
        "enable": (
            1,
            "rw",
            "0 → 1: record from the ring's begin, counters and errors cleared (only while not busy). 1 → 0: append 'stopped'",
        ),
        "busy": (
            1,
            "r",
            "enabled, or not everything is in memory yet",
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
            "pairs are permitted",
        ),
        "lossless": (
            1,
            "rw",
            "DMA waits when the analyzer cannot keep up",
        ),
        "byte_count": (
            64,
            "r",
            "bytes written to the ring since recording began",
        ),
        "message_count": (
            64,
            "r",
            "messages in them",
        ),
        "overflow": (
            1,
            "r",
            "messages were lost",
        ),
        "bus_error": (
            1,
            "r",
            "a write was refused",
        ),
    },
    "pulse": {
        "config": (
            32,
            "r",
            "bits 3..0 channels, 7..4 samples in a cycle, 12..8 address bits of the gate table, 17..13 of the memory map, 22..18 of the pulse table",
        ),
        "rate": (
            32,
            "r",
            "sample rate in 100 Hz",
        ),
        "armed": (
            8,
            "r",
            "channels that wait for a trigger",
        ),
        "running": (
            8,
            "r",
            "channels that run",
        ),
        "error": (
            9,
            "rw",
            "errors up to now, bits as in the kernel's status; write 1 to clear",
        ),
        "underrun": (
            64,
            "r",
            "parameters that ran out of segments, 8 bits for each channel; cleared with the error",
        ),
        "first_channel": (
            3,
            "rw",
            "channel of `first_cycle`",
        ),
        "first_cycle": (
            64,
            "r",
            "cycle in which the channel's first underrun was, since the error was cleared",
        ),
        "cycle_update": (
            1,
            "w",
            "write: latch the count of cycles",
        ),
        "cycle": (
            64,
            "r",
            "latched count of cycles, 48 bits, from power-up or the last reset of the PHYs",
        ),
        "trigger": (
            1,
            "w",
            "write 1: trigger",
        ),
        "result": (
            4,
            "rw",
            "write: a measurement's result; reads 0",
        ),
        "stream_enable": (
            1,
            "w",
            "write 1: begin the stream from memory whose list is at `stream_base`; write 0: end it",
        ),
        "stream_busy": (
            1,
            "r",
            "words are read, or what was requested is still coming",
        ),
        "stream_base": (
            32,
            "rw",
            "physical address of the list of descriptors; the low 7 bits are ignored",
        ),
        "stream_error": (
            1,
            "r",
            "the list or words could not be read; a start clears it",
        ),
        "stream_words": (
            32,
            "r",
            "words given to the core since the start",
        ),
    },
    "traffic": {
        "start": (
            2,
            "rw",
            "write: begin. Bit 0: 0 reads memory, 1 writes it; bit 1: 0 through the HP port, 1 through the ACP. Ignored while busy",
        ),
        "busy": (
            1,
            "r",
            "words are read or written, or wait for the port",
        ),
        "address": (
            32,
            "rw",
            "physical address; the low 7 bits are ignored",
        ),
        "size": (
            32,
            "rw",
            "bytes; the low 3 bits are ignored",
        ),
        "seed": (
            32,
            "rw",
            "written to memory: in each 8 bytes, low word first, this number plus that of the beat, and its complement",
        ),
        "first": (
            32,
            "r",
            "cycles from the start to the first beat of a read, or to the first response to a write",
        ),
        "last": (
            32,
            "r",
            "cycles from the start to the last beat, or to the last response",
        ),
        "sum": (
            32,
            "r",
            "sum of the words that were read, modulo 2^32",
        ),
        "error": (
            1,
            "r",
            "the memory has answered with an error since the start",
        ),
        "lines": (
            32,
            "r",
            "what the logic sees of EMIO lines 0 to 31; it gives them back on lines 32 to 63",
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
            "latched probe",
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
            "the selected override; 0 if it does not exist",
        ),
    },
    "clock": {
        "select": (
            1,
            "rw",
            "write 0: run from the processing system's clock, 1: from the synthesiser's; also if that failed before. Accesses are answered late meanwhile",
        ),
        "status": (
            4,
            "r",
            "bit 0 the synthesiser's clock is used, 1 being changed, 2 locked to the clock that is used, 3 PHYs are in reset: being changed, or lost",
        ),
        "lost": (
            2,
            "rw",
            "bit 0: the synthesiser's clock was lost, or could not be locked to, and the other one was taken; write: acknowledge, PHYs leave reset",
        ),
        "synthesiser": (
            20,
            "r",
            "frequency of the synthesiser's clock in 477 Hz, exactly 4/2^20 of the processing system's clock; 0: none",
        ),
        "reference": (
            20,
            "r",
            "frequency of the external clock, likewise",
        ),
    },
    "link": {
        "up": (
            1,
            "r",
            "the other end is there, and both know each other",
        ),
        "ended": (
            32,
            "r",
            "how often the link went down: the line did, silence, or the other end began anew; saturates, as those below do",
        ),
        "corrected": (
            32,
            "r",
            "words that came with one wrong bit, and were corrected",
        ),
        "retransmitted": (
            32,
            "r",
            "words that were sent again",
        ),
        "dropped": (
            32,
            "r",
            "words that came and were not passed on: two bits wrong, or of a frame that was not right or not expected",
        ),
        "space": (
            10,
            "r",
            "words of the first lane, that of real time, that may leave before one of those under way is acknowledged",
        ),
        "clear": (
            1,
            "w",
            "write: zero the counts",
        ),
    },
    "scratch": {
        "word": (
            32,
            "rw",
            "no use: for whoever wants to try or to measure accesses; 0 after power-up",
        ),
        "wide": (
            64,
            "rw",
            "as `scratch_word`; both its words change when the low one is written",
        ),
    },
    "spi": {
        "channel": (
            16,
            "rw",
            "RTIO channel of the SPI master that makes the transfer",
        ),
        "config": (
            32,
            "rw",
            "its configuration, as an event at address 1 has it; chip select is released after it in any case",
        ),
        "data": (
            32,
            "rw",
            "write: make the transfer with these data, as an event at address 0 has them, when the master has nothing to do; ignored while busy",
        ),
        "state": (
            3,
            "r",
            "bit 0 it has not been made yet, 1 the last one was not made, as an experiment kept chip select for 1 ms, 2 the channel has no SPI master",
        ),
        "value": (
            32,
            "r",
            "what was received last by a transfer whose configuration has the flag for input",
        ),
    },
}
"""Registers of each block by name: width in bits, access (r, w), what it is for."""

FIELDS = {
    "rtio_async_error": {"collision": 0, "busy": 1, "sequence_error": 2},
    "satellite_state": {"line": 0, "up": 1, "blocked": 2},
    "satellite_phase": {"measured": 12},
    "remote_far": {"other": 3},
    "remote_state": {"up": 0, "busy": 1, "idle": 2, "status": 3},
    "exports_rights": {"read": 0, "write": 1},
    "bulk_state": {"halted": 0, "idle": 1, "reason": 2},
    "window_fault": {"why": 0, "store": 3},
    "mailbox_state": {"line": 0, "busy": 1},
    "uplink_state": {"line": 0, "live": 1},
    "initiator_error": {"read": 0, "write": 1},
    "dma_error": {"underflow": 0, "unreachable": 1, "bus": 2, "malformed": 3},
    "traffic_start": {"write": 0, "coherent": 1},
    "clock_status": {"selected": 0, "switching": 1, "locked": 2, "hold": 3},
    "clock_lost": {"lost": 0},
    "spi_state": {"busy": 0, "refused": 1, "absent": 2},
}
"""Bits of registers, by the register's name."""
