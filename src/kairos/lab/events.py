"""What happens in a laboratory that people may want to be told: by kind, to whoever listens.

Kinds: ``ended`` and ``failed`` (a run), ``queue_empty``, ``alarm`` and ``alarm_cleared``,
``device_lost`` and ``device_back``, ``value_waits`` (a calibration's, for a person), ``test``.
"""

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from . import clock

__all__ = ["KINDS", "Event", "Events"]

logger = logging.getLogger(__name__)

KINDS = (
    "alarm",
    "alarm_cleared",
    "device_back",
    "device_lost",
    "ended",
    "failed",
    "queue_empty",
    "test",
    "value_waits",
)


@dataclass(frozen=True)
class Event:
    """Something that has happened."""

    kind: str
    title: str
    """A line for people."""
    text: str = ""
    subject: str = ""
    """What it is about: the class of a run, an alarm, a device, a parameter."""
    rid: int | None = None
    time: float = field(default_factory=lambda: clock.now())

    def described(self) -> dict:
        """Return it as a dictionary."""
        return asdict(self)


class Events:
    """The events of a laboratory."""

    def __init__(self):
        self.listeners: list[Callable[[Event], None]] = []

    def emit(self, kind: str, title: str, text: str = "", subject: str = "", rid: int | None = None):
        """Report an event."""
        event = Event(kind, title, text, subject, rid)
        for listener in self.listeners:
            try:
                listener(event)
            except Exception:
                # One that fails must not keep a run from ending.
                logger.exception("the event '%s'", title)
