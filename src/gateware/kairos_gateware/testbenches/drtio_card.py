"""A card that speaks DRTIO, in plain Python, written from the description of the packets and not from the tables of the
logic: `CardLine` turns words of the line into packets and back, `Card` has a counter, room for outputs, and inputs.

A word is a list of characters: (whether it is a control character, its eight bits as K or D).
"""

import struct
import zlib
from collections import deque
from dataclasses import dataclass, field

__all__ = ["Card", "CardLine", "auxiliary_packet"]

_K = {"K28.0": 0x1C, "K28.1": 0x3C, "K28.2": 0x5C, "K28.3": 0x7C, "K28.4": 0x9C, "K28.5": 0xBC}
_K |= {"K23.7": 0xF7, "K27.7": 0xFB, "K29.7": 0xFD, "K30.7": 0xFE}
_FIRST = "K28.5 K28.0 K28.1 K28.2 K23.7 K27.7 K29.7 K30.7".split()
_LATER = "K28.0 K28.2 K28.3 K28.4 K23.7 K27.7 K29.7 K30.7".split()
_IDLE = 0b100


def auxiliary_packet(content: bytes) -> bytes:
    """A packet with padding and CRC."""
    content += bytes(-(len(content) + 4) % 8)
    return content + struct.pack("<I", zlib.crc32(content))


