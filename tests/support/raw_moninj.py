"""A client of monitor and injector, written only from the description of the wire protocol."""

import struct

from .connection import Connection


class Client(Connection):
    def __init__(self, device, greeting=b"ARTIQ moninj\n"):
        super().__init__(device, 1383, greeting)

    def watch_probe(self, channel, probe, enable=True):
        self.write(struct.pack("<B?IB", 0, enable, channel, probe))

    def inject(self, channel, override, value):
        self.write(struct.pack("<BIBB", 1, channel, override, value))

    def get(self, channel, override):
        """Request the override's value once."""
        self.write(struct.pack("<BIB", 2, channel, override))
        what = self.next()
        assert what[:3] == ("override", channel, override)
        return what[3]

    def get_among(self, channel, override):
        """As `get`, while there are watches: return the last message about the override after it
        was set."""
        self.write(struct.pack("<BIB", 2, channel, override) + struct.pack("<BIB", 2, 77, 77))
        value = None
        while (what := self.next())[:3] != ("override", 77, 77):
            if what[:3] == ("override", channel, override):
                value = what[3]
        return value

    def watch_override(self, channel, override, enable=True):
        self.write(struct.pack("<B?IB", 3, enable, channel, override))

    def next(self):
        """Read the next message: (kind, channel, number, value)."""
        kind = self.read(1)[0]
        channel, number, value = self.unpack({0: "IBQ", 1: "IBB"}[kind])
        return ["probe", "override"][kind], channel, number, value
