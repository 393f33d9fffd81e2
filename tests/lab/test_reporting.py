"""Messages, alarms, and figures for databases, each received by a real server."""

import http.server
import json
import socketserver
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest

from kairos.errors import UsageError
from kairos.lab.events import Event
from kairos.lab.influx import line
from kairos.lab.notifications import Notifications
from kairos.lab.settings import Email, Notify, Settings
from tests.support.laboratory import Laboratory
from tests.support.ports import free_port
from tests.support.waiting import until


class Collector(http.server.ThreadingHTTPServer):
    """Receives requests; `fail` answers that many with an error first."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[tuple[str, dict, bytes]] = []
        self.fail = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def said(self) -> list[dict]:
        return [json.loads(body) for path, _, body in self.received if path == "/hook"]

    def lines(self) -> list[str]:
        return [
            text for path, _, body in self.received if path.startswith("/write") for text in body.decode().split("\n")
        ]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.fail:
            self.server.fail -= 1
            self.send_error(503)
            return
        self.server.received.append((self.path, dict(self.headers), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class LetterServer(socketserver.ThreadingTCPServer):
    """Receives letters by SMTP."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Letterbox)
        self.letters: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Letterbox(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"220 test\r\n")
        letter: list[str] | None = None
        for raw in self.rfile:
            text = raw.decode().rstrip("\r\n")
            if letter is not None:
                if text == ".":
                    self.server.letters.append("\n".join(letter))
                    letter = None
                    self.wfile.write(b"250 ok\r\n")
                else:
                    letter.append(text)
            elif text.upper() == "DATA":
                letter = []
                self.wfile.write(b"354 go on\r\n")
            elif text.upper() == "QUIT":
                self.wfile.write(b"221 bye\r\n")
                return
            else:
                self.wfile.write(b"250 ok\r\n")


@pytest.fixture
def collector():
    server = Collector()
    yield server
    server.shutdown()
    server.server_close()


def started(tmp_path, settings):
    laboratory = Laboratory(tmp_path, settings)
    return laboratory.start()


def test_webhook_and_email_report_the_wanted_events(tmp_path, collector):
    letters_server = LetterServer()
    lab = started(
        tmp_path,
        f"""
name = "the trap"
[[notify]]
on = ["failed", "queue_empty", "test"]
webhook = "{collector.address}/hook"
headers = {{ X-Key = "k" }}
[[notify]]
on = ["ended", "failed"]
subject = "Qui*"
email = ["a@example.org", "b@example.org"]
[email]
server = "127.0.0.1:{letters_server.server_address[1]}"
sender = "lab@example.org"
encryption = "none"
""",
    )
    try:
        collector.fail = 1
        lab.ends(lab.run_of("Broken"))
        until(lambda: len(collector.said()) == 2)
        failed, empty = collector.said()
        assert failed["kind"] == "failed" and failed["subject"] == "Broken" and failed["rid"] == 0
        assert failed["text"].startswith("the trap: run 0 (Broken) has failed: ") and "of the user" in failed["details"]
        assert empty["text"] == "the trap: the queue is empty" and collector.received[0][1]["X-Key"] == "k"
        assert letters_server.letters == []
        lab.ends(lab.run_of("Quick"))
        until(lambda: letters_server.letters)
        assert "Subject: the trap: run 1 (Quick) has completed" in letters_server.letters[0]
        assert "To: a@example.org, b@example.org" in letters_server.letters[0]
        lab.test_notifications()
        until(lambda: collector.said()[-1]["kind"] == "test")
    finally:
        lab.close()
        letters_server.shutdown()
        letters_server.server_close()


