"""The run that sets an output by hand: it has its turn in the queue, as everything that uses the device."""

from kairos.experiment import BooleanValue, EnvExperiment, PYONValue, StringValue
from kairos.outputs.settings import check, parted, settings

__all__ = ["SetOutput"]


class SetOutput(EnvExperiment):
    """Set an output"""

    def build(self):
        self.setattr_argument("output", StringValue(), tooltip="a DDS, or a DAC and its channel, such as zotino0:3")
        self.setattr_argument("values", PYONValue({}), tooltip="frequency in Hz, amplitude, phase, voltage …, by name")
        self.setattr_argument("initialise", BooleanValue(False), tooltip="the card, whatever it is set to")
        if self.output:
            self._name, self._place = parted(self.output)
            self._card = self.get_device(self._name)

    def prepare(self):
        """Refuse what cannot be before anything is done."""
        self._settings = {each.name: each for each in settings(self._card)}
        check(self.output, list(self._settings.values()), self.values)

    def run(self):
        from kairos.outputs.kernels import written  # imported late: a list of experiments needs no kernels

        fresh = written(self._card, self._place, self.values, self.initialise)
        done = ", ".join(f"{name} {self._settings[name].text(value)}" for name, value in self.values.items())
        print(f"{self.output}: {done}{'; the card was initialised before' if fresh else ''}")
