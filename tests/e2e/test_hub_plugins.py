"""Plugins of the hub: their services, and isolation of plugins that hang, die, leak or flood."""

import json
import os
import re
import shutil
import signal
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import grpc
import pytest

import kairos.hub
from kairos.hub import HubError
from tests.support.command import run_kairos
from tests.support.hub import HUB, Hub, demo_lab, fails
from tests.support.plugins import EXAMPLES, FOLDER, Bystander, call, comes_back, entry, misbehaving, plugin
from tests.support.waiting import until

TIMEOUT = 4.0
"""Timeout in seconds of answers of the faulty plugin."""
RATE = 16 * 1024
"""Maximum bytes per second written by a plugin."""
WORKERS = 8
"""Number of simultaneous calls answered by `misbehaving.py`."""


@pytest.fixture(scope="module")
def hub(device, tmp_path_factory):
    """A hub of a device with three plugins: a healthy one, a faulty one, and the example."""
    folder = tmp_path_factory.mktemp("hub")
    entries = entry("well", misbehaving(folder, "well"), word="hello ")
    entries += entry("ill", misbehaving(folder, "ill"), patience=TIMEOUT) + entry(
        "pll", EXAMPLES / "pll.py", register="scratch/word", settings=250
    )
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
    """Restart the faulty plugin; returns its number of starts so far."""
    before = plugin(lab, "ill").starts
    lab.reload("ill")
    comes_back(lab, before)
    return before + 1


@pytest.fixture
def bystander(hub, lab):
    bystander = Bystander(hub, lab)
    yield bystander
    try:
        bystander.goes_on()
    finally:
        bystander.end()


def test_plugin_methods_are_served_like_those_of_hub(hub, lab):
    """By name, by reflection, with its own settings; as a stream; through the command line."""
    assert call(lab, "well", "Echo", text="world").text == "hello world from nobody without"
    numbers = lab.stream("kairos.tests.well.v1.Misbehaving", "Count")
    assert [next(numbers).number for _ in range(5)] == [0, 1, 2, 3, 4]
    assert {"kairos.tests.well.v1.Misbehaving", "lab.pll.v1.Pll"} <= set(lab._protocol.get_services())
    listed = json.loads(run_kairos("hub", "plugins", "--json", "--hub", hub.address).stdout)
    assert [(each["name"], each["layer"], each["running"]) for each in listed] == [
        ("well", "control", True),
        ("ill", "control", True),
        ("pll", "control", True),
    ]
    assert listed[2]["services"] == ["lab.pll.v1.Pll"] and listed[0]["memory"] > 1 << 20
    with pytest.raises(HubError) as failed, grpc.insecure_channel(hub.address) as channel:
        try:
            channel.unary_unary("/lab.pll.v1.Pll/None")(b"", timeout=10)
        except grpc.RpcError as error:
            raise HubError("", error.code().name) from None
    assert failed.value.code == "UNIMPLEMENTED"


def test_python_plugin_calibrates_the_demo_device(lab):
    word = lab["demo"].registers.scratch.word
    word.write(0)
    found = lab.call("lab.pll.v1.Pll", "Calibrate", device="demo")
    assert (found.accesses, found.locked, found.setting) == (1000, 250, 125)
    assert word.read() == 1 << 31 | 125
    assert lab.call("lab.pll.v1.Pll", "State") == found
    fails("UNKNOWN", "no device 'none'", lambda: lab.call("lab.pll.v1.Pll", "Calibrate", device="none"))


def test_output_of_plugin_is_in_the_log(hub, lab):
    until(lambda: 'I begin plugin="well"' in plain(hub))


def plain(hub):
    return re.sub(r"\x1b\[[0-9;]*m", "", (hub.folder / "hub.log").read_text())


def test_dead_plugin_is_restarted_and_reported(hub, lab, ill, bystander):
    process = call(lab, "ill", "Echo").number
    with pytest.raises(HubError) as failed:
        call(lab, "ill", "Die")
    assert failed.value.code == "UNAVAILABLE"
    comes_back(lab, ill)
    assert call(lab, "ill", "Echo").number != process
    assert "it has ended: exit status: 3" in plain(hub)


