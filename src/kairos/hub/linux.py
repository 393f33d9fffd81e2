"""I2C and SPI buses, and sample buffers, of Linux computers."""

from collections.abc import Iterator

__all__ = ["Board", "Buffer"]

PART = 256 * 1024
"""Bytes per message of a stream."""


class Board:
    """Buses and buffers of a computer with Linux: ``lab["rack"].board``. HubError for a core
    device."""

    def __init__(self, lab, device: str):
        self._lab, self._device = lab, device

    def buses(self) -> list:
        """Return its buses, as messages `Bus` of the protocol: name, kind, text, usable, chips."""
        return list(self._lab.call("Buses", "List", device=self._device).buses)

    def i2c(self, bus: str, address: int, *parts: bytes | int) -> bytes:
        """Transfer with the chip at a 7-bit address: each part is bytes to write, or a number of
        bytes to read. The bus is not released between the parts. Returns the bytes read."""
        made = [{"read": part} if isinstance(part, int) else {"write": bytes(part)} for part in parts]
        return self._lab.call("Buses", "I2c", device=self._device, bus=bus, address=address, parts=made).read

    def spi(self, bus: str, data: bytes, hertz: int = 0, mode: int = 0) -> bytes:
        """Send bytes to a chip on SPI and return as many received bytes. `hertz`: maximum clock; 0:
        the device tree's."""
        request = {"bus": bus, "bytes": bytes(data), "hertz": hertz, "mode": mode}
        return self._lab.call("Buses", "Spi", device=self._device, **request).bytes

    @property
    def buffers(self) -> dict[str, "Buffer"]:
        """Its sample buffers, by name."""
        found = self._lab.call("Memory", "List", device=self._device).buffers
        return {each.name: Buffer(self._lab, self._device, each) for each in found}

    def __repr__(self) -> str:
        return f"<board {self._device}>"


class Buffer:
    """A buffer of a board: `name`, `size` in bytes, `readable`, `writable`."""

    def __init__(self, lab, device: str, described):
        self._lab, self._device = lab, device
        self.name, self.size = described.name, described.size
        self.readable, self.writable = described.readable, described.writable

    def stream(self, offset: int = 0, length: int = 0) -> Iterator[bytes]:
        """Yield the content in parts; offset and length in bytes, multiples of 4. Length 0: to the
        end."""
        place = {"buffer": self.name, "offset": offset, "length": length}
        for part in self._lab.stream("Memory", "Read", device=self._device, **place):
            yield part.bytes

    def read(self, offset: int = 0, length: int = 0) -> bytes:
        """Return the content: ``numpy.frombuffer(buffer.read(), "<i4")`` converts it to samples."""
        return b"".join(self.stream(offset, length))

    def write(self, data, offset: int = 0) -> int:
        """Write `data`, bytes or an object with a buffer (an array), whose length is a multiple of
        4; returns that length."""
        view = memoryview(data).cast("B")
        first = {"device": self._device, "buffer": self.name, "offset": offset}
        starts = range(0, max(len(view), 1), PART)
        parts = ({"bytes": bytes(view[at : at + PART])} for at in starts)
        fields = ({**first, **part} if at == 0 else part for at, part in zip(starts, parts, strict=True))
        return self._lab.send("Memory", "Write", fields).length

    def __repr__(self) -> str:
        return f"<buffer {self.name} of {self._device}: {self.size} bytes>"
