"""Reloading of plugins: with other settings and methods, new ones, those that are no longer in hub.toml."""

import json
import os
import signal
import sys
import tempfile
from pathlib import Path

import grpc
import pytest

import kairos.hub
from tests.support.command import run_kairos
from tests.support.hub import Hub, demo_lab, fails
from tests.support.plugins import EXAMPLES, MUCH, Bystander, call, comes_back, entry, misbehaving, plugin
from tests.support.waiting import until


@pytest.fixture(scope="module")
def hub(device, tmp_path_factory):
    """A hub of a device with three plugins."""
    folder = tmp_path_factory.mktemp("hub")
    entries = entry("well", misbehaving(folder, "well"), word="hello ") + entry("ill", misbehaving(folder, "ill"))
    entries += entry("pll", EXAMPLES / "pll.py", register="scratch/word", settings=250)
    hub = Hub(folder, {"demo": f"{device.host}:{device.ports[1380]}"}, entries=entries)
    yield hub
    hub.close()


@pytest.fixture
def lab(hub):
    with demo_lab(hub) as lab:
        until(lambda: all(plugin.running for plugin in lab.plugins()))
        yield lab


@pytest.fixture
def ill(lab):
    """Return the number of starts of the plugin that is reloaded."""
    return plugin(lab, "ill").starts


@pytest.fixture
def bystander(hub, lab):
    bystander = Bystander(hub, lab)
    yield bystander
    try:
        bystander.goes_on()
    finally:
        bystander.end()


@pytest.fixture
def settings(hub):
    """The hub's file, which is restored, with its plugins."""
    file = hub.folder / "hub.toml"
    written = file.read_text()
    yield file
    file.write_text(written)
    with kairos.hub.connect(hub.address) as lab:
        for plugin in lab.plugins():
            if f"name = '{plugin.name}'" not in written:
                lab.reload(plugin.name)


def reload(hub, name):
    return run_kairos("hub", "reload", name, "--hub", hub.address)


def test_reload_stops_no_other_plugin(hub, lab, ill, bystander, settings):
    process = call(lab, "ill", "Echo", text="a").number
    written = settings.read_text()
    head, tail = written.split("name = 'ill'")
    settings.write_text(
        head + "name = 'ill'" + tail.replace("[plugin.settings]", "[plugin.settings]\nword = 'new '", 1)
    )
    assert run_kairos("hub", "reload", "ill", "--hub", hub.address).returncode == 0
    comes_back(lab, ill)
    answer = call(lab, "ill", "Echo", text="a")
    assert answer.text.startswith("new a") and answer.number != process
    for name, text, contents in (("none", "there is no plugin 'none'", written), ("ill", "hub.toml", "nonsense")):
        settings.write_text(contents)
        done = run_kairos("hub", "reload", name, "--hub", hub.address)
        assert done.returncode == 1 and text in done.stderr, done.stderr


def test_new_plugin_is_served_after_reload(hub, lab, bystander, settings):
    """With its methods, in reflection, in the health service, in the order of the file."""
    written, service = settings.read_text(), "kairos.tests.added.v1.Misbehaving"
    new = entry("added", misbehaving(hub.folder, "added"), word="I am ")
    settings.write_text(new + written)
    with kairos.hub.connect(hub.address) as before:
        # A client that knew the methods before.
        assert service not in before._protocol.get_services()
        assert reload(hub, "added").returncode == 0
        listed = json.loads(run_kairos("hub", "plugins", "--json", "--hub", hub.address).stdout)
        assert [each["name"] for each in listed] == ["added", "well", "ill", "pll"]
        assert listed[0]["running"] or listed[0]["error"] == "it is starting", listed[0]
        assert listed[0]["services"] == [service]
        until(lambda: plugin(before, "added").running)
        assert call(lab, "added", "Echo", text="new").text.startswith("I am new")
    with kairos.hub.connect(hub.address) as after:
        assert service in after._protocol.get_services()
        assert f'method="/{service}/Echo"' in after.metrics()
    assert serving(hub, lab, "added") == "SERVING"
    settings.write_text(written)
    assert reload(hub, "added").returncode == 0
    assert [each.name for each in lab.plugins()] == ["well", "ill", "pll"]
    assert serving(hub, lab, "added") == "NOT_FOUND"
    fails("UNIMPLEMENTED", "", lambda: call(lab, "added", "Echo"))
    done = reload(hub, "added")
    assert done.returncode == 1 and "there is no plugin 'added'; there are well, ill, pll" in done.stderr, done.stderr


