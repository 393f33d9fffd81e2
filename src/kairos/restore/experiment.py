"""The run of a laboratory that restores chips: it has its turn in the queue, as everything that uses the device."""

from pathlib import Path

from kairos.cli.waveforms import chips_of
from kairos.devices import DeviceDB
from kairos.experiment import EnvExperiment, StringValue
from kairos.restore.fits import database_before
from kairos.restore.plan import planned

__all__ = ["RestoreChips"]


class RestoreChips(EnvExperiment):
    """Restore chips"""

    def build(self):
        self.setattr_device("core")
        self.setattr_argument("results", StringValue(), tooltip="result file of the run whose state is restored")
        self.setattr_argument("cards", StringValue(""), tooltip="only these cards, with spaces between; empty: all")

    def prepare(self):
        """Plan what is to be written, so that what cannot be is refused before anything is."""
        cards = self.cards.split()
        before = database_before(Path(self.results))
        self._plan = planned(*chips_of(self.results), DeviceDB(self.get_device_db()), cards, before)

    def run(self):
        self._plan.write(self)
        self.set_dataset("restored", list(self._plan.registers))
        print(f"restored {self._plan.sentence}")

    def get(self, name):
        """Return a driver, as a device manager does."""
        return self.get_device(name)
