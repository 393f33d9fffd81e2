"""Registers of any board of a system, in particular its remote memory, accessed by batches of its
comms core."""

import struct

from .raw_management import Management

__all__ = ["DONE", "REFUSED", "UNREACHABLE", "BatchEnded", "Board"]

READ, WRITE, POLL = 1, 2, 4
DONE, REFUSED, UNREACHABLE = 0, 1, 3
"""Status codes of a load or store."""


class BatchEnded(Exception):
    """A batch has ended with this outcome, at this instruction."""

    def __init__(self, outcome, instruction):
        super().__init__(outcome, instruction)
        self.outcome = outcome


class Board:
    """A board's registers, read and written in batches by its comms core. Raises Closed
    (`Connection`) if it is lost."""

    def __init__(self, system, destination):
        self.client = Management(system, b"ARTIQ management\n" + bytes([destination]))
        assert self.client.reply(b"\x85") == 2
        records, self.registers = self.client.bytes()[16:], {}
        while records:
            kind, length = struct.unpack_from("<HH", records)
            if kind == 3:
                address, width, _ = struct.unpack_from("<IHH", records, 4)
                self.registers[records[12 : 4 + length].decode()] = (address, width)
            records = records[4 + -(-length // 4) * 4 :]

    def _words(self, name):
        """Return the addresses of a register's words, the upper one first."""
        address, width = self.registers[name]
        return [address + 4 * n for n in range((width + 31) // 32)]

    def batch(self, *steps):
        """Execute steps: (name, value) writes, (name,) reads, (name, value, mask) waits. Returns
        the values read. Raises BatchEnded if its outcome is not `done`."""
        program, sizes = b"", []
        for name, *operands in steps:
            words = self._words(name)
            if len(operands) == 2:
                program += struct.pack("<4B4I", POLL, 0, 0, 0, words[0], *operands, 100_000)
                sizes.append(0)
                continue
            for n, address in enumerate(words):
                value = [operands[0] >> 32 * (len(words) - 1 - n) & 0xFFFF_FFFF] if operands else [0]
                program += struct.pack("<4B4I", WRITE if operands else READ, 0, 0, 0, address, *value, 0, 0)
            sizes.append(0 if operands else len(words))
        assert self.client.reply(b"\x86" + self.client.pack(program)) == 133
        answer = self.client.bytes()
        outcome, at = struct.unpack_from("<B3xI", answer)
        if outcome:
            raise BatchEnded(outcome, at)
        results = list(struct.unpack_from(f"<{(len(answer) - 12) // 4}I", answer, 12))
        read = []
        for (_, *operands), size in zip(steps, sizes, strict=True):
            if len(operands) == 2:
                results.pop(0)
            elif size:
                read.append(int.from_bytes(b"".join(word.to_bytes(4, "big") for word in results[:size]), "big"))
                del results[:size]
        return read

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.client.close()

    def export(self, first, size, rights, region=0, offset=0, board=0):
        self.batch(
            ("exports_region", region),
            ("exports_first", first),
            ("exports_last", first + size - 1),
            ("exports_offset", offset),
            ("exports_board", board),
            ("exports_rights", rights),
            ("exports_set", 1),
        )

    def name(self, destination):
        """Select the board addressed by subsequent loads and stores; None: the neighbour."""
        self.batch(("remote_destination", 0 if destination is None else 8 | destination))

    def access(self, *accesses):
        """Execute in order: (address,) loads a word, (address, value) stores it. Returns for each
        the status and the content of `remote_value` afterwards."""
        steps = []
        for address, *value in accesses:
            wanted = [("remote_data", *value), ("remote_store", 1)] if value else [("remote_load", 1)]
            steps += [
                ("remote_address", address),
                *wanted,
                ("remote_state", 0, 2),
                ("remote_state",),
                ("remote_value",),
            ]
        read = self.batch(*steps)
        return [(state >> 3, value) for state, value in zip(read[::2], read[1::2], strict=True)]

    def store(self, address, *values):
        """Store to consecutive words; returns the statuses."""
        return [status for status, _ in self.access(*((address + 8 * n, value) for n, value in enumerate(values)))]

    def load(self, address):
        """Load a word; returns the status and the value."""
        return self.access((address,))[0]
