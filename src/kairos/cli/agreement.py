"""Compares the device database with the gateware of the device while the first kernel is compiled."""

from threading import Thread

from ..devices import devices_on
from ..devices.agreement import destinations, disagreements
from ..errors import KairosError
from ..network.management import PORT, Management
from .address import service_of
from .printed import print_notice

__all__ = ["Agreement"]

SILENCE = 2.0
"""Seconds for which a device may be silent before it is not compared."""


class Agreement:
    """Asks the device of the database `ddb` in a thread, and prints a line for each of the devices
    `entries` that does not fit it."""

    def __init__(self, ddb, entries: dict):
        self._path, self._host = ddb.path, ddb.arguments("core").get("host")
        own = devices_on(ddb.entries, self._host)
        self._entries = {name: entry for name, entry in entries.items() if name in own}
        self._thread = Thread(target=self._compare, daemon=True)
        if entries and isinstance(self._host, str):
            self._thread.start()

    def wait(self):
        """Wait until all lines are printed, so that they come before a failure that they may explain."""
        if self._thread.ident is not None:
            self._thread.join(SILENCE)

    def _address(self) -> tuple[str, int]:
        return service_of(self._host, PORT)

    def _compare(self):
        try:
            with Management(*self._address(), patience=SILENCE) as management:
                gateware = management.descriptor()
            boards = {0: gateware.channels}
            for destination in destinations(self._entries) - {0}:
                with Management(*self._address(), patience=SILENCE, destination=destination) as management:
                    boards[destination] = management.descriptor().channels
        except (KairosError, OSError):
            return  # a device that is busy, protected or of another make: the run will tell
        for line in disagreements(self._entries, gateware.clock, boards):
            print_notice(f"kairos: {self._path}: {line}")
