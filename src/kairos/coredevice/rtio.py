"""The firmware's functions for RTIO channels. A target is ``channel << 8 | address``; events are at the time cursor."""

from ..language import TInt32, TInt64, TList, TNone, TTuple, syscall

__all__ = [
    "rtio_input_data",
    "rtio_input_timestamp",
    "rtio_input_timestamped_data",
    "rtio_output",
    "rtio_output_wide",
]


@syscall(flags={"nowrite"})
def rtio_output(target: TInt32, data: TInt32) -> TNone:
    """Submit an output event. RTIOUnderflow if its time has passed."""
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nowrite"})
def rtio_output_wide(target: TInt32, data: TList(TInt32)) -> TNone:
    """Submit an output event with up to 16 words of data, the lowest first."""
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nowrite"})
def rtio_input_timestamp(timeout_mu: TInt64, channel: TInt32) -> TInt64:
    """Time of the channel's next event, or -1 if there is none up to `timeout_mu` (negative: wait forever)."""
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nowrite"})
def rtio_input_data(channel: TInt32) -> TInt32:
    """Data of the channel's next event; waits for it."""
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nowrite"})
def rtio_input_timestamped_data(timeout_mu: TInt64, channel: TInt32) -> TTuple([TInt64, TInt32]):
    """Time and data of the channel's next event, or (-1, 0) if there is none up to `timeout_mu`."""
    raise NotImplementedError("runs on the core device only")
