"""A client of monitor and injector, written from the description of the wire protocol alone."""

import socket
import struct


class Client:
    def __init__(self, device, greeting=b"ARTIQ moninj\n"):
        self.socket = socket.create_connection((device.host, device.ports[1383]), 20)
        self.socket.settimeout(20)
        self.socket.sendall(greeting)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.socket.close()

    def watch_probe(self, channel, probe, enable=True):
        self.socket.sendall(struct.pack("<B?IB", 0, enable, channel, probe))

    def inject(self, channel, override, value):
        self.socket.sendall(struct.pack("<BIBB", 1, channel, override, value))

    def get(self, channel, override):
        """The override's value, asked for once."""
        self.socket.sendall(struct.pack("<BIB", 2, channel, override))
        what = self.next()
        assert what[:3] == ("override", channel, override)
        return what[3]

    def get_among(self, channel, override):
        """The same while there are watches: the last message about it once it is as it was set."""
        self.socket.sendall(struct.pack("<BIB", 2, channel, override) + struct.pack("<BIB", 2, 77, 77))
        value = None
        while (what := self.next())[:3] != ("override", 77, 77):
            if what[:3] == ("override", channel, override):
                value = what[3]
        return value

    def watch_override(self, channel, override, enable=True):
        self.socket.sendall(struct.pack("<B?IB", 3, enable, channel, override))

    def read(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            assert more, "the device has closed the connection"
            data += more
        return data

    def next(self):
        """The next message: (what, channel, number, value)."""
        kind = self.read(1)[0]
        layout = {0: "<IBQ", 1: "<IBB"}[kind]
        channel, number, value = struct.unpack(layout, self.read(struct.calcsize(layout)))
        return ["probe", "override"][kind], channel, number, value

    def is_closed(self):
        return self.socket.recv(1) == b""
