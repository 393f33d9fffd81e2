"""The firmware's functions for RTIO channels. A target is ``channel << 8 | address``; events are at the time cursor."""

from ..language import TInt32, TInt64, TList, TTuple
from .parts.firmware import NOWRITE, firmware_function

__all__ = [
    "rtio_input_data",
    "rtio_input_timestamp",
    "rtio_input_timestamped_data",
    "rtio_output",
    "rtio_output_wide",
]

_TIMEOUT, _CHANNEL, _TARGET = ("timeout_mu", TInt64), ("channel", TInt32), ("target", TInt32)

rtio_output = firmware_function(
    "rtio_output",
    [_TARGET, ("data", TInt32)],
    flags=NOWRITE,
    text="Submit an output event. RTIOUnderflow if its time has passed.",
)
rtio_output_wide = firmware_function(
    "rtio_output_wide",
    [_TARGET, ("data", TList(TInt32))],
    flags=NOWRITE,
    text="Submit an output event with up to 16 words of data, the lowest first.",
)
rtio_input_timestamp = firmware_function(
    "rtio_input_timestamp",
    [_TIMEOUT, _CHANNEL],
    TInt64,
    NOWRITE,
    "Time of the channel's next event, or -1 if there is none up to `timeout_mu` (negative: wait forever).",
)
rtio_input_data = firmware_function(
    "rtio_input_data", [_CHANNEL], TInt32, NOWRITE, "Data of the channel's next event; waits for it."
)
rtio_input_timestamped_data = firmware_function(
    "rtio_input_timestamped_data",
    [_TIMEOUT, _CHANNEL],
    TTuple([TInt64, TInt32]),
    NOWRITE,
    "Time and data of the channel's next event, or (-1, 0) if there is none up to `timeout_mu`.",
)
