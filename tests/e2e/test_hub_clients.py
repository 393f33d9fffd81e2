"""The hub's clients in other languages: the example of each, a calibration of 1,000 steps, on an
emulated device."""

import os
import re
import shutil
import subprocess

import pytest

from tests.support import TIMEOUT
from tests.support.hub import Hub, certificate, demo_hub, demo_lab, token_entry
from tests.support.paths import BUILD, ROOT
from tests.support.waiting import until

PLUGINS = ROOT / "examples" / "hub" / "plugins"
EXAMPLES = {
    "cpp": ("calibrate",),
    "go": ("calibrate",),
    "rust": ("calibrate",),
    "typescript": ("node", "dist/examples/calibrate.js"),
}
"""Command of each language's example, in its directory."""


@pytest.fixture(scope="module")
def hub(device, tmp_path_factory):
    with demo_hub(device, tmp_path_factory.mktemp("hub")) as hub, demo_lab(hub):
        yield hub


@pytest.fixture(params=sorted(EXAMPLES))
def calibrate(request):
    """Run the example of a language."""
    folder = BUILD / "clients" / request.param
    absent = folder / "absent"
    if absent.exists():
        pytest.skip(absent.read_text().strip())
    assert folder.is_dir(), "not built: run `make clients`"
    program, *first = EXAMPLES[request.param]
    program = folder / program if not first else program

    def run(*words, **environment):
        return subprocess.run(
            [program, *first, *words],
            cwd=folder,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )

    run.words = " ".join(map(str, [program, *(folder / each for each in first)]))
    return run


def test_every_client_example_is_tested():
    assert {path.name for path in (ROOT / "src" / "hub" / "clients").iterdir()} == set(EXAMPLES)


def test_every_client_language_has_every_service():
    protocol = "".join(
        path.read_text() for path in (ROOT / "src" / "hub" / "proto" / "kairos" / "hub").rglob("*.proto")
    )
    connects = {"cpp": "include/kairos/hub.hpp", "go": "hub.go", "rust": "src/lib.rs", "typescript": "src/hub.ts"}
    for language, file in connects.items():
        text = (ROOT / "src" / "hub" / "clients" / language / file).read_text()
        for service in re.findall(r"^service (\w+)", protocol, re.MULTILINE):
            assert re.search(rf"\b(New)?{service}(Client)?\b", text), f"{language} has no {service}"


def test_calibration_of_each_client_runs_in_one_batch(hub, calibrate):
    done = calibrate(hub.address, "demo")
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert re.fullmatch(
        r"250 of 250 settings lock; 125, in their middle, is set\n1000 steps as one batch: [\d.]+ us each\n",
        done.stdout,
    )


def test_failure_of_each_client_is_one_line(hub, calibrate):
    for address, device, text in (
        (hub.address, "away", "away at 127.0.0.1:9 does not answer"),
        (hub.address, "none", "there is no device 'none'"),
        ("127.0.0.1:9", "demo", ""),
    ):
        done = calibrate(address, device)
        assert done.returncode == 1 and not done.stdout
        assert re.fullmatch(r"calibrate: .*\n", done.stderr) and text in done.stderr, done.stderr


def test_client_as_plugin_calls_the_hub(device, tmp_path, calibrate):
    """As a plugin of the layer control: at the hub's own socket, with the plugin's token. Its
    output is in the log."""
    shutil.copy(PLUGINS / "counter.proto", tmp_path)
    command = f'until {calibrate.words} "$KAIROS_HUB" demo; do sleep 0.2; done; sleep 100'
    entries = "[[plugin]]\nname = 'client'\nlayer = 'control'\nprotocol = 'counter.proto'\n"
    entries += f"command = ['sh', '-c', '{command}']\n" + token_entry("secret", "view")
    hub = Hub(tmp_path, {"demo": f"{device.host}:{device.ports[1380]}"}, entries=entries)
    try:
        until(lambda: "250 of 250 settings" in (tmp_path / "hub.log").read_text(), (tmp_path / "hub.log").read_text)
    finally:
        hub.close()


def test_clients_use_token_and_tls(tmp_path, calibrate):
    entries = token_entry("secret", "operate") + certificate(tmp_path)
    hub = Hub(tmp_path, {"away": "127.0.0.1:9"}, listen="0.0.0.0:0", entries=entries)
    address = f"localhost:{hub.address.rpartition(':')[2]}"
    trusted = str(tmp_path / "hub.crt")
    try:
        for environment, text in (
            # Access is granted: the failure is the hub's report about the device.
            ({"KAIROS_HUB_TOKEN": "secret", "KAIROS_HUB_CERTIFICATE": trusted}, "away at 127.0.0.1:9 does not answer"),
            ({"KAIROS_HUB_TOKEN": "other", "KAIROS_HUB_CERTIFICATE": trusted}, "token"),
            ({"KAIROS_HUB_CERTIFICATE": trusted}, "this hub requires a token"),
            ({"KAIROS_HUB_TOKEN": "secret"}, ""),
        ):
            done = calibrate(address, "away", **environment)
            assert done.returncode == 1 and not done.stdout
            assert re.fullmatch(r"calibrate: .*\n", done.stderr) and text in done.stderr, done.stderr
    finally:
        hub.close()
