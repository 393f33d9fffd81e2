"""Precompiled kernels: from `kairos compile`, whose files run standalone, and from
`core.precompile`."""

import tarfile

import h5py
import pytest

from tests.support.command import one_line
from tests.support.paths import EXAMPLES

SAYS = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(2 * us)
        print("said by itself", 7)
        {}
"""


def compiled(kairos, last="pass"):
    path = kairos.write(SAYS.format(last))
    assert kairos("compile", path).stdout == f"wrote {path.with_suffix('.elf')}\n"
    return path.with_suffix(".elf")


def test_library_runs_and_prints_to_log(kairos):
    done = kairos("run", compiled(kairos), "--log", "device.log", "-o", "out.h5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 kernel run, device booted in ")
    *_, row, written = done.stdout.splitlines()
    assert written == "wrote out.h5"
    assert row.split() == ["ttl4", "0", "2,000", "0", "ns", "2", "us"]
    assert "INFO(kernel): said by itself 7" in (kairos.directory / "device.log").read_text()
    with h5py.File(kairos.directory / "out.h5") as file:
        assert "experiment" not in file["provenance"] and b'"class_name": "exp"' in file["expid"][()]


def test_exception_of_library_has_its_position(kairos):
    done = kairos("run", compiled(kairos, "raise ValueError('it is late')"))
    assert done.returncode == 1
    assert "ValueError(0): it is late" in done.stderr and 'exp.py", line 16' in done.stderr


def test_archive_runs_on_both_boards(kairos):
    boards = EXAMPLES / "two_boards_device_db.py"
    path = kairos.write(
        """
    @subkernel(destination=1)
    def there(self):
        self.core.break_realtime()
        self.sat.pulse(3 * us)

    @kernel
    def run(self):
        self.core.reset()
        self.there()
        subkernel_await(self.there)
        self.core.break_realtime()
        self.ttl4.pulse(2 * us)
""",
        head="""from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.sat = self.get_device("sat_ttl4")

""",
    )
    assert kairos("compile", path, device_db=boards).returncode == 0
    archive = path.with_suffix(".tar")
    with tarfile.open(archive) as file:
        assert sorted(file.getnames()) == ["1 1.elf", "main.elf"]
    done = kairos("run", archive, device_db=boards)
    assert done.returncode == 0, done.stderr
    widths = {line.split()[0]: line.split()[2] for line in done.stdout.splitlines()[4:]}
    assert widths == {"sat_ttl4": "3,000", "ttl4": "2,000"}


@pytest.mark.parametrize(
    "name, more, text",
    [
        ("exp.elf", ["n=3"], "exp has no argument n; it takes none"),
        ("exp.elf", ["-c", "Exp"], "exp.elf is a compiled kernel, which has no experiment classes to select"),
        ("junk.elf", [], "junk.elf is not a kernel written by 'kairos compile'"),
        ("junk.tar", [], "junk.tar is not a kernel archive: "),
        ("nowhere.elf", [], "nowhere.elf cannot be read: No such file or directory"),
    ],
)
def test_invalid_library_is_reported_in_one_line(kairos, name, more, text):
    for junk in ("exp.elf", "junk.elf", "junk.tar"):
        (kairos.directory / junk).write_bytes(b"\x7fELF" if junk == "exp.elf" else b"junk")
    one_line(kairos("run", name, *more), text, 2 if more else 1)


def test_precompiled_kernel_is_compiled_once(kairos):
    done = kairos.run("""
    @kernel
    def pulse(self, n):
        self.core.reset()
        self.ttl4.pulse(n * us)

    def run(self):
        pulse = self.core.precompile(self.pulse, 2)
        pulse(), pulse(), pulse()
        self.pulse(3)
""")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 kernels compiled in ") and ", 4 kernels run, " in done.stdout
