"""For tests: a camera on CoaXPress, in plain Python: what it sends as characters, and what it receives from the levels
of the line."""

from dataclasses import dataclass, field

from ..code8b10b import CODE_BITS, table
from ..contracts import coaxpress as facts
from .crc import crc_of, crc_word
from .uplink import BIT_CYCLES, CHARACTER_BITS, CONTROL, IDLE_WORD

__all__ = ["LineCoder", "Receiver", "answer", "characters", "image", "packet", "words_of"]

_CODES = table()
_CHARACTERS = {code: character for (character, _), (code, _) in _CODES.items()}
_COMMAS = {code for code, character in _CHARACTERS.items() if character == IDLE_WORD[0]}
_DEPTHS = (8, 10, 12, 14, 16)


def characters(words):
    """Characters of words: ints, or control characters that are sent four times, as (value,)."""
    found = []
    for word in words:
        found += [CONTROL | word[0]] * 4 if isinstance(word, tuple) else list(word.to_bytes(4, "big"))
    return found


def words_of(sent):
    """Words of characters as a grabber gets them, those that are not idle: four characters, the first one lowest."""
    words = [tuple(sent[n : n + 4]) for n in range(0, len(sent), 4)]
    return [
        sum(character << CHARACTER_BITS * n for n, character in enumerate(word)) for word in words if word != IDLE_WORD
    ]


class LineCoder:
    """Characters to bits of a line, the first one first, with its disparity."""

    def __init__(self):
        self.positive = False

    def bits(self, sent):
        found = []
        for character in sent:
            code, self.positive = _CODES[character, self.positive]
            found += [code >> n & 1 for n in range(CODE_BITS)]
        return found


def _repeated(value):
    return value * 0x01010101


def packet(kind, words, spoilt=False):
    """Characters of a packet of this type, after an idle word. spoilt: its CRC is wrong."""
    covered = bytes(character & 0xFF for character in characters(words))
    check = crc_word(covered) ^ spoilt
    whole = [(facts.PACKET_START,), _repeated(kind), *words, check, (facts.PACKET_END,)]
    return [*IDLE_WORD, *characters(whole)]


def answer(code, data=None, tag=None, spoilt=False):
    """Characters of an answer. data: bytes, or None without any."""
    words = [_repeated(tag)] if tag is not None else []
    words.append(_repeated(code))
    if data is not None:
        padded = data + bytes(-len(data) % 4)
        words += [len(data), *(int.from_bytes(padded[n : n + 4], "big") for n in range(0, len(padded), 4))]
    return packet(facts.ANSWER if tag is None else facts.TAGGED_ANSWER, words, spoilt)


def image(frame, depth=8, packet_words=4096, spoilt=()):
    """Characters of an image (rows of pixels of `depth` bits). spoilt: numbers of packets with a wrong CRC."""
    height, width = len(frame), len(frame[0])
    line_words = -(-width * depth // 32)
    sizes = [(1, 1), (7, 2), (width, 3), (0, 3), (height, 3), (0, 3), (line_words, 3)]
    sizes += [(facts.MONO8 + _DEPTHS.index(depth), 2), (0, 2), (0, 1)]
    header = b"".join(value.to_bytes(size, "big") for value, size in sizes)
    stream = [(facts.IMAGE_MARK,), _repeated(facts.IMAGE_HEADER), *map(_repeated, header)]
    for row in frame:
        bits = sum(int(pixel) << depth * n for n, pixel in enumerate(row))
        data = bits.to_bytes(4 * line_words, "little")
        stream += [(facts.IMAGE_MARK,), _repeated(facts.IMAGE_LINE)]
        stream += [int.from_bytes(data[n : n + 4], "big") for n in range(0, len(data), 4)]
    found = []
    for number, first in enumerate(range(0, len(stream), packet_words)):
        part = stream[first : first + packet_words]
        head = [_repeated(value) for value in (1, number & 0xFF, len(part) >> 8, len(part) & 0xFF)]
        found += packet(facts.STREAM, [*head, *part], number in spoilt)
    return found


@dataclass
class Receiver:
    """The end of the line at the camera: `receive` takes the level of each cycle.

    `commands`: (tag or None, operation and length, address, value or None); `triggers`: (cycle in which the packet
    began, first character, delay); `idle`: number of idle words; `errors`: texts.
    """

    commands: list = field(default_factory=list)
    triggers: list = field(default_factory=list)
    idle: int = 0
    errors: list = field(default_factory=list)
    _levels: list = field(default_factory=list)
    _aligned: int | None = None
    _packet: list = field(default_factory=list)
    _trigger: list = field(default_factory=list)

    def receive(self, cycle, level):
        """Takes a level; a bit is taken from its middle."""
        if cycle % BIT_CYCLES != BIT_CYCLES // 2:
            return
        self._levels = [*self._levels[1 - CODE_BITS :], level]
        number = cycle // BIT_CYCLES
        code = sum(bit << n for n, bit in enumerate(self._levels))
        if code in _COMMAS and len(self._levels) == CODE_BITS:
            self._aligned = number % CODE_BITS
        if self._aligned == number % CODE_BITS:
            self._character(cycle - CODE_BITS * BIT_CYCLES + BIT_CYCLES // 2, _CHARACTERS.get(code))

    def _character(self, began, character):
        if character is None:
            if self._levels not in ([0] * CODE_BITS, [1] * CODE_BITS):  # rest
                self.errors.append(f"{began}: no character")
        elif self._trigger or character in (CONTROL | facts.TRIGGER_RISE, CONTROL | facts.TRIGGER_FALL):
            self._trigger.append((began, character))
            if len(self._trigger) == 6:
                self.triggers.append((self._trigger[0][0], self._trigger[0][1] & 0xFF, self._trigger[3][1]))
                shown = [value for _, value in self._trigger]
                if shown[1] != shown[2] or shown[1] == shown[0] or len(set(shown[3:])) > 1:
                    self.errors.append(f"{began}: trigger {shown}")
                self._trigger = []
        else:
            self._packet.append(character)
            if len(self._packet) % 4 == 0:
                self._word(began)

    def _word(self, began):
        word = tuple(self._packet[-4:])
        if word == IDLE_WORD:
            self.idle += 1
            self._packet = self._packet[:-4]
        elif word == (CONTROL | facts.PACKET_END,) * 4:
            self._command(began)
            self._packet = []

    def _command(self, began):
        start, kind, body = self._packet[:4], self._packet[4:8], bytes(self._packet[8:-4])
        if start != [CONTROL | facts.PACKET_START] * 4 or len(set(kind)) > 1 or crc_of(body):
            self.errors.append(f"{began}: packet {self._packet}")
        words = [int.from_bytes(body[n : n + 4], "big") for n in range(0, len(body) - 4, 4)]
        tag = None
        if kind[0] == facts.TAGGED_COMMAND:
            tag, *words = words
        self.commands.append((tag, *words[:2], words[2] if len(words) > 2 else None))
