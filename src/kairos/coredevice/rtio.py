"""The firmware's functions for RTIO channels. A target is ``channel << 8 | address``; events are at the time cursor."""

from .parts.firmware import NOWRITE, firmware_function

__all__ = [
    "rtio_input_data",
    "rtio_input_timestamp",
    "rtio_input_timestamped_data",
    "rtio_output",
    "rtio_output_wide",
]

rtio_output = firmware_function(
    "rtio_output", "target data", NOWRITE, "Submit an output event. RTIOUnderflow if its time has passed."
)
rtio_output_wide = firmware_function(
    "rtio_output_wide", "target data", NOWRITE, "Submit an output event with up to 16 words, the lowest first."
)
rtio_input_timestamp = firmware_function(
    "rtio_input_timestamp",
    "timeout_mu channel",
    NOWRITE,
    "Time of the channel's next event, or -1 if there is none up to `timeout_mu` (negative: wait forever).",
)
rtio_input_data = firmware_function(
    "rtio_input_data", "channel", NOWRITE, "Data of the channel's next event; waits for it."
)
rtio_input_timestamped_data = firmware_function(
    "rtio_input_timestamped_data",
    "timeout_mu channel",
    NOWRITE,
    "Time and data of the channel's next event, or (-1, 0) if there is none up to `timeout_mu`.",
)
