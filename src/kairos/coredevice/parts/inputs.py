"""Reading the events of a device's channel from kernels."""

from ...language import TInt32
from ..rtio import rtio_input_data
from .methods import made

__all__ = ["datum"]


def datum(text):
    """Build a method without arguments that waits for and returns the data of the channel's oldest
    unread event."""

    @made(text)
    def datum(self) -> TInt32:
        return rtio_input_data(self.channel)

    return datum