def test_unavailable_status_of_plugin_is_the_text_of_plugin(lab, ill):
    """It is not that of a hub that cannot be reached."""
    with pytest.raises(HubError) as failed:
        call(lab, "ill", "Refuse", text="the camera is off")
    assert (str(failed.value), failed.value.code) == ("the camera is off", "UNAVAILABLE")


def test_call_cut_by_a_reload_is_reported_as_lost(lab, ill):
    """The plugin's server waits a second for its calls, then cuts them."""
    with ThreadPoolExecutor() as pool:
        streams = pool.submit(list, lab.stream("kairos.tests.ill.v1.Misbehaving", "Count"))
        hanging = pool.submit(call, lab, "ill", "Hang")
        until(lambda: hanging.running() and streams.running() and answers(lab))
        lab.reload("ill")
        for one in (hanging, streams):
            text = str(one.exception())
            assert "plugin ill was lost during the call" in text or "plugin ill is not running" in text, text
    comes_back(lab, ill)


def test_stopped_plugin_process_is_restarted(lab, ill, bystander):
    """It is stopped: no thread answers."""
    process = call(lab, "ill", "Echo").number
    os.kill(process, signal.SIGSTOP)
    # The signal is sent, but a thread on another core may still run.
    threads = list(Path(f"/proc/{process}/task").iterdir())
    until(lambda: all((thread / "stat").read_text().rpartition(")")[2].split()[0] == "T" for thread in threads))
    with pytest.raises(HubError) as failed:
        call(lab, "ill", "Echo")
    assert failed.value.code == "UNAVAILABLE"
    comes_back(lab, ill)