def serving(hub, lab, name):
    """Return the state of a plugin in the health service."""
    (check,) = (each for each in lab._pool.FindServiceByName("grpc.health.v1.Health").methods if each.name == "Check")
    request, reply = (kairos.hub.client.GetMessageClass(kind) for kind in (check.input_type, check.output_type))
    with grpc.insecure_channel(hub.address) as channel:
        ask = channel.unary_unary("/grpc.health.v1.Health/Check", request.SerializeToString, reply.FromString)
        try:
            return reply.ServingStatus.Name(ask(request(service=f"plugin/{name}"), timeout=MUCH).status)
        except grpc.RpcError as error:
            return error.code().name


def test_reloaded_plugin_is_not_listed_as_running_until_its_new_process_answers(lab, ill):
    for starts in range(ill, ill + 3):
        process = plugin(lab, "ill").pid
        lab.reload("ill")
        now = plugin(lab, "ill")
        assert now.running == (now.pid not in (0, process)), now
        assert now.running or now.error == "it is restarting"
        comes_back(lab, starts)


def test_hanging_plugin_is_reloaded_without_waiting(lab):
    """It does not answer the hub, which would otherwise wait for a minute."""
    before = plugin(lab, "well")
    os.kill(before.pid, signal.SIGSTOP)
    lab.reload("well")
    assert not plugin(lab, "well").running
    until(lambda: plugin(lab, "well").running)
    assert plugin(lab, "well").starts == before.starts + 1


def test_changed_methods_of_a_plugin_are_served_after_reload(hub, lab, bystander, settings):
    script = misbehaving(hub.folder, "changing")
    settings.write_text(settings.read_text() + entry("changing", script, word="one "))
    assert reload(hub, "changing").returncode == 0
    until(lambda: plugin(lab, "changing").running)
    protocol = script.with_suffix(".proto")
    for suffix in (".py", ".proto"):
        file = script.with_suffix(suffix)
        file.write_text(file.read_text().replace("tests.changing.v1", "tests.changed.v2"))
    assert reload(hub, "changing").returncode == 0
    until(lambda: plugin(lab, "changing").running)
    assert list(plugin(lab, "changing").services) == ["kairos.tests.changed.v2.Misbehaving"]
    with kairos.hub.connect(hub.address) as after:
        answer = after.call("kairos.tests.changed.v2.Misbehaving", "Echo", text="a")
        assert answer.text.startswith("one a")
        assert "kairos.tests.changing.v1.Misbehaving" not in after._protocol.get_services()
    # A protocol that cannot be compiled changes nothing, nor does one that another plugin serves.
    written = protocol.read_text()
    for text, expected in (("nonsense", "changing.proto"), (written.replace("changed.v2", "well.v1"), "both provide")):
        protocol.write_text(text)
        done = reload(hub, "changing")
        assert done.returncode == 1 and expected in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
        assert plugin(lab, "changing").running


def test_first_plugin_of_a_hub_starts_by_reload(tmp_path):
    """And one that cannot be started says why in the list."""
    hub = Hub(tmp_path, {"away": "127.0.0.1:9"})
    try:
        with kairos.hub.connect(hub.address) as lab:
            assert lab.plugins() == []
            first, second = (entry(name, misbehaving(tmp_path, name)) for name in ("first", "second"))
            settings = hub.folder / "hub.toml"
            settings.write_text(settings.read_text() + first + second.replace(sys.executable, "/nowhere/python"))
            lab.reload("first")
            until(lambda: plugin(lab, "first").running)
            lab.reload("second")
            until(lambda: "/nowhere/python cannot be started" in plugin(lab, "second").error)
    finally:
        hub.close()
    assert not list(Path(tempfile.gettempdir()).glob("kairos-hub-*/first.socket"))
