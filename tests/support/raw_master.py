"""Connections to the ports of ARTIQ's master over bare sockets, written from the description of the protocols."""

import json
import socket
from math import inf, nan

from . import TIMEOUT

__all__ = ["Lines", "Target", "literal", "notified", "plain"]


def plain(value):
    """Returns a value of PYON 2 with tuples as Python has them."""
    if isinstance(value, dict):
        if "__jsonclass__" in value:
            kind, arguments = value["__jsonclass__"]
            if kind in ("tuple", "set"):
                return {"tuple": tuple, "set": set}[kind](plain(item) for item in arguments[0])
            if kind == "dict":
                return {plain(key): plain(item) for key, item in arguments[0]}
            return kind, [plain(argument) for argument in arguments]
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


class Lines:
    """A connection that exchanges lines."""

    def __init__(self, port, *first, host="127.0.0.1"):
        self.socket = socket.create_connection((host, port), TIMEOUT)
        self.stream = self.socket.makefile("rb")
        for line in first:
            self.send(line)

    def send(self, line: str):
        self.socket.sendall(line.encode() + b"\n")

    def line(self) -> str:
        return self.stream.readline().decode()

    def value(self):
        """Receives a value in PYON 2."""
        return plain(json.loads(self.line()))

    def close(self):
        self.stream.close()
        self.socket.close()


class Target(Lines):
    """A target of the control port, in PYON 2."""

    def __init__(self, lab, name):
        super().__init__(lab.ports["control"], "ARTIQ pc_rpc")
        self.greeting = json.loads(self.line())
        self.send(f"{name} pyon_v2")
        self.methods = self.value()

    def reply(self, name, *args, **kwargs):
        self.send(json.dumps({"action": "call", "name": name, "args": args, "kwargs": kwargs}))
        return self.value()

    def call(self, name, *args, **kwargs):
        reply = self.reply(name, *args, **kwargs)
        assert reply["status"] == "ok", reply
        return reply["ret"]

    def failure(self, name, *args, **kwargs):
        reply = self.reply(name, *args, **kwargs)
        assert reply["status"] == "failed" and {*reply["exception"]} == {"class", "message", "traceback"}
        return reply["exception"]["class"]


def _pairs(items=()):
    """Returns a dictionary with an order as `plain` does."""
    return "OrderedDict", [[list(item) for item in items]]


_NAMES = {
    "null": None,
    "true": True,
    "false": False,
    "inf": inf,
    "nan": nan,
    "set": set,
    "OrderedDict": _pairs,
    "slice": lambda *ends: ("slice", list(ends)),
    "nparray": lambda shape, dtype, data: ("nparray", [list(shape), dtype, data.decode()]),
    "npscalar": lambda dtype, data: ("npscalar", [dtype, data.decode()]),
}


def literal(line: str):
    """Returns a value of PYON 1 as `plain` returns one of PYON 2: it is an expression of Python with a few names."""
    return eval(line, {"__builtins__": {}, **_NAMES})


def notified(lab, name, host="127.0.0.1"):
    """Follows a notifier; returns the connection and the structure."""
    lines = Lines(lab.ports["notify"], "ARTIQ sync_struct", name, host=host)
    first = lines.value()
    assert {*first} == {"action", "struct"} and first["action"] == "init"
    return lines, first["struct"]
