"""The word of the link, as it goes to the line coder: payload, stream, and check bits.

63      57 56   54 53                                  0
| check   | stream | payload                            |
"""

from migen import *

__all__ = ["CHECK_BITS", "CREDITS", "PAYLOAD_BITS", "STREAM_BITS", "WORD_BITS", "word_layout"]

PAYLOAD_BITS = 54
STREAM_BITS = 3
CHECK_BITS = 7
CREDITS = 2**STREAM_BITS - 1
"""The stream of credits."""
WORD_BITS = PAYLOAD_BITS + STREAM_BITS + CHECK_BITS


def word_layout():
    """What a word carries: `payload` of the stream `stream`."""
    return [("payload", PAYLOAD_BITS), ("stream", STREAM_BITS)]
