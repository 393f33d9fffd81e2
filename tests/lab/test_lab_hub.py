"""The hub that lives with its laboratory: started, found, started again and ended by it."""

import os
import re
import signal
from dataclasses import fields
from pathlib import Path

import grpc
import pytest

from kairos.cli.new import filled
from kairos.lab.settings import Settings
from tests.support.hub import HUB
from tests.support.laboratory import Laboratory
from tests.support.waiting import until

SETTINGS = "hub = 'door.toml'\n"
DOOR = "listen = '127.0.0.1:0'\n[laboratory]\nfolder = '.'\n"


@pytest.fixture
def lab(tmp_path):
    assert HUB.exists(), "not built: make hub"
    (tmp_path / "door.toml").write_text(DOOR)
    laboratory = Laboratory(tmp_path, SETTINGS).start()
    yield laboratory
    laboratory.close()


def name_behind(address: str) -> str | None:
    """Return the name of the laboratory behind a hub; None if it does not answer."""
    with grpc.insecure_channel(address) as channel:
        try:
            return channel.unary_unary("/kairos.lab.v1.Laboratory/Status")(b"", timeout=10).decode(errors="replace")
        except grpc.RpcError:
            return None


def process_of(lab) -> int:
    return int((lab.folder / ".kairos" / "hub.lock").read_text())


def test_hub_is_started_again_outlives_a_killed_laboratory_and_ends_with_it(lab):
    assert lab.folder.name in name_behind(lab.ports["hub"])
    assert f"its page is at http://{lab.ports['hub']}" in (lab.folder / "output").read_text()
    first, before = process_of(lab), lab.ports["hub"]
    os.kill(first, signal.SIGKILL)
    until(lambda: lab.ports["hub"] != before and name_behind(lab.ports["hub"]))
    second, address = process_of(lab), lab.ports["hub"]
    assert second != first and "the hub has ended; it is started again" in (lab.folder / "output").read_text()
    lab.kill()
    assert name_behind(address) is None and Path(f"/proc/{second}").exists()
    lab.start()
    assert (process_of(lab), lab.ports["hub"]) == (second, address)
    until(lambda: name_behind(address))
    lab.end()
    assert name_behind(address) is None
    until(lambda: not Path(f"/proc/{second}").exists())
    lab.start()
    assert name_behind(lab.ports["hub"])


@pytest.mark.long
def test_hub_that_cannot_listen_is_named_and_tried_again(lab):
    address = lab.ports["hub"]
    other = lab.folder / "other"
    other.mkdir()
    (other / "door.toml").write_text(DOOR.replace("127.0.0.1:0", address))
    second = Laboratory(other, SETTINGS).start()
    try:
        assert f"the hub cannot listen at {address}" in (other / "output").read_text()
        assert "hub" not in second.ports
        lab.end()
        until(lambda: second.ports.get("hub") == address)
    finally:
        second.close()
    lab.start()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "door.toml, which lab.toml names as 'hub': 'kairos new --hub' writes one"),
        ("listen = '127.0.0.1:0'\n", "door.toml lacks [laboratory] with folder = '.'"),
        (DOOR.replace("'.'", "'elsewhere'"), "door.toml lacks [laboratory] with folder = '.'"),
        ("[", "door.toml: "),
    ],
)
def test_settings_that_are_no_door_of_the_laboratory_are_refused_in_a_line(tmp_path, text, said):
    if text is not None:
        (tmp_path / "door.toml").write_text(text)
    with pytest.raises(AssertionError) as failed:
        Laboratory(tmp_path, SETTINGS).start()
    (line,) = str(failed.value).partition("\nassert")[0].splitlines()
    assert line.startswith("kairos: ") and said in line


def test_every_setting_is_in_the_file_that_a_new_laboratory_gets():
    text = filled("lab.toml", {"TITLE": "trap"}).decode()
    for each in fields(Settings):
        assert each.name == "folder" or re.search(rf"^(# )?(\[+{each.name}\]|{each.name} =)", text, re.MULTILINE), each