class CardLine:
    """The line seen from a card. `packets`: lists of words received without a break. `auxiliary`: packets received, as
    bytes. `errors`: what was wrong. `gap`: words since the last packet of real time."""

    def __init__(self, characters=2, history=0):
        self.characters = characters
        self.sent = [history >> n & 1 for n in range(23)]  # newest bit last
        self.seen = [0] * 23
        self.trusted = 0
        self.packets, self.auxiliary, self.errors = [], [], []
        self._frame, self._bits, self.gap = [], [], 2

    # From the master

    def _clear(self, bits):
        found = []
        for bit in bits:
            found.append(bit ^ self.seen[-18] ^ self.seen[-23])
            self.seen = [*self.seen[1:], bit]
        self.trusted += len(bits)
        return found

    def receive(self, word: int) -> bool:
        """Takes a word; returns whether it was one of real time."""
        characters = [word >> 9 * n & 0x1FF for n in range(self.characters)]
        kinds = {character >> 8 for character in characters}
        was = self.trusted >= 23
        if kinds == {0}:
            bits = self._clear([c >> n & 1 for c in characters for n in range(8)])
            if was:
                if not self._frame and self.gap < 2:
                    self.errors.append("packets follow each other too closely")
                self._frame.append(sum(bit << n for n, bit in enumerate(bits)))
                self.gap = 0
            return True
        if kinds != {1}:
            self.errors.append(f"control and data characters in {word:x}")
            return False
        self.gap += 1
        if self._frame:
            self.packets.append(self._frame)
            self._frame = []
        threes = []
        for n, character in enumerate(characters):
            names = _LATER if n else _FIRST
            known = [m for m, name in enumerate(names) if _K[name] == character & 0xFF]
            if not known:
                self.errors.append(f"control character {character & 0xFF:x} at {n}")
                return False
            threes += [known[0] >> n & 1 for n in range(3)]
        bits = self._clear(threes)
        if was:
            self._framing([bits[n : n + 3] for n in range(0, len(bits), 3)])
        return False

    def _framing(self, groups):
        if all(group == [0, 0, 1] for group in groups):
            if self._bits:
                data = bytes(
                    sum(bit << n for n, bit in enumerate(self._bits[at : at + 8]))
                    for at in range(0, len(self._bits), 8)
                )
                self.auxiliary.append(data)
                self._bits = []
        elif all(group[2] == 0 for group in groups):
            self._bits += [bit for group in groups for bit in group[:2]]
        else:
            self.errors.append(f"framing {groups}")

    # To the master

    def _scramble(self, bits):
        out = []
        for bit in bits:
            out.append(bit ^ self.sent[-18] ^ self.sent[-23])
            self.sent = [*self.sent[1:], out[-1]]
        return out

    def data(self, value: int) -> int:
        """The word of the line for one of real time."""
        bits = self._scramble([value >> n & 1 for n in range(8 * self.characters)])
        return sum(bit << n % 8 + 9 * (n // 8) for n, bit in enumerate(bits))

    def control(self, auxiliary: int | None = None) -> int:
        """The word of the line for bits of an auxiliary packet, or between two."""
        groups = [_IDLE] * self.characters
        if auxiliary is not None:
            groups = [auxiliary >> 2 * n & 3 for n in range(self.characters)]
        bits = self._scramble([group >> n & 1 for group in groups for n in range(3)])
        word = 0
        for n in range(self.characters):
            index = sum(bit << place for place, bit in enumerate(bits[3 * n : 3 * n + 3]))
            word |= (0x100 | _K[(_LATER if n else _FIRST)[index]]) << 9 * n
        return word


@dataclass
class Card:
    """A card behind a line. room: outputs that fit. counter: its time, None until it is set. mute: it answers nothing.

    `outputs`: (the counter when it came, timestamp, channel, address, data). `requests`: types of other packets.
    `reads`: (channel, time limit) of each. `inputs`: arguments of `reply` for reads to come. `answers`, `auxiliary`:
    words to be sent, None for one between packets."""

    line: CardLine = field(default_factory=CardLine)
    room: int = 16
    counter: int | None = None
    mute: bool = False
    outputs: list = field(default_factory=list)
    reads: list = field(default_factory=list)
    inputs: deque = field(default_factory=deque)
    answers: deque = field(default_factory=deque)
    auxiliary: deque = field(default_factory=deque)
    requests: list = field(default_factory=list)

    def cycle(self, word: int) -> int:
        """Takes the word of a cycle from the master; returns one to it."""
        if self.counter is not None:
            self.counter += 8
        self.line.receive(word)
        for packet in self.line.packets:
            self._packet(packet)
        self.line.packets.clear()
        return self._word()

    def _word(self):
        if self.answers and (answer := self.answers.popleft()) is not None:
            return self.line.data(answer)
        # Between words of real time an auxiliary packet goes on
        return self.line.control(self.auxiliary.popleft() if self.auxiliary else None)

    def send(self, packet: bytes):
        """Sends an auxiliary packet, as it is."""
        width = 2 * self.line.characters
        value = int.from_bytes(packet, "little")
        self.auxiliary.extend(value >> n & (1 << width) - 1 for n in range(0, 8 * len(packet), width))
        self.auxiliary.append(None)

    def _answer(self, kind, value=0, bits=0):
        size = 8 * self.line.characters
        row = kind | value << 8
        self.answers.extend(row >> n & (1 << size) - 1 for n in range(0, 8 + bits, size))
        self.answers.extend([None, None])

    def reply(self, timestamp=None, data=0, lost=False):
        """Answers a read."""
        if timestamp is None:
            self._answer(3, int(lost), 1)
        else:
            self._answer(2, timestamp | data << 64, 96)

    def _packet(self, words):
        size = 8 * self.line.characters
        row = sum(word << size * n for n, word in enumerate(words))
        kind = row & 0xFF
        lengths = {0: 8, 1: 72, 2: 128, 3: 16, 4: 96}
        assert kind in lengths, f"packet of type {kind}"
        extra = row >> 104 & 0xFF if kind == 2 else 0
        assert len(words) == -(-lengths[kind] // size) + extra, f"{len(words)} words for type {kind}"
        if kind == 2:
            data = row >> 112
            assert not extra or words[-1], "the last word of an output is zero"
            self.outputs.append((self.counter, row >> 8 & 2**64 - 1, row >> 72 & 0xFFFFFF, row >> 96 & 0xFF, data))
            assert self.room > 0, "an output without room"
            self.room -= 1
        else:
            assert row >> lengths[kind] == 0, "the rest of a packet is not zero"
            self.requests.append(kind)
        if self.mute:
            return
        if kind == 0:
            self._answer(0)
        elif kind == 1:
            self.counter = row >> 8
        elif kind == 3:
            self._answer(1, self.room, 16)
        elif kind == 4:
            self.reads.append((row >> 8 & 0xFFFFFF, row >> 32))
            if self.inputs:
                self.reply(*self.inputs.popleft())
