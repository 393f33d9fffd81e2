"""Tells people what happens: webhooks and e-mail, as the sections ``[[notify]]`` of lab.toml say.

Messages are sent by a thread for each recipient, one after the other, and again if that fails; a message that cannot
be sent is in the log. At most `WAITING` wait for one recipient.
"""

import json
import logging
import queue
import smtplib
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import replace
from email.message import EmailMessage
from fnmatch import fnmatchcase
from pathlib import Path

from .events import Event
from .posting import encryption, post, secret
from .settings import Email, Notify
from .tables import kept

__all__ = ["Notifications"]

logger = logging.getLogger(__name__)

WAITING = 1000
"""Messages that wait; further ones are dropped."""
ATTEMPTS = (0.0, 2.0, 10.0, 60.0)
"""Seconds before each attempt to send a message."""
TIMEOUT = 20.0


class Notifications:
    """The messages of a laboratory called `name`. `email`: how e-mail is sent; UsageError if its
    password, or a certificate, cannot be read."""

    def __init__(self, name: str, wanted: tuple[Notify, ...], email: Email | None, folder: Path):
        password = secret(folder, email.password_file) if email is not None else ""
        # What is sent again to one of two places must not come to the other one twice.
        parts = [part for each in wanted for part in (replace(each, email=()), replace(each, webhook="")) if part.place]
        self._recipients = [_Recipient(name, part, email, password, folder) for part in parts]

    def take(self, event: Event):
        """Send an event to those who want it."""
        for each in self._recipients:
            if event.kind in each.wanted.on and fnmatchcase(event.subject, each.wanted.subject):
                each.take(event)

    def close(self):
        """Stop; messages that wait get one more attempt."""
        until = time.monotonic() + TIMEOUT
        for each in self._recipients:
            each.stop()
        for each in self._recipients:
            each.wait(max(0.0, until - time.monotonic()))


class _Recipient:
    """A place to which messages are sent, by a thread of its own: one that does not answer delays no other."""

    def __init__(self, name: str, wanted: Notify, email: Email | None, password: str, folder: Path):
        self._name, self.wanted, self._email, self._password = name, wanted, email, password
        by_web = wanted.webhook or email is None
        self._encryption = encryption(folder, wanted.certificate if by_web else email.certificate)
        self._waiting: queue.Queue = queue.Queue(WAITING)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def take(self, event: Event):
        """Send an event."""
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            logger.error("too many messages wait: '%s' is not sent to %s", event.title, self.wanted.place)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep, name="notifications", daemon=True)
            self._thread.start()

    def stop(self):
        """Stop once what waits was tried once more."""
        self._ended.set()
        with suppress(queue.Full):
            self._waiting.put_nowait(None)

    def wait(self, seconds: float):
        """Wait until it has stopped."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _keep(self):
        while (event := self._waiting.get()) is not None:
            for attempt, pause in enumerate(ATTEMPTS):
                if attempt and self._ended.wait(pause):
                    break
                failure = self._sent(self.wanted, event)
                if failure is None:
                    break
                logger.warning("'%s' could not be sent to %s: %s", event.title, self.wanted.place, failure)
            else:
                logger.error("'%s' was not sent to %s", event.title, self.wanted.place)

    def _sent(self, wanted: Notify, event: Event) -> str | None:
        """Send a message; returns why that has failed, None if it has not."""
        try:
            if wanted.webhook:
                self._post(wanted, event)
            if wanted.email:
                self._write(wanted, event)
        except Exception as error:  # also an answer that is no HTTP: the thread must go on
            return f"{type(error).__name__}: {error}".partition("\n")[0]
        return None

    def _post(self, wanted: Notify, event: Event):
        # Slack, Mattermost and others show the field `text`.
        said = {**event.described(), "laboratory": self._name, "text": self._line(event), "details": event.text}
        headers = {"Content-Type": "application/json", **wanted.headers}
        post(wanted.webhook, json.dumps(said).encode(), headers, self._encryption, TIMEOUT)

    def _line(self, event: Event) -> str:
        return f"{self._name}: {event.title}"

    def _write(self, wanted: Notify, event: Event):
        assert self._email is not None  # the settings say so
        letter = EmailMessage()
        letter["Subject"] = kept(" ".join(self._line(event).splitlines()))
        letter["From"] = self._email.sender
        letter["To"] = ", ".join(wanted.email)
        letter.set_content(kept(event.text or event.title))
        server = _connected(self._email, self._encryption)
        try:
            if self._email.encryption == "starttls":
                server.starttls(context=self._encryption)
            if self._email.user:
                server.login(self._email.user, self._password)
            refused = server.send_message(letter)
            with suppress(OSError):  # it is sent, and must not be sent again
                server.quit()
        finally:
            server.close()
        for address, (_, why) in refused.items():  # the others have got it
            logger.warning("'%s' was not sent to %s: %s", event.title, address, why.decode(errors="replace"))


def _connected(email: Email, context: ssl.SSLContext) -> smtplib.SMTP:
    host, port = email.address
    if email.encryption == "tls":
        return smtplib.SMTP_SSL(host, port, timeout=TIMEOUT, context=context)
    return smtplib.SMTP(host, port, timeout=TIMEOUT)
