"""Clients of a core device with the names and methods of ARTIQ's."""

from pathlib import Path

from ..contracts.management import PORT
from ..network.management import Management
from ..session import Session
from ..waveform.analysis import write_dump

__all__ = ["CommKernelDummy", "CommMgmt", "decoded_dump_to_vcd"]


class CommKernelDummy(Session):
    """A session without a device: it can be created and closed, but refuses to run anything."""

    def __init__(self):
        super().__init__(None)


class CommMgmt:
    """The management service of the device at `host`; connects on the first request, and again
    after `close`."""

    def __init__(self, host: str, port: int = PORT, drtio_dest: int = 0):
        self.host, self.port, self._destination = host, port, drtio_dest
        self._client: Management | None = None

    def open(self):
        """Connect, if not connected."""
        self._connected()

    def _connected(self) -> Management:
        if self._client is None:
            self._client = Management(self.host, self.port, destination=self._destination)
        return self._client

    def close(self):
        """Disconnect."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def get_log(self) -> str:
        """Return the log that the device keeps."""
        return self._connected().log()

    def flash(self, bin_path):
        """Replace the boot image with the file at `bin_path`, and restart."""
        self._connected().flash(Path(bin_path).read_bytes())


def _forwarded(name: str):
    """Build a method that forwards to the client's method of the same name."""

    def method(self, *args):
        return getattr(self._connected(), name)(*args)

    method.__name__, method.__doc__ = name, getattr(Management, name).__doc__
    return method


for _name in ("clear_log", "reboot", "debug_allocator", "config_read", "config_write", "config_remove", "config_erase"):
    setattr(CommMgmt, _name, _forwarded(_name))


def decoded_dump_to_vcd(fileobj, devices, dump, uniform_interval=False):
    """Write a decoded dump as VCD to an open text file; `devices`: the device database, a
    dictionary."""
    if uniform_interval:
        raise NotImplementedError("Kairos writes waveforms over time only: leave out uniform_interval")
    write_dump(fileobj, dump, devices)
