"""The ages of parameters: a look that fails is repeated."""

import asyncio
from types import SimpleNamespace

from kairos.errors import UsageError
from kairos.lab import calibrator
from kairos.lab.calibrator import Calibrator
from kairos.lab.graph import Graph


class Interrupted(Calibrator):
    """A calibrator whose experiments cannot be read at some looks."""

    looks = 0

    def graph(self) -> Graph:
        self.looks += 1
        if self.looks in (1, 2, 5):
            raise UsageError(f"no answer to look {self.looks}")
        return Graph({})


def test_failed_check_of_ages_is_reported_once_and_repeated(monkeypatch, caplog):
    monkeypatch.setattr(calibrator, "CHECK_INTERVAL", 0.01)

    async def watch_until_reported():
        datasets = SimpleNamespace(written={}, values={})
        watched = Interrupted(SimpleNamespace(datasets=datasets), None)
        watched.watch_ages()
        while watched.looks < 6:
            await asyncio.sleep(0.01)
        await watched.close()

    asyncio.run(watch_until_reported())
    unknown = "the ages of parameters are not known: no answer to look"
    assert caplog.messages == [f"{unknown} 1", f"{unknown} 5"]
