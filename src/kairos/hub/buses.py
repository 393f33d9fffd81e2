"""I2C bus, SPI buses and pins of a device's board. Each call is a batch of its own; use `Program` for several steps
at once."""

from collections.abc import Callable, Iterator, Mapping

from .errors import ProgramError
from .program import Program

__all__ = ["ByName", "I2c", "Pin", "Spi", "pins", "spi_buses"]

ADDRESSES = range(0x08, 0x78)
"""Valid device addresses; the others are reserved."""


class I2c:
    """The I2C bus of a board, at 100 kbit/s, shared with the running kernel. Addresses have 7 bits.

    `switch`: (address, mask) of a switch such as the PCA9548 that is set for the transaction and
    restored afterwards. ProgramError: NOT_ACKNOWLEDGED if no device answers, BUS_STUCK, BUS_BUSY if
    a kernel occupies the bus.
    """

    def __init__(self, device):
        self._device = device

    def transfer(self, address: int, write: bytes = b"", read: int = 0, switch: tuple[int, int] | None = None) -> bytes:
        """Write up to 8 bytes to a device, then read up to 64 bytes from it."""
        program = Program()
        program.i2c(address, write, read, switch)
        return unpacked(self._device.run(program), read)

    def read(self, address: int, count: int, register: int | None = None, switch=None) -> bytes:
        """Read bytes from a device, starting at its `register` (8 bits) if given."""
        write = b"" if register is None else bytes([register])
        return self.transfer(address, write, count, switch)

    def write(self, address: int, data: bytes, switch=None):
        """Write bytes to a device; the first byte is often a register number."""
        self.transfer(address, data, 0, switch)

    def scan(self, switch=None) -> list[int]:
        """Return the addresses at which devices answer."""
        return [address for address in ADDRESSES if self._answers(address, switch)]

    def _answers(self, address: int, switch) -> bool:
        try:
            self.transfer(address, switch=switch)
        except ProgramError as error:
            if error.code != "NOT_ACKNOWLEDGED":
                raise
            return False
        return True


def unpacked(words: list[int], count: int) -> bytes:
    """Unpack the bytes read in a transaction from its result words."""
    sizes = [min(4, count - at) for at in range(0, count, 4)]
    return b"".join(word.to_bytes(size, "big") for word, size in zip(words, sizes, strict=True))


class ByName(Mapping):
    """Objects for a device's channels of some kinds, by channel name; `make` builds one from device
    and name."""

    def __init__(self, device, channels: list, make: Callable, called: str, kinds: tuple[str, ...]):
        self._device, self._make, self._called = device, make, called
        self._names = [c.name for c in channels if c.kind in kinds and c.number >> 16 == 0]

    def __getitem__(self, name: str):
        if name not in self._names:
            known = ", ".join(self) or "none"
            raise KeyError(f"{self._device.name} has no '{name}' among its {self._called}: {known}")
        return self._make(self._device, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _ipython_key_completions_(self) -> list[str]:
        return self._names

    def __repr__(self) -> str:
        return f"<{self._called} of {self._device.name}: {', '.join(self)}>"


class Spi:
    """An SPI bus, used between the transfers of experiments."""

    def __init__(self, device, name: str):
        self._device, self.name = device, name

    def transfer(self, data: int, length: int, **settings) -> int | None:
        """Send bits to chips; with ``input=True`` return the bits received. Settings as for
        `Program.spi`. ProgramError: TIMEOUT if an experiment keeps a chip selected."""
        program = Program()
        program.spi(self.name, data, length, **settings)
        results = self._device.run(program)
        return results[0] if results else None

    def __repr__(self) -> str:
        return f"<SPI bus {self.name} of {self._device.name}>"


class Pin:
    """A pin. Overriding it does not affect the experiment, whose level reappears when the override
    is released."""

    def __init__(self, device, name: str):
        self._device, self.name = device, name

    def level(self) -> bool:
        """Return the level of the pin."""
        program = Program()
        program.probe(self.name)
        return bool(self._device.run(program)[1])

    def hold(self, level: bool):
        """Hold the pin at a level."""
        self._override(level)

    def release(self):
        """Release the pin."""
        self._override(None)

    def _override(self, level: bool | None):
        program = Program()
        program.override(self.name, level)
        self._device.run(program)

    def __repr__(self) -> str:
        return f"<pin {self.name} of {self._device.name}>"


def spi_buses(device, channels: list) -> ByName:
    """Return SPI masters by the names of their channels."""
    return ByName(device, channels, Spi, "SPI buses", ("spi_master",))


def pins(device, channels: list) -> ByName:
    """Return TTL pins by the names of their channels."""
    return ByName(device, channels, Pin, "pins", ("ttl_out", "ttl_inout"))
