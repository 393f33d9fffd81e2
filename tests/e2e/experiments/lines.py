"""What experiments on several emulated boards ask the emulator: of its links, and of what they have carried."""

from artiq.experiment import *


class Lines:
    """Part of an experiment. `lines`: names of the links that it counts on, as `FROM-TO`."""

    lines = ()

    def control(self):
        from kairos.emulator import acquire

        return acquire(self.get_device_db()["core"]["arguments"]["host"]).control

    def carried(self) -> TList(TInt32):
        """Return the words that each of `lines` has carried since the last call."""
        self.before, before = {}, getattr(self, "before", {})
        for link in self.control().request("links")["links"]:
            self.before[f"{link['from']}-{link['to']}"] = link["down"]["sent"] + link["up"]["sent"]
        return [self.before[name] - before.get(name, 0) for name in self.lines]