def test_plugin_with_hanging_calls_is_restarted(lab, ill, bystander):
    request = {"service": "kairos.tests.ill.v1.Misbehaving", "method": "Hang"}
    threads = [threading.Thread(target=lambda: pytest.raises(HubError, lab.call, **request)) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    comes_back(lab, ill)


def test_plugin_with_too_much_memory_is_restarted(hub, lab, ill, bystander):
    call(lab, "ill", "Leak", number=100)
    assert plugin(lab, "ill").running
    with suppress(HubError):  # it may be ended before it has answered
        call(lab, "ill", "Leak", number=250)
    comes_back(lab, ill)
    ends = [line for line in plain(hub).splitlines() if 'plugin="ill"' in line]
    assert "MB of memory, exceeding its limit of 300" in plain(hub), "\n".join(ends)


def test_allocation_beyond_the_limit_fails(lab, ill, bystander):
    """Nor do processes that it starts: the limit includes them."""
    done = call(lab, "ill", "Gulp", number=8 << 10)
    assert done.number == 1 and "MemoryError" in done.text
    assert plugin(lab, "ill").starts == ill


@pytest.mark.long
def test_plugin_with_too_many_processes_is_restarted(hub, lab, ill, bystander):
    with suppress(HubError):  # it may be ended before it answers
        call(lab, "ill", "Breed", number=100, text="together")
    comes_back(lab, ill)
    assert "processes, exceeding its limit of 64" in plain(hub)
    until(lambda: len(family(lab, hub)) == 1)


def test_process_outside_group_ends_with_its_plugin(hub, lab, ill):
    call(lab, "ill", "Breed", number=5)
    until(lambda: len(family(lab, hub)) == 6)
    lab.reload("ill")
    comes_back(lab, ill)
    until(lambda: family(lab, hub) == [plugin(lab, "ill").pid])


def called(name):
    """Return the processes of this name (of its first argument)."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "cmdline").read_bytes().startswith(name.encode() + b"\0"):
                found.append(int(process.name))
        except OSError:
            pass  # it has ended
    return found


def test_process_that_hides_ends_with_its_plugin(hub, lab, ill):
    """Its group, session and environment do not tell whose it is."""
    name = f"hidden-{os.getpid()}"
    call(lab, "ill", "Escape", text=name, number=2)
    until(lambda: len(called(name)) == 1 and parent_of(called(name)[0]) == hub.process.pid)
    lab.reload("ill")
    comes_back(lab, ill)
    until(lambda: not called(name))


def test_process_of_unknown_plugin_ends_with_hub(tmp_path):
    """It hides before anybody has seen it with its plugin."""
    entries = entry("ill", misbehaving(tmp_path, "ill")) + entry("well", misbehaving(tmp_path, "well"))
    hub = Hub(tmp_path, {"away": "127.0.0.1:9"}, entries=entries)
    name = f"unknown-{os.getpid()}"
    try:
        with kairos.hub.connect(hub.address) as lab:
            until(lambda: all(plugin.running for plugin in lab.plugins()))
            call(lab, "ill", "Escape", text=name, number=0)
            until(lambda: len(called(name)) == 1 and parent_of(called(name)[0]) == hub.process.pid)
    finally:
        hub.close()
    until(lambda: not called(name))


def parent_of(process):
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[1])


def family(lab, hub):
    """Return the processes started by the plugin, including itself: all have inherited its
    environment."""
    mark = b"KAIROS_PLUGIN_SOCKET="
    known = environment(plugin(lab, "ill").pid)
    socket = next((word for word in known.split(b"\0") if word.startswith(mark)), None)
    assert socket is not None, "it ends"
    processes = sorted(int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit())
    return [process for process in processes if socket in environment(process).split(b"\0")]


def environment(process):
    try:
        return Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return b""


@pytest.mark.long
def test_busy_plugin_leaves_processor_time_to_hub(hub, lab, ill, bystander):
    call(lab, "ill", "Spin", number=2 * os.cpu_count())
    bystander.goes_on(40)
    assert {os.getpriority(os.PRIO_PROCESS, process) for process in family(lab, hub)} == {5}
    lab.reload("ill")
    comes_back(lab, ill)


@pytest.fixture
def control_group():
    """Return an empty control group of the kernel."""
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    place = next((Path(words[1]) for words in mounts if words[2] == "cgroup2"), None)
    group = None if place is None else place / f"kairos-test-{os.getpid()}"
    try:
        group.mkdir()
    except (AttributeError, OSError):
        pytest.skip("control groups of version 2 are not for this user here")
    yield group
    (group / "cgroup.kill").write_text("1")
    for folder in (*group.glob("plugin-*"), group):
        until(lambda folder=folder: removed(folder))


def removed(group):
    """Remove a group once the last of its processes has been reaped."""
    try:
        group.rmdir()
        return True
    except OSError:
        return False


def test_descendants_stay_in_control_group(tmp_path, control_group):
    entries = f"control_group = '{control_group}'\n" + entry("ill", misbehaving(tmp_path, "ill"))
    hub = Hub(tmp_path, {"away": "127.0.0.1:9"}, entries=entries)
    members = control_group / "plugin-ill" / "cgroup.procs"

    def grouped():
        return sorted(map(int, members.read_text().split()))

    try:
        with kairos.hub.connect(hub.address) as lab:
            until(lambda: plugin(lab, "ill").running)
            until(lambda: grouped() == [plugin(lab, "ill").pid])
            call(lab, "ill", "Breed", number=5)
            until(lambda: len(grouped()) == 6 and grouped() == family(lab, hub))
            lab.reload("ill")
            comes_back(lab, 1)
            until(lambda: grouped() == [plugin(lab, "ill").pid] == family(lab, hub))
            # Here exited processes count, too. The plugin may be ended before it answers.
            with suppress(HubError):
                call(lab, "ill", "Breed", number=100)
            comes_back(lab, 2)
            assert "processes, exceeding its limit of 64" in plain(hub)
    finally:
        hub.close()
    until(lambda: not members.exists() or not grouped())


def test_missing_control_group_is_rejected(tmp_path):
    entries = "control_group = '/nowhere'\n" + entry("ill", misbehaving(tmp_path, "ill"))
    (tmp_path / "hub.toml").write_text(entries + "[[device]]\nname = 'a'\naddress = 'lab'\n")
    done = run_kairos("hub", "serve", tmp_path / "hub.toml", "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and "control_group: the hub has no access to /nowhere" in done.stderr, done.stderr


def test_excessive_plugin_output_is_throttled(hub, lab, ill, bystander):
    """Its output is read at the limited rate, and it continues to serve: only the writer waits."""
    log = hub.folder / "hub.log"
    before, begun = log.stat().st_size, time.monotonic()
    call(lab, "ill", "Write")
    bystander.goes_on(40)
    until(lambda: log.stat().st_size > before + RATE)
    written, seconds = log.stat().st_size - before, time.monotonic() - begun
    # A log line is longer than the plugin's own; the first second's share arrives at once.
    assert written < 1.5 * RATE * (seconds + 2)
    assert call(lab, "ill", "Echo", text="a").text.startswith("a from")


def test_excessive_plugin_calls_are_refused(lab, ill, bystander):
    call(lab, "ill", "Flood", text="demo", number=40)
    bystander.goes_on(40)
    assert plugin(lab, "ill").starts == ill


@pytest.mark.long
def test_open_streams_count_as_concurrent_calls(lab, ill, bystander):
    """As many as the plugin answers: it does not count as hanging, refuses more, and reports when
    it is lost."""
    streams = [lab.stream("kairos.tests.ill.v1.Misbehaving", "Count") for _ in range(WORKERS)]
    looks = time.monotonic() + 2 * TIMEOUT
    while time.monotonic() < looks:
        for stream in streams:
            next(stream)
    with pytest.raises(HubError) as failed:
        call(lab, "ill", "Echo")
    assert failed.value.code == "RESOURCE_EXHAUSTED" and plugin(lab, "ill").starts == ill
    streams.pop().close()
    until(lambda: answers(lab))
    os.kill(plugin(lab, "ill").pid, signal.SIGKILL)
    for stream in streams:
        with pytest.raises(HubError) as failed:
            list(stream)
        assert failed.value.code == "UNAVAILABLE"
    comes_back(lab, ill)


def answers(lab):
    try:
        return call(lab, "ill", "Echo", text="a").text.startswith("a from")
    except HubError as error:
        assert error.code == "RESOURCE_EXHAUSTED", error
        return False


def test_rust_plugin_is_served_and_ends_with_its_hub(tmp_path):
    """The example of the manual: layer `access`, so without access to the hub."""
    program = HUB.parent / "examples" / "counter"
    shutil.copy(EXAMPLES / "counter.proto", tmp_path)
    entries = (
        f"[[plugin]]\nname = 'counter'\nlayer = 'access'\ncommand = ['{program}']\nprotocol = 'counter.proto'\n"
        "[plugin.settings]\nstart = 40\n"
    )
    # The killed hub leaves its folder to the next one: here there is none. Names of sockets are short.
    folder = tempfile.mkdtemp()
    hub = Hub(tmp_path, {"away": "127.0.0.1:9"}, entries=entries, environment={**os.environ, "TMPDIR": folder})
    try:
        with kairos.hub.connect(hub.address) as lab:
            until(lambda: lab.plugins()[0].running)
            assert lab.call("lab.counter.v1.Counter", "Add", amount=2).sum == 42
            environment = Path(f"/proc/{lab.plugins()[0].pid}/environ").read_bytes()
            assert b"KAIROS_PLUGIN_SOCKET" in environment and b"KAIROS_HUB_TOKEN" not in environment
            process = lab.plugins()[0].pid
        # A killed hub does not stop its plugins itself: they notice.
        hub.process.kill()
        hub.process.wait()
        until(lambda: not Path(f"/proc/{process}").exists())
    finally:
        hub.process.kill()
        hub.process.wait()
        hub.process.stdout.close()
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    "change, text",
    [
        (("name = 'a'", "name = 'a/b'"), "a name has up to 32 letters"),
        (("layer = 'control'", "layer = 'other'"), "unknown variant `other`"),
        (("misbehaving.proto", "none.proto"), "none.proto"),
        (("patience_s = 60.0", "patience_s = 0"), "patience_s is 0.1 to 3600"),
    ],
)
def test_invalid_plugin_entries_are_rejected(tmp_path, change, text):
    written = entry("a", FOLDER / "misbehaving.py").replace(*change) + "[[device]]\nname = 'a'\naddress = 'lab'\n"
    (tmp_path / "hub.toml").write_text(written)
    done = run_kairos("hub", "serve", tmp_path / "hub.toml", "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and text in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
