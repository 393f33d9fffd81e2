"""The link word as passed to the line coder: payload, stream number and check bits.

63      57 56   54 53                                  0
| check   | stream | payload                            |
"""

from migen import *

__all__ = ["CHECK_BITS", "CREDITS", "PAYLOAD_BITS", "STREAM_BITS", "WORD_BITS", "word_layout"]

PAYLOAD_BITS = 54
STREAM_BITS = 3
CHECK_BITS = 7
CREDITS = 2**STREAM_BITS - 1
"""Stream number of credit words."""
WORD_BITS = PAYLOAD_BITS + STREAM_BITS + CHECK_BITS


def word_layout():
    """Fields of a word: `payload`, belonging to stream `stream`."""
    return [("payload", PAYLOAD_BITS), ("stream", STREAM_BITS)]
