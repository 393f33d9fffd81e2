"""What the kernel core notes about each pulse core: which gates are in its tables."""

EXPERIMENT = """
from artiq.experiment import *
from kairos.coredevice.parts.pulse_tables import pulse_note, pulse_noted

MOST = 64


class Notes(EnvExperiment):
    def build(self):
        self.setattr_device("core")

    @kernel
    def run(self):
        # Channel and address differ, but for the firmware all have the same usual place.
        for i in range(MOST):
            pulse_note(i << 8 | i, 1000 + i)
        self.show("kept")
        pulse_note(3 << 8 | 3, 5)
        self.show("changed")
        pulse_note(MOST << 8 | MOST, 1000 + MOST)
        self.show("one more")

    @kernel
    def show(self, title):
        lost = 0
        for i in range(MOST + 1):
            if pulse_noted(i << 8 | i) != 1000 + i:
                lost += 1
        print(title, lost, pulse_noted(3 << 8 | 3), pulse_noted(MOST << 8 | MOST))
"""


def test_notes_of_64_targets_are_kept_and_a_further_one_replaces_one(kairos, tmp_path):
    (tmp_path / "notes.py").write_text(EXPERIMENT)
    done = kairos("run", tmp_path / "notes.py")
    assert done.returncode == 0, done.stderr
    # A target counts as lost where its note is another one, or none.
    assert done.stdout.splitlines()[:3] == ["kept 1 1003 0", "changed 2 5 0", "one more 2 5 1064"], done.stdout
