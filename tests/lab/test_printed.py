"""What runs print, as it comes to the log of the laboratory."""

import logging
import re
import subprocess
import sys

import pytest

from kairos.lab import printed
from kairos.lab.log import Log
from kairos.lab.printed import Output, last_line
from tests.support import TIMEOUT


def all_of(output, ended=True):
    found, more = output.read(ended)
    while more:
        records, more = output.read(ended)
        found += records
    return found


@pytest.fixture
def file(tmp_path):
    return tmp_path / "output"


@pytest.mark.parametrize("character", ["\r", "\v", "\f", "\x1c", "\x85", "\u2028"])
def test_message_with_characters_that_end_lines_stays_one_record(file, character):
    file.write_text(f"ERROR<2>:scan:one{character}two\nthree\nprinted\n", newline="")
    assert all_of(Output(file)) == [
        (logging.ERROR, f"scan:one{character}two\nthree"),
        (logging.INFO, "print:printed"),
    ]


def test_line_written_several_times_is_logged_as_it_ends(file):
    file.write_bytes(b"\r 10 %\r 100 %\nnext\r\n\n")
    assert [text for _, text in all_of(Output(file))] == ["print: 100 %", "print:next", "print:"]


def test_lines_that_come_in_parts_are_complete_records(file, monkeypatch):
    monkeypatch.setattr(printed, "BLOCK", 10)
    output = Output(file)
    assert output.read(False) == ([], False), "it has printed nothing yet"
    with file.open("ab", buffering=0) as stream:
        found = []
        for part in (b"a\nbc\ndefg", b"h\n", "grö".encode(), b"\xc3", b"\x9fe\nrest"):
            stream.write(part)
            found += all_of(output, False)
    assert [text for _, text in found] == ["print:a", "print:bc", "print:defgh", "print:größe"]
    assert all_of(output) == [(logging.INFO, "print:rest")]


def test_end_of_a_flood_is_logged_and_the_rest_is_counted(file):
    lines = [f"line {number}" for number in range(200_000)]
    file.write_text("\n".join(lines) + "\n")
    texts = [text.removeprefix("print:") for _, text in all_of(Output(file))]
    assert "bytes are left out here, and kept with the run" in texts[0]
    assert len(texts) > 1000 and texts[1:] == lines[-len(texts) + 1 :]
    assert last_line(file.parent) == lines[-1]
    file.write_bytes(b"y" * (3 * printed.BACKLOG))
    assert sum(len(text) for _, text in all_of(Output(file))) < 2 * printed.BLOCK


class Deaf:
    def broadcast(self, *_):
        pass


def test_record_pretends_to_be_no_other_in_the_file_of_the_log(tmp_path):
    log = Log(Deaf(), tmp_path / "lab.log")
    log.take("x\r\x1b[31m\ny", logging.INFO, "a:b\n2026-01-01 00:00:00 ERROR master: forged\x1b[2K\0")
    log.close()
    first, second = (tmp_path / "lab.log").read_text().splitlines()
    assert first.endswith("INFO x\\r\\x1b[31m\\ny: a:b")
    assert second == "    2026-01-01 00:00:00 ERROR master: forged\\x1b[2K\\x00"


def test_log_that_cannot_be_written_is_reported_in_a_line(tmp_path, capfd):
    file = tmp_path / "lab.log"
    file.symlink_to("/dev/full")
    log = Log(Deaf(), file)
    for number in range(3):
        log.take("x", logging.INFO, f"lost {number}")
    assert capfd.readouterr().err == f"kairos: the log {file} cannot be written: No space left on device\n"
    log.close()
    file.unlink()
    log = Log(Deaf(), file)
    log.take("x", logging.INFO, "kept")
    log.close()
    assert file.read_text().endswith("INFO x: kept\n") and capfd.readouterr().err == ""


def test_log_remembers_a_bounded_amount_of_text(tmp_path):
    log = Log(Deaf(), tmp_path / "lab.log")
    for number in range(200):
        log.take("x", logging.INFO, f"{number} {'y' * (1 << 20)}")
    log.close()
    assert 10 < len(log.recent) < 100 and log.recent[-1][3].startswith("199 ")


FULL = """
import logging, resource, sys
from pathlib import Path
from kairos.lab import output

path, kept = Path(sys.argv[1]), int(sys.argv[2])
output.KEPT = kept
output.redirect(path)
print("before")
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 7, most))  # as on a disk with so much room
for number in range(100):
    print("line", number)
logging.error("two\\nlines")
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
output.write_pending()
print("after")
"""


@pytest.mark.parametrize("kept", [1 << 20, 50])
def test_lines_that_a_full_disk_does_not_take_are_written_when_there_is_room(tmp_path, kept):
    done = subprocess.run([sys.executable, "-c", FULL, tmp_path / "output", str(kept)], timeout=TIMEOUT)
    assert done.returncode == 0
    text = (tmp_path / "output").read_text()
    assert text.startswith("before\nline 0\n") and text.endswith("\nafter\n") and "ERROR<2>:root:two\nlines\n" in text
    if kept > 1000:
        assert [line for line in text.splitlines() if "line " in line] == [f"line {number}" for number in range(100)]
        assert text.count("\n") == 104
    else:
        assert re.search(r"\n\.\.\. \d+ bytes are lost: the disk was full\n", text) and "line 99\n" in text
