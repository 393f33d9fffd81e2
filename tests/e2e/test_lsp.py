"""`kairos lsp`: what an editor gets, over the protocol."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import TIMEOUT
from tests.support.command import killed_after
from tests.support.paths import EXAMPLES
from tests.support.published_structures import check_lsp

pytest.importorskip("pygls")

EXPERIMENT = """
from artiq.experiment import *


class Pulses(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(2 * us)
        wrong = 1
"""


class Editor:
    """An editor without windows."""

    def __init__(self, *words):
        command = [sys.executable, "-m", "kairos", "lsp", *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        killed_after(self.process, 2 * TIMEOUT)
        self.number = 0
        self.request("initialize", processId=None, rootUri=None, capabilities={})
        self.send("initialized")

    def send(self, method, **params):
        self._write({"method": method, "params": params})

    def _write(self, message):
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def received(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert length, "the server has ended"
        return json.loads(self.process.stdout.read(length))

    def request(self, method, **params):
        self.number += 1
        self._write({"id": self.number, "method": method, "params": params})
        while True:
            message = self.received()
            if message.get("id") == self.number and "method" not in message:
                if method == "textDocument/inlayHint":
                    check_lsp("inlayHints", message["result"])
                return message["result"]

    def diagnostics(self):
        """Return the diagnostics that come next."""
        while (message := self.received()).get("method") != "textDocument/publishDiagnostics":
            pass
        check_lsp("publishDiagnostics", message["params"])
        return message["params"]["diagnostics"]

    def end(self):
        self.request("shutdown")
        self.send("exit")
        assert self.process.wait(TIMEOUT) == 0


def document(kairos, text):
    folder = kairos.directory / "repository"
    folder.mkdir(exist_ok=True)
    (kairos.directory / "device_db.py").write_text((EXAMPLES / "device_db.py").read_text())
    path = folder / "pulses.py"
    path.write_text(text)
    return {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}


def test_editor_gets_errors_when_a_file_is_opened_and_saved(kairos):
    editor = Editor()
    opened = document(kairos, EXPERIMENT.replace("wrong = 1", "self.ttl4.pulse('long')"))
    editor.send("textDocument/didOpen", textDocument=opened)
    (error,) = editor.diagnostics()
    assert error["severity"] == 1 and error["source"] == "kairos"
    assert error["range"]["start"]["line"] == 13
    document(kairos, EXPERIMENT)
    editor.send("textDocument/didSave", textDocument={"uri": opened["uri"]})
    assert editor.diagnostics() == []
    assert editor.request("textDocument/inlayHint", textDocument={"uri": opened["uri"]}, range=WHOLE) == []
    editor.end()


@pytest.mark.parametrize("name", ["-a=b é😀 #1%.py", "caf\udce9.py"])
def test_file_of_any_name_with_tabs_and_other_line_ends_is_checked(kairos, name):
    wrong = EXPERIMENT.replace("wrong = 1", "s = '😀µ'; self.ttl4.pulze(1)").replace("    ", "\t").replace("\n", "\r\n")
    path = Path(document(kairos, EXPERIMENT)["uri"].removeprefix("file://")).with_name(name)
    path.write_bytes(wrong.encode())
    editor = Editor()
    opened = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": wrong}
    editor.send("textDocument/didOpen", textDocument=opened)
    (error,) = editor.diagnostics()
    assert error["severity"] == 1 and "pulze" in error["message"]
    assert error["range"] == {"start": {"line": 13, "character": 23}, "end": {"line": 13, "character": 28}}
    path.unlink()
    assert editor.request("textDocument/inlayHint", textDocument={"uri": opened["uri"]}, range=WHOLE) == []
    editor.end()


WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 100, "character": 0}}


def test_syntax_error_has_its_columns_in_utf16_and_its_own_file(kairos):
    text = "s = '😀µ'; x = = 1\n"
    opened = document(kairos, text)
    editor = Editor()
    editor.send("textDocument/didOpen", textDocument=opened)
    (error,) = editor.diagnostics()
    assert error["range"] == {"start": {"line": 0, "character": 15}, "end": {"line": 0, "character": 16}}
    importing = EXPERIMENT.replace("import *\n", "import *\nimport helper\n", 1)
    (kairos.directory / "repository" / "helper.py").write_text(text)
    document(kairos, importing)
    editor.send("textDocument/didSave", textDocument={"uri": opened["uri"]})
    (error,) = editor.diagnostics()
    assert error["message"].startswith("helper.py:1: SyntaxError") and error["range"]["start"]["line"] == 2
    assert error["relatedInformation"][0]["location"]["uri"] == opened["uri"]
    editor.end()


def test_file_without_device_database_is_reported(tmp_path):
    editor = Editor()
    path = tmp_path / "pulses.py"
    path.write_text(EXPERIMENT)
    editor.send(
        "textDocument/didOpen", textDocument={"uri": path.as_uri(), "languageId": "python", "version": 1, "text": ""}
    )
    (warning,) = editor.diagnostics()
    assert warning["severity"] == 2 and "there is no device database" in warning["message"]
    editor.end()


def test_editor_gets_slack_of_lines(kairos):
    editor = Editor("--timing", "--least-slack", "1s")
    opened = document(kairos, EXPERIMENT)
    editor.send("textDocument/didOpen", textDocument=opened)
    assert editor.diagnostics() == []
    (warning,) = editor.diagnostics()
    assert warning["severity"] == 2 and "least slack" in warning["message"]
    assert warning["range"]["start"]["line"] == 12
    (hint,) = editor.request("textDocument/inlayHint", textDocument={"uri": opened["uri"]}, range=WHOLE)
    assert hint["label"].startswith("slack ") and hint["position"] == {"line": 12, "character": 31}
    editor.end()


HELPER = """
from artiq.experiment import *


@kernel
def pulse(core, ttl):
    ttl.pulse(1 * us)
    delay(1 * us)
"""


def test_failure_in_an_imported_file_is_shown_where_that_is_called(kairos):
    late = "for i in range(3):\n            pulse(self.core, self.ttl4)\n"
    late += "        at_mu(now_mu() - 100000000)\n        pulse(self.core, self.ttl4)"
    text = EXPERIMENT.replace("self.ttl4.pulse(2 * us)", late)
    text = text.replace("import *\n", "import *\nfrom helper import pulse\n", 1)
    opened = document(kairos, text)
    (kairos.directory / "repository" / "helper.py").write_text(HELPER)
    editor = Editor("--timing")
    editor.send("textDocument/didOpen", textDocument=opened)
    assert editor.diagnostics() == []
    error, slack = editor.diagnostics()
    assert [each["severity"] for each in (error, slack)] == [1, 2]
    assert [each["range"]["start"]["line"] for each in (error, slack)] == [16, 16]
    assert error["relatedInformation"][-1]["location"]["uri"] == opened["uri"]
    assert error["message"].startswith("helper.py:7: fails at helper.py:7: RTIOUnderflow in pass 1: ")
    editor.end()
