"""Clocks through the hub: clocks of devices, a reference that fails and returns, waiting for all
devices."""

import json
import threading

import pytest
from kairos_gateware import build

import kairos.hub
from kairos.hub import HubError
from tests.support import sd_card
from tests.support.command import run_kairos
from tests.support.hub import Hub, board_entry, known
from tests.support.paths import BUILD

GOOD, BAD, WARNING, ABSENT = 2, 4, 3, 1
"""Conditions of a clock, by the numbers of the protocol."""
REFERENCE = 10_000_000


@pytest.fixture(scope="module")
def clocked(start_device, tmp_path_factory):
    """A device whose synthesiser derives 125 MHz from an external 10 MHz."""
    output = BUILD / "gateware" / "clocked"
    assert build.main(["--variant", "clocked", "--board", "sim", "--output", str(output)]) == 0
    folder = tmp_path_factory.mktemp("clocked")
    card = sd_card.make(folder / "card", [(b"CONFIG  TXT", b"rtio_clock=ext0_synth0_10to125\n")])
    settings = (f"clock_input={REFERENCE}",)
    device = start_device(folder, gateware=output / "libkairos_pl.so", sd=card, settings=settings)
    yield device
    device.close()


@pytest.fixture(scope="module")
def hub(clocked, device, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    for name, value in (("clk_rate", 100_000_000), ("clk_enable_count", 1), ("clk_parent", "iopll")):
        path = folder / "sys" / "kernel" / "debug" / "clk" / "fclk0" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    hub = Hub(folder, {"zc706": clocked, "demo": device, "away": "127.0.0.1:9"}, entries=board_entry())
    yield hub
    hub.close()


@pytest.fixture
def lab(hub):
    with kairos.hub.connect(hub.address) as lab:
        for name in ("zc706", "demo", "rack"):
            known(lab, name)
        yield lab


def shown(device):
    """Return name, measured frequency, source, condition, and whether it is used."""
    return [(c.name, round(c.hertz / 1e6, 1), c.source, c.condition, c.used) for c in device.clocks]


def test_clock_sources_of_devices_are_listed(lab):
    found = lab.clocks()
    assert list(found) == ["zc706", "demo", "away", "rack"]
    assert found["zc706"].setting == "ext0_synth0_10to125" and found["zc706"].condition == GOOD
    assert shown(found["zc706"]) == [
        ("rtio", 125.0, "synthesiser", GOOD, True),
        ("synthesiser", 125.0, "reference", GOOD, True),
        ("reference", 10.0, "", GOOD, True),
    ]
    assert shown(found["demo"]) == [("rtio", 125.0, "oscillator", GOOD, True)] and found["demo"].setting == ""
    assert shown(found["rack"]) == [("fclk0", 100.0, "iopll", GOOD, True)]
    assert found["away"].condition == BAD and "does not answer" in found["away"].text
    assert list(lab.clocks("demo")) == ["demo"]
    with pytest.raises(HubError, match="there is no device 'none'"):
        lab.clocks("demo", "none")


def test_lost_and_restored_reference_is_reported(lab, clocked):
    """Watching clients are informed once, waiting ones return when it is back."""
    changes = lab.watch_clocks("zc706", "demo", period=0.1)
    _, first = next(changes)
    assert {name: each.condition for name, each in first.items()} == {"zc706": GOOD, "demo": GOOD}
    clocked.control("clock", input=0)
    try:
        _, found = next(changes)
        # Its measurement is visible before the firmware's decision.
        while found["zc706"].condition == GOOD:
            _, found = next(changes)
        assert list(found) == ["zc706"] and found["zc706"].condition == WARNING
        assert "reference: " in found["zc706"].text
        with pytest.raises(HubError, match="zc706: reference") as failed:
            lab.wait_for_clocks("zc706", "demo", timeout=0.3)
        assert failed.value.code == "DEADLINE_EXCEEDED"
        waited = []
        waits = threading.Thread(target=lambda: waited.append(lab.wait_for_clocks("zc706", timeout=60)))
        waits.start()
    finally:
        clocked.control("clock", input=REFERENCE)
    waits.join()
    assert waited[0]["zc706"].condition == GOOD
    while found["zc706"].condition != GOOD:
        _, found = next(changes)
    changes.close()


def test_command_line_shows_and_awaits_clocks(hub, lab):
    def run(*words):
        return run_kairos("hub", "clocks", *words, "--hub", hub.address)

    done = run()
    assert done.returncode == 1 and "does not answer" in done.stdout, done.stderr
    assert "synthesiser  125.000 MHz  reference" in done.stdout
    done = run("zc706", "--json", "--wait", "30")
    assert done.returncode == 0, done.stderr
    assert [clock["condition"] for clock in json.loads(done.stdout)["zc706"]["clocks"]] == ["good"] * 3
    done = run("away", "--wait", "0.2")
    assert done.returncode == 1 and "away: " in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
