"""Registers of any board of a system, its remote memory before all, by batches of its comms core."""

import struct

from .raw_management import Management

__all__ = ["DONE", "REFUSED", "UNREACHABLE", "Board"]

READ, WRITE, POLL = 1, 2, 4
DONE, REFUSED, UNREACHABLE = 0, 1, 3
"""Status of a load or store."""


class Board:
    """A board's registers, read and written in batches by its comms core. Closed (`Connection`) when it is lost."""

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
        """Addresses of a register's words, the upper one first."""
        address, width = self.registers[name]
        return [address + 4 * n for n in range((width + 31) // 32)]

    def batch(self, *steps):
        """steps: (name, value) to write, (name,) to read, (name, value, mask) to wait for. Returns what was read."""
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
        assert outcome == 0, (outcome, at)
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

    def export(self, first, size, rights, region=0):
        self.batch(
            ("exports_region", region),
            ("exports_first", first),
            ("exports_last", first + size - 1),
            ("exports_rights", rights),
            ("exports_set", 1),
        )

    def store(self, address, *values):
        """The statuses of stores to words one behind the other."""
        steps = []
        for n, value in enumerate(values):
            steps += [("remote_address", address + 8 * n), ("remote_data", value), ("remote_store", 1)]
            steps += [("remote_state", 0, 2), ("remote_state",)]
        return [state >> 3 for state in self.batch(*steps)]

    def load(self, address):
        """The status, and what was loaded."""
        waits = [("remote_state", 0, 2), ("remote_state",), ("remote_value",)]
        state, value = self.batch(("remote_address", address), ("remote_load", 1), *waits)
        return state >> 3, value
