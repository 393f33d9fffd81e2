"""Writes JaqalPaw's output for the circuits here to oracle.json: `python oracle.py`, with jaqalpaw 1.3.0 installed.

That release has the older word layout (Irtija et al., 2023), so segments are stored as fields: for
each channel and parameter [cycles, shift, U0, U1, U2, U3, flags], with flags in the newer layout's
bits. `streamed` is the number of words without tables.
"""

import json
from pathlib import Path

from jaqalpaw.compiler.jaqal_compiler import CircuitCompiler

FOLDER = Path(__file__).parent
FLAGS = {218: 1, 219: 2, 224: 3, 225: 4, 226: 5, 227: 6, 228: 7}
"""Maps bits of an older word to bits of the flags."""


def field(word, at, bits=40):
    value = word >> at & (1 << bits) - 1
    return value - (value >> 39 << 40)


def segments(words):
    """Returns the segments of a word stream."""
    found = {}
    for word in words:
        flags = sum((word >> old & 1) << new for old, new in FLAGS.items())
        channel, parameter = word >> 220 & 7, word >> 253 & 7
        fields = [field(word, 160), word >> 248 & 31, *(field(word, at) for at in (0, 40, 80, 120)), flags]
        found.setdefault(channel, {}).setdefault(parameter, []).append(fields)
    return found


def main():
    known = {}
    for path in sorted(FOLDER.rglob("*.jaqal")):
        words = [int.from_bytes(word, "little") for word in CircuitCompiler(str(path)).streaming_data()]
        known[path.relative_to(FOLDER).as_posix()] = {"streamed": len(words), "segments": segments(words)}
    (FOLDER / "oracle.json").write_text(json.dumps(known) + "\n")


if __name__ == "__main__":
    main()
