"""Files of experiments and libraries: their names, and which file's line an error shows first."""

import pytest

from tests.support.command import HEAD

BODY = """
    @kernel
    def run(self):
        self.core.reset()
        print("ran", self.part())

    @kernel
    def part(self):
        return 5
"""


@pytest.mark.parametrize("name", ["20241103_scan.py", "my-scan 2.py", "größe.py"])
def test_unusual_file_name_is_accepted(kairos, name):
    done = kairos("run", kairos.write(BODY, HEAD, name))
    assert done.returncode == 0, done.stderr
    assert "ran 5" in done.stdout


def test_library_error_shows_user_line_first(kairos):
    done = kairos.run("""
    @kernel
    def run(self):
        self.core.reset()
        self.step(1.5)

    @kernel
    def step(self, duration):
        self.ttl4.pulse_mu(duration)
""")
    assert done.returncode != 0
    places = [line.split("--> ")[1] for line in done.stderr.splitlines() if "--> " in line]
    assert "exp.py" in places[0] and "coredevice" in places[1], done.stderr
    assert "self.ttl4.pulse_mu(duration)" in done.stderr


def test_integer_argument_accepts_only_integral_numbers(kairos):
    body = """
        self.setattr_argument("shots", NumberValue(10, precision=0, step=1, scale=1, type="int"))

    def run(self):
        print("shots", self.shots, type(self.shots).__name__)
"""
    file = kairos.write(body.removeprefix("\n"), HEAD.rstrip() + "\n")
    assert "shots 3 int" in kairos("run", file, "shots=3.0").stdout
    done = kairos("run", file, "shots=2.7")
    assert done.returncode != 0
    assert "argument 'shots' = 2.7: 2.7 is not an integer" in done.stderr
