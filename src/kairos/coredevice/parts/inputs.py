"""Events of a device's channel as the kernel reads them."""

from ...language import TInt32
from ..rtio import rtio_input_data
from .methods import made

__all__ = ["datum"]


def datum(text):
    """A method without arguments: the data of the channel's oldest event that was not read yet; waits for it."""

    @made(text)
    def datum(self) -> TInt32:
        return rtio_input_data(self.channel)

    return datum
