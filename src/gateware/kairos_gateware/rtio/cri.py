"""Core request interface: how an initiator (kernel initiator, DMA) passes commands to the RTIO
core.

Two request streams, output and input, and one shared response, since an initiator has one command
in flight:

    cycle          0      1      2      3
    output.valid   ‾‾‾‾‾‾‾\\____________          ready low = the chosen FIFO is full
    output.ready   ‾‾‾‾‾‾‾\\____________
    response.done  _______/‾‾‾‾‾‾\\_____          status of this very event, one cycle after acceptance
"""

from litex.soc.interconnect import stream
from migen import *

from ..contracts.rtio import (
    INPUT_OVERFLOW,
    INPUT_TIMEOUT,
    INPUT_UNREACHABLE,
    OUTPUT_UNDERFLOW,
    OUTPUT_UNREACHABLE,
)

__all__ = ["Cri", "OUTPUT_UNDERFLOW", "OUTPUT_UNREACHABLE", "INPUT_TIMEOUT", "INPUT_OVERFLOW", "INPUT_UNREACHABLE"]


class Cri:
    """Signals of the interface. Directions as seen by the RTIO core.

    `output` (in): stream of {channel 24, address 8, timestamp 64 (machine units), data `data_width`}.
    `input` (in): stream of {channel 24, timeout 64 (machine units, all ones: none), number 16}. number:
    with pushed inputs, that of the newest entry consumed (`pusher`), otherwise unused. `response` (out):
    done (one cycle), status 4, timestamp 64, data 32 (the last two for inputs). The channel has the
    DRTIO destination in bits 23..16. For arbiters, the core also provides the two kinds of
    responses separately: `output_done` (out) with `output_status` (out, 4 bits), and `input_done` (out) with
    `input_status` (out, 4 bits), timestamp and data as in `response`. Outputs are always answered one cycle
    after acceptance.
    """

    def __init__(self, data_width):
        self.output = stream.Endpoint([("channel", 24), ("address", 8), ("timestamp", 64), ("data", data_width)])
        self.input = stream.Endpoint([("channel", 24), ("timeout", 64), ("number", 16)])
        self.response = Record([("done", 1), ("status", 4), ("timestamp", 64), ("data", 32)])
        self.output_done, self.output_status = Signal(), Signal(4)
        self.input_done, self.input_status = Signal(), Signal(4)
