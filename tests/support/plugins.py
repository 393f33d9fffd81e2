"""Plugins of a hub under test: their entries in hub.toml, calls, and a client that goes on meanwhile."""

import json
import sys
import threading

import kairos.hub
from kairos.hub import HubError

from .paths import ROOT
from .waiting import until

FOLDER = ROOT / "tests" / "e2e" / "plugins"
EXAMPLES = ROOT / "examples" / "hub" / "plugins"
MUCH = 60.0
"""Timeout in seconds of answers of all but the faulty plugin, however busy the machine is."""


def entry(name, script, layer="control", patience=MUCH, **settings):
    """Return an entry of hub.toml."""
    protocol = script.with_suffix(".proto")
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    return (
        f"[[plugin]]\nname = '{name}'\nlayer = '{layer}'\ncommand = ['{sys.executable}', '{script}']\n"
        f"protocol = '{protocol}'\npatience_s = {patience}\nmemory_mb = 300\n[plugin.settings]\n"
        + "\n".join(lines)
        + "\n"
    )


def misbehaving(folder, package="misbehaving"):
    """Copy the misbehaving plugin, under a service name of its own."""
    for suffix in (".py", ".proto"):
        text = (FOLDER / f"misbehaving{suffix}").read_text().replace("tests.misbehaving.v1", f"tests.{package}.v1")
        (folder / f"{package}{suffix}").write_text(text)
    return folder / f"{package}.py"


def comes_back(lab, starts):
    def is_new():
        now = plugin(lab, "ill")
        return now.running and now.starts == starts + 1

    until(is_new)


def plugin(lab, name):
    return next(plugin for plugin in lab.plugins() if plugin.name == name)


def call(lab, package, method, **fields):
    return lab.call(f"kairos.tests.{package}.v1.Misbehaving", method, **fields)


class Bystander:
    """Continuously uses a device and the healthy plugin, and records failures."""

    def __init__(self, hub, lab):
        self.rounds, self.failures, self.starts = 0, [], plugin(lab, "well").starts
        self.process = call(lab, "well", "Echo").number
        self._hub, self._lab, self._over = hub, lab, threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self):
        with kairos.hub.connect(self._hub.address) as lab:
            while not self._over.wait(0.005) and not self.failures:
                try:
                    assert lab["demo"].read("rtio/outputs") == [13]
                    assert call(lab, "well", "Echo", text="a").number == self.process
                except (HubError, AssertionError) as error:
                    self.failures.append(error)
                self.rounds += 1

    def goes_on(self, rounds=20):
        """Wait until it has been served `rounds` more times."""
        until(lambda end=self.rounds + rounds: self.failures or self.rounds >= end)
        assert not self.failures

    def end(self):
        """Check that nothing failed, and that the healthy plugin was not restarted."""
        self._over.set()
        self._thread.join()
        assert not self.failures and plugin(self._lab, "well").starts == self.starts
