"""Receivers of messages and numbers that redirect, reject, speak nonsense or are somebody else: nothing is lost without
a word, and one of them keeps back no other."""

import http.server
import logging
import socket
import socketserver
import ssl
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest

from kairos.errors import UsageError
from kairos.lab import influx
from kairos.lab.events import Event
from kairos.lab.influx import InfluxWriter, line
from kairos.lab.notifications import Notifications
from kairos.lab.settings import Email, Influx, Notify, Settings
from tests.support.waiting import until


class Server(http.server.ThreadingHTTPServer):
    """Answers each request as `answer(path, body)` says: status, headers, text. `received` has what it has taken."""

    def __init__(self, answer=lambda path, body: (204, {}, "")):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.received: list[tuple[str, str]] = []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def url(self, path="/") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def taken(self) -> list[str]:
        return [text for _, body in self.received for text in body.split("\n")]


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        status, headers, text = self.server.answer(self.path, body)
        if status < 300:
            self.server.received.append((self.path, body))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        self.server.received.append((f"GET {self.path}", ""))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def serving(handler):
    """Context of a server on a port of its own; its port."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


@pytest.fixture
def server():
    made = Server()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def writer(tmp_path, monkeypatch):
    """Makes a writer of numbers, whose datasets are a dictionary, to a URL."""
    monkeypatch.setattr(influx, "PERIOD", 0.02)
    monkeypatch.setattr(influx, "AGAIN", 0.05)
    made = []

    def make(url, values, **more):
        made.append(InfluxWriter(Influx(url, interval=0.0, **more), "lab", values, tmp_path))
        return made[-1]

    yield make
    for each in made:
        each.close()


def change(writer, values, key, value):
    values[key] = (False, value, {})
    writer.take([{"action": "setitem", "path": [], "key": key, "value": values[key]}])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_message_that_is_redirected_is_reported_as_not_sent(server, tmp_path, caplog, status):
    server.answer = lambda path, body: (status, {"Location": server.url("/elsewhere")}, "")
    notifications = Notifications("lab", (Notify(("test",), server.url("/hook")),), None, tmp_path)
    with caplog.at_level(logging.WARNING):
        notifications.take(Event("test", "first"))
        until(lambda: "redirects" in caplog.text)
        notifications.close()
    assert f"it redirects to {server.url('/elsewhere')}: give that address in lab.toml" in caplog.text
    assert server.received == [], "it would be a request without the message"


def test_numbers_to_a_redirecting_server_are_kept_until_it_takes_them(server, writer, caplog):
    server.answer = lambda path, body: (302, {"Location": server.url("/login")}, "")
    values = {}
    made = writer(server.url("/write"), values)
    change(made, values, "power", 1.5)
    until(lambda: "redirects" in caplog.text)
    server.answer = lambda path, body: (204, {}, "")
    until(
        lambda: [text.rpartition(" ")[0] for text in server.taken()] == ["dataset,key=power,laboratory=lab value=1.5"]
    )


def test_rejected_lines_are_named_and_keep_back_no_other(server, writer, caplog):
    server.answer = lambda path, body: (
        (400, {}, '{"message": "field type conflict"}') if "key=bad" in body else (204, {}, "")
    )
    values = {}
    made = writer(server.url("/write"), values)
    for number in range(50):
        change(made, values, "bad" if number in (7, 31) else f"good{number}", number)
    until(lambda: len({text.split()[0] for text in server.taken()}) == 48)
    change(made, values, "later", 1)
    until(lambda: any("key=later" in text for text in server.taken()))
    assert caplog.text.count("InfluxDB rejects 'dataset,key=bad") == 2 and "field type conflict" in caplog.text


def test_numbers_wait_for_a_server_that_speaks_no_http(server, writer, caplog):
    class Nonsense(socketserver.StreamRequestHandler):
        def handle(self):
            self.rfile.readline()
            self.wfile.write(b"this is no HTTP\r\n")

    values = {}
    with serving(Nonsense) as port:
        made = writer(f"http://127.0.0.1:{port}/write", values)
        change(made, values, "power", 1)
        until(lambda: "cannot be reached, numbers are kept" in caplog.text)
        object.__setattr__(made._wanted, "url", server.url("/write"))
        until(lambda: server.taken())
        until(lambda: "InfluxDB is reached again" in caplog.text)


def test_answer_without_end_delays_no_further_numbers(writer):
    values, received = {}, []

    class Endless(socketserver.StreamRequestHandler):
        def handle(self):
            text = self.rfile.readline() + self.rfile.readline()
            received.append(text)
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            try:
                while True:
                    self.wfile.write(b".")
                    time.sleep(0.05)
            except OSError:
                pass

    with serving(Endless) as port:
        made = writer(f"http://127.0.0.1:{port}/write", values)
        for count in (1, 2):
            change(made, values, "power", count)
            until(lambda count=count: len(received) == count)


def test_datagrams_reach_a_server_with_an_address_of_either_family(writer):
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family, socket.SOCK_DGRAM) as receiver:
            receiver.bind((host, 0))
            receiver.settimeout(30)
            values = {}
            shown = f"[{host}]" if family == socket.AF_INET6 else host
            made = writer(f"udp://{shown}:{receiver.getsockname()[1]}", values)
            change(made, values, "k" * 70_000, 1)  # longer than any datagram
            change(made, values, "power", 2)
            assert receiver.recv(2000).startswith(b"dataset,key=power")


@pytest.mark.parametrize("value", [10**400, -(10**400), float("nan"), 1j, {"a": 1}, {1}, [[1], [1, 2]], [], b"x", None])
def test_value_that_is_no_number_of_influx_is_left_out(value, writer, server):
    values = {}
    made = writer(server.url("/write"), values)
    change(made, values, "odd", value)
    change(made, values, "name\udcff", 1)
    until(lambda: any("name?" in text for text in server.taken()))
    assert not any("odd" in text for text in server.taken()) and line("m", {}, {"v": value}, 0) in (
        "",
        line("m", {}, {}, 0),
    )


def self_signed(folder):
    """Make a key and a certificate that nobody trusts."""
    words = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=x"]
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run(["openssl", "req", *words, *more], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def test_password_is_given_only_to_a_server_that_is_verified(tmp_path, caplog):
    context, said, letters = self_signed(tmp_path), [], []

    class Letterbox(socketserver.StreamRequestHandler):
        def handle(self):
            self.say("220 test")
            try:
                while text := self.rfile.readline().decode().strip():
                    said.append(text)
                    self.answer(text.upper())
            except OSError:
                pass

        def say(self, text):
            self.wfile.write(f"{text}\r\n".encode())
            self.wfile.flush()

        def answer(self, text):
            if text == "STARTTLS":
                self.say("220 go on")
                self.connection = context.wrap_socket(self.request, server_side=True)
                self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb")
            elif text.startswith("EHLO"):
                self.say("250-x\r\n250-STARTTLS\r\n250 AUTH PLAIN")
            elif text.startswith("RCPT") and "B@" in text:
                self.say("550 nobody of that name")
            elif text == "DATA":
                self.say("354 go on")
                while (line := self.rfile.readline()) not in (b".\r\n", b""):
                    letters.append(line.decode().rstrip())
                self.say("250 ok")
            else:
                self.say("235 ok" if text.startswith("AUTH") else "250 ok")

    (tmp_path / "password").write_text("secret\n")
    with serving(Letterbox) as port:
        for certificate in ("", "cert.pem"):
            email = Email(f"127.0.0.1:{port}", "lab@x", "user", "password", certificate=certificate)
            wanted = Notify(("test",), email=("a@x", "b@x"))
            notifications = Notifications("lab", (wanted,), email, tmp_path)
            notifications.take(Event("test", "title\nof \udcff", "text \udcff"))
            if certificate:
                until(lambda: any(each.startswith("text") for each in letters))
            else:
                until(lambda: "CERTIFICATE_VERIFY_FAILED" in caplog.text)
                assert not any(each.upper().startswith("AUTH") for each in said)
            notifications.close()
    assert "'title\nof \udcff' was not sent to b@x: nobody of that name" in caplog.text
    assert sum(each.startswith("text") for each in letters) == 1, "an odd answer to QUIT sends it no second time"


def test_webhook_of_an_own_authority_is_verified_with_its_certificate(server, tmp_path, caplog):
    server.socket = self_signed(tmp_path).wrap_socket(server.socket, server_side=True)
    url = server.url("/hook").replace("http:", "https:")
    for certificate in ("", "cert.pem"):
        notifications = Notifications("lab", (Notify(("test",), url, certificate=certificate),), None, tmp_path)
        notifications.take(Event("test", "title"))
        until(lambda wanted=bool(certificate): bool(server.received) if wanted else "VERIFY_FAILED" in caplog.text)
        notifications.close()
    assert len(server.received) == 1
    for name, why in (("none.pem", "cannot be read"), ("password", "has no certificate in PEM format")):
        (tmp_path / "password").write_text("secret\n")
        with pytest.raises(UsageError, match=why):
            Notifications("lab", (Notify(("test",), url, certificate=name),), None, tmp_path)


@pytest.mark.parametrize("server_name", ["", ":25", "host:port", "host:99999"])
def test_server_for_email_that_cannot_be_is_refused(tmp_path, server_name):
    (tmp_path / "lab.toml").write_text(f"[email]\nserver = '{server_name}'\nsender = 'a@b'\n")
    with pytest.raises(UsageError, match="email.server must be 'host' or 'host:port', not"):
        Settings.load(tmp_path)
    assert Email("[::1]:2525", "a").address == ("::1", 2525) and Email("h", "a", encryption="tls").address == ("h", 465)
