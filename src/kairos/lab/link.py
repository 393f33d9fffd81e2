"""The connection of a process that the laboratory has started, to the laboratory.

Both sides send lines of PYON. The process sends ``hello`` with its number and what it is doing; ``ask`` with a
number, a service and arguments, answered by ``reply`` with that number; ``end`` with the result of a stage, when all
that it has measured is in its journal; ``written`` with the length of that. It receives ``stage`` with the name of a
stage and its values. When the connection is lost, it connects again and repeats what was not answered, until then
going on with its stage.
"""

import os
import queue
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .. import pyon
from ..controllers.sockets import dialled
from ..controllers.wire import result

__all__ = ["Link"]

RECONNECT = 0.1
"""Seconds between attempts to reach the laboratory."""


class Link:
    """The connection to the laboratory, kept by a thread. A process that does not `outlive` the laboratory ends
    with the connection."""

    def __init__(self, path: str, rid: int, state: dict, outlive: bool = True):
        self._path, self._state = path, {"rid": rid, "pid": os.getpid(), **state}
        self.commands: queue.Queue = queue.Queue()
        self._replies: queue.Queue = queue.Queue()
        self._sending = threading.Lock()
        self._asking = threading.Lock()
        self._unanswered: dict[str, dict] = {}
        """What is sent again after a reconnection: a question, the end of a stage."""
        self._number = 0
        self._connection: socket.socket | None = None
        self._outlive = outlive
        self.lost = time.monotonic()
        """When the connection was lost."""
        self.informed: Callable[[dict], None] = lambda _: None
        """Called by the thread of the connection with what the laboratory sends during a stage."""
        threading.Thread(target=self._keep, name="link", daemon=True).start()

    @property
    def connected(self) -> bool:
        """Whether a laboratory is there."""
        return self._connection is not None

    def update(self, **state):
        """Set what a laboratory is told that has just been started."""
        self._state |= state

    def send(self, **message):
        """Send a message, or drop it without a connection."""
        with self._sending:
            self._send(message)

    def _send(self, message):
        connection = self._connection
        if connection is not None:
            with suppress(OSError):
                connection.sendall(pyon.encode(message).encode() + b"\n")

    def ask(self, service, *args, **kwargs):
        """Call a service of the laboratory and return its result, or raise its exception; waits for
        a laboratory if there is none."""
        return self._asked(service, args, kwargs, lambda: False, None)

    def ask_if_there(self, otherwise, service, *args):
        """Call a service as `ask`, but return `otherwise` as soon as there is no laboratory."""
        return self._asked(service, args, {}, lambda: not self.connected, otherwise)

    def _asked(self, service, args, kwargs, gives_up, otherwise):
        with self._asking:
            self._number += 1
            question = {"ask": service, "number": self._number, "args": args, "kwargs": kwargs}
            with self._sending:
                self._unanswered["ask"] = question
                self._send(question)
            try:
                while not gives_up():
                    with suppress(queue.Empty):
                        reply = self._replies.get(timeout=RECONNECT)
                        if reply["number"] == self._number:
                            return result(reply["reply"], "laboratory")
                return otherwise
            finally:
                with self._sending:
                    del self._unanswered["ask"]

    def ended(self, stage, how, data=None):
        """Report the end of a stage, until the laboratory commands the next one."""
        message = {"end": how, "stage": stage, "data": data}
        with self._sending:
            self._unanswered["end"] = message
            self._send(message)

    def command(self, timeout: float | None = None) -> dict:
        """Receive the next command; queue.Empty after `timeout` seconds."""
        command = self.commands.get(timeout=timeout)
        self._unanswered.pop("end", None)
        return command

    def _keep(self):
        while True:
            with suppress(OSError):
                self._talk()
            if not self._outlive:
                os._exit(1)
            time.sleep(RECONNECT)

    def _talk(self):
        with dialled(Path(self._path)) as connection, connection.makefile("rb") as lines:
            with self._sending:
                self._connection = connection
                self._send({"hello": self._state})
                for message in self._unanswered.values():
                    self._send(message)
            try:
                for line in lines:
                    message = pyon.decode(line.decode())
                    if "information" in message:
                        self.informed(message["information"])
                        continue
                    (self._replies if "reply" in message else self.commands).put(message)
            finally:
                with self._sending:
                    self._connection, self.lost = None, time.monotonic()