def test_recipient_that_fails_delays_no_other_and_is_tried_again_with_the_next_message(tmp_path, collector):
    asked = []

    class Nonsense(socketserver.StreamRequestHandler):
        def handle(self):
            asked.append(self.rfile.readline())
            self.wfile.write(b"this is no HTTP\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Nonsense) as nonsense:
        threading.Thread(target=nonsense.serve_forever, daemon=True).start()
        urls = [f"http://127.0.0.1:{nonsense.server_address[1]}/", f"{collector.address}/hook"]
        # With a letter, too, that cannot be sent: the webhook must not get the message again.
        email = Email("127.0.0.1:1", "lab@example.org", encryption="none")
        wanted = [Notify(("test",), url, ("a@example.org",)) for url in urls]
        notifications = Notifications("lab", tuple(wanted), email, tmp_path)
        for title in ("first", "second"):
            notifications.take(Event("test", title))
        until(lambda: asked and len(collector.said()) == 2)
        notifications.close()  # a message that waits gets one attempt
        nonsense.shutdown()
    assert [each["title"] for each in collector.said()] == ["first", "second"] and len(asked) >= 2


ALARMS = """
[[alarm]]
name = "RF"
dataset = "rf"
minimum = 1e6
maximum = 2e6
latch = true
guidance = "call Anna"
[[alarm]]
name = "lost counts"
dataset = "counts"
minimum = 10
delay = 0.2
"""


def states(lab) -> dict:
    return {each["name"]: each["state"] for each in lab.alarms()}


def test_alarm_is_raised_latched_acknowledged_and_survives_a_restart(tmp_path, collector):
    hook = f"[[notify]]\non = ['alarm', 'alarm_cleared']\nwebhook = '{collector.address}/hook'\n"
    lab = started(tmp_path, ALARMS + hook)
    try:
        assert states(lab) == {"RF": "ok", "lost counts": "ok"}
        lab.set_dataset("rf", 3e6, True, {"unit": "MHz", "scale": 1e6})
        until(lambda: states(lab)["RF"] == "active")
        (alarm,) = [each for each in lab.alarms() if each["name"] == "RF"]
        assert (alarm["reason"], alarm["guidance"]) == ("rf = 3 MHz is above 2 MHz", "call Anna")
        lab.set_dataset("rf", 1.5e6)
        until(lambda: states(lab)["RF"] == "latched")
        until(lambda: len(collector.said()) == 2)  # a message that waits is lost with the laboratory
        lab.kill()
        lab.start()
        assert states(lab)["RF"] == "latched"
        lab.acknowledge("RF", "seen")
        assert states(lab)["RF"] == "ok"
        with pytest.raises(UsageError, match="alarm 'RF' is ok: there is nothing to acknowledge"):
            lab.acknowledge("RF")
        lab.set_dataset("rf", float("nan"))
        until(lambda: states(lab)["RF"] == "active")
        lab.acknowledge("RF", "again")
        assert states(lab)["RF"] == "acknowledged"
        lab.set_dataset("rf", 1.5e6)
        until(lambda: states(lab)["RF"] == "ok")
        history = [(row["state"], row["note"]) for row in lab.alarm_history()]
        assert history == [
            ("ok", "again"),
            ("acknowledged", "again"),
            ("active", None),
            ("ok", "seen"),
            ("latched", None),
            ("active", None),
        ]
        until(lambda: len(collector.said()) == 4)
        assert [each["kind"] for each in collector.said()] == ["alarm", "alarm_cleared"] * 2
        with pytest.raises(UsageError, match="there is no alarm 'none'; there are RF, lost counts"):
            lab.acknowledge("none")
    finally:
        lab.close()


def test_alarm_with_delay_ignores_a_short_excursion_of_the_last_element(tmp_path):
    lab = started(tmp_path, ALARMS)
    try:
        lab.set_dataset("counts", [5, 50])
        lab.set_dataset("counts", [50, 5])
        lab.set_dataset("counts", [50, 5, 50])
        lab.set_dataset("counts", [])
        assert [each["reason"] for each in lab.alarms()] == ["there is no dataset rf", ""]
        lab.set_dataset("counts", [50, 5])
        until(lambda: states(lab)["lost counts"] == "active")
        lab.set_dataset("counts", [50])
        until(lambda: states(lab)["lost counts"] == "ok")
        lab.set_dataset("counts", ["text"])
        until(lambda: states(lab)["lost counts"] == "active")
        assert lab.alarms()[0]["reason"] == "counts is no number"
    finally:
        lab.close()


ODD = """
from artiq.experiment import *


class Odd(EnvExperiment):
    def run(self):
        self.set_dataset("counts", 10**400, broadcast=True)
        self.set_dataset("after", 1, broadcast=True)
        self.set_dataset("rf", {}, broadcast=True)
        self.set_dataset("last", 2, broadcast=True)
"""


def test_value_of_any_kind_raises_an_alarm_and_keeps_back_no_change(tmp_path, collector):
    lab = started(tmp_path, f"{ALARMS}\n[influx]\nurl = '{collector.address}/write'\ninterval = 0\n")
    (tmp_path / "repository" / "odd.py").write_text(ODD)
    try:
        assert lab.ends(lab.submit({"file": "odd.py", "repo_rev": None}))["status"] == "completed"
        assert lab.datasets()["last"][1] == 2 and lab.datasets()["after"][1] == 1
        assert states(lab)["RF"] == "active"
        for value, reason in [
            (10**400, "rf = inf is above 2e+06"),
            (-(10**400), "rf = -inf is below 1e+06"),
            (np.array(3e6), "rf = 3e+06 is above 2e+06"),
            (np.float32(1), "rf = 1 is below 1e+06"),
            ({"a": 1}, "rf is no number"),
            ([[1], [1, 2]], "rf is no number"),
            (1j, "rf is no number"),
            (None, "rf is no number"),
        ]:
            lab.set_dataset("rf", 1.5e6, metadata={"scale": "much"})
            until(lambda: states(lab)["RF"] == "latched")
            lab.set_dataset("rf", value)
            until(lambda: states(lab)["RF"] == "active", lambda value=value: f"{value!r}: {lab.alarms()}")
            assert next(each["reason"] for each in lab.alarms() if each["name"] == "RF") == reason
        lab.set_dataset("rf", np.array([3e6, 1.5e6]))
        until(lambda: states(lab)["RF"] == "latched")
        assert "Traceback" not in (tmp_path / "output").read_text()
    finally:
        lab.close()


def test_numbers_and_results_reach_influx_after_it_was_away(tmp_path, collector):
    (tmp_path / "token").write_text("secret\n")
    lab = started(
        tmp_path,
        f"[influx]\nurl = '{collector.address}/write?db=lab'\ntoken_file = 'token'\ndatasets = ['po*', 'total']\n",
    )
    try:
        collector.fail = 1
        lab.ends(lab.run_of("Quick", n=4))
        lab.set_dataset("power", 2.5)
        lab.set_dataset("other", 1)
        lab.set_dataset("po text", "x")
        until(lambda: not collector.fail)
    finally:
        lab.close()
    said = [text.rpartition(" ")[0] for text in collector.lines()]
    name = tmp_path.name
    assert f"dataset,key=power,laboratory={name} value=2.5" in said
    assert f"dataset,key=points,laboratory={name} value=3.0" in said, "the newest value in any case"
    (run,) = [text for text in said if text.startswith("run,")]
    assert run.startswith(f"run,experiment=Quick,laboratory={name},status=completed rid=0.0,duration=")
    assert run.endswith(",total=6.0") and not any("other" in text or "text" in text for text in said)
    assert collector.received[0][1]["Authorization"] == "Token secret"


def test_line_escapes_names_and_omits_missing_numbers():
    made = line("m", {"key": "a b,c=d\ne", "none": ""}, {"v w": 1, "t": 'x"\\\n', "b": True, "n": float("nan")}, 1.5)
    assert made == 'm,key=a\\ b\\,c\\=d\\ne v\\ w=1.0,t="x\\"\\\\\\n",b=true 1500000000'
    assert line("m", {}, {"v": None, "l": [1]}, 0) == ""


def test_metrics_are_served_in_the_format_of_prometheus(tmp_path):
    from prometheus_client.parser import text_string_to_metric_families

    port = free_port()
    lab = started(tmp_path, f"{ALARMS}\n[metrics]\nport = {port}\n")
    try:
        lab.ends(lab.run_of("Quick"))
        lab.set_dataset("rf", 9e6)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as response:
            text = response.read().decode()
        found = {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }
        assert found["kairos_lab_runs_ended_total", "Quick", "completed"] == 1
        assert found["kairos_lab_queue", "running"] == 0 and found["kairos_lab_alarm", "RF", "active"] == 1
        assert found["kairos_lab_parameters", "valid"] == 1 and found["process_cpu_seconds_total",] > 0
        for path in ("/", "/metricsx"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}")
    finally:
        lab.close()


@pytest.mark.parametrize(
    "text, reason",
    [
        ("[[notify]]\non = ['faild']\nwebhook = 'http://x'", "there is no event 'faild'; there are alarm"),
        ("[[notify]]\non = ['failed']", "needs 'webhook' or 'email'"),
        ("[[notify]]\nwebhook = 'http://x'", "[notify] lacks 'on'"),
        ("[[notify]]\non = ['failed']\nwebhook = 'ftp://x'", "must begin with https://"),
        ("[[notify]]\non = ['failed']\nemail = ['a@b']", "needs [email]"),
        ("[notify]\non = ['failed']", "write [[notify]]"),
        ("[[alarm]]\nname = 'a'", "[alarm] lacks 'dataset'"),
        ("[[alarm]]\nname = 'a'\ndataset = 'd'\nmaximum = 'x'", "'alarm.maximum' must be int or float"),
        ("[[alarm]]\nname = 'a'\ndataset = 'd'\n" * 2, "there are two alarms 'a'"),
        ("[influx]\nurl = 'localhost'", "influx.url must begin with"),
        ("[metrics]\nport = true", "'metrics.port' must be int, not True"),
        ("watch = [1]", "'watch' must be a list of texts"),
        ("[email]\nserver = 'x'\nsender = 'y'\nencryption = 'ssl'", "email.encryption must be"),
        ("metrics = 5", "metrics must be a table"),
    ],
)
def test_invalid_setting_is_named_with_allowed_ones(tmp_path, text, reason):
    (tmp_path / "lab.toml").write_text(text)
    with pytest.raises(UsageError) as refused:
        Settings.load(tmp_path)
    assert reason in str(refused.value) and "lab.toml" in str(refused.value)
