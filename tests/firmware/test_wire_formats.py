"""Formats of messages and of what is stored are in `src/proto`, once for writers and readers: other crates of the
firmware convert between numbers and bytes only where it is no such format, or one with a single owner."""

import re

from tests.support.paths import ROOT

CRATES = ("firmware", "kernel", "runtime", "satman")
CONVERSION = re.compile(r"\b(?:to|from)_[lb]e_bytes\b")
TESTS = re.compile(r"(?:^|_|/)(?:tests|comparison|described)(?:/.*)?\.rs$")
EXPECTED = {
    "firmware/boot/src/server.rs": "a nonce from the time",
    "firmware/chip/src/sd.rs": "words of the controller's data port",
    "firmware/clocking/src/si549.rs": "registers of the oscillator",
    "firmware/comms/src/batch.rs": "words of an answer, whose number and meaning the client chose",
    "firmware/comms/src/config.rs": "a nonce from the time",
    "firmware/comms/src/link/mailbox.rs": "words of the mailbox's registers",
    "firmware/comms/src/management.rs": "the length before a part of the log",
    "firmware/comms/src/management/upload.rs": "the checksum after an image",
    "firmware/config/src/card/journal.rs": "the journal of the card: only this module writes and reads it",
    "firmware/health/src/report.rs": "a mark in memory that outlives a restart",
    "firmware/intercore/src/frames.rs": "words of the rings in memory",
    "firmware/links/src/message_queue.rs": "lengths in a queue in memory",
    "firmware/net/src/frame.rs": "headers of Ethernet, IP and TCP",
    "firmware/net/src/plain.rs": "headers of Ethernet, IP and TCP",
    "firmware/pl/src/names.rs": "a length in memory",
    "firmware/pl/src/pl.rs": "words of the descriptor's memory",
    "kernel/src/cache.rs": "words of kernels' memory",
    "kernel/src/calls/linalg.rs": "numbers in kernels' memory",
    "kernel/src/calls/rpc.rs": "the lengths before and in a reply, compared where it arrives in parts",
    "kernel/src/elf.rs": "relocations",
    "kernel/src/measure.rs": "samples, one word each",
    "kernel/src/memory.rs": "numbers in kernels' memory",
    "kernel/src/rtio/output.rs": "words of an event's data",
    "kernel/src/stubs.rs": "instructions",
    "kernel/src/traces.rs": "words of traces in memory",
}


def test_conversion_between_numbers_and_bytes_has_a_reason():
    found = set()
    for crate in CRATES:
        for path in (ROOT / "src" / crate).rglob("*.rs"):
            name = path.relative_to(ROOT / "src").as_posix()
            product = path.read_text().split("#[cfg(test)]\nmod tests {")[0]
            if not TESTS.search(name) and CONVERSION.search(product):
                found.add(name)
    assert sorted(found - EXPECTED.keys()) == [], "messages belong into src/proto; anything else needs a reason here"
    assert sorted(EXPECTED.keys() - found) == [], "these convert no more"
