"""An installation of Kairos from its wheels, without a toolchain or a checkout."""

import os
import subprocess
import sysconfig
import time
import zipfile
from pathlib import Path

from tests.support.paths import ROOT

WHEELS = ROOT / "build" / "wheels"
TIMEOUT_S = 300


def build():
    """Build the wheels, if something has changed."""
    subprocess.run(["make", "wheel"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def packed(name: str) -> dict[str, bytes]:
    """Return the files of the wheel of a package, by their names in it, built if necessary."""
    build()
    (path,) = WHEELS.glob(f"{name.replace('-', '_')}-[0-9]*.whl")
    with zipfile.ZipFile(path) as wheel:
        return {member: wheel.read(member) for member in wheel.namelist()}


class Installation:
    """The wheels of ``build/wheels`` (built if necessary) in a fresh environment below `folder`.

    Their dependencies come from the package registry.
    """

    def __init__(self, folder: Path):
        build()
        self.programs = folder / "venv" / "bin"
        self.work = folder / "work"
        self.work.mkdir()
        base = Path(sysconfig.get_config_var("BINDIR")) / f"python{sysconfig.get_python_version()}"
        subprocess.run([base, "-m", "venv", self.programs.parent], check=True)
        pip = [self.programs / "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *WHEELS.glob("*.whl")], check=True)

    def run(self, *words: str) -> str:
        """Run a command and return its standard output, with an empty file system in place of the
        checkout, and nothing of this system on PATH."""
        hidden = f'/bin/mount -t tmpfs none "{ROOT}" && [ ! -e "{ROOT}/Makefile" ] && exec "$@"'
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        command = ["/usr/bin/unshare", "--mount", *user, "/bin/sh", "-c", hidden, "sh", *words]
        variables = {"PATH": str(self.programs), "HOME": str(self.work), "LANG": "C.UTF-8"}
        done = subprocess.run(command, cwd=self.work, env=variables, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def first_run(self) -> tuple[float, str]:
        """Return the seconds from `kairos new` to the end of the experiment's first run, and its
        output."""
        began = time.perf_counter()
        self.run("kairos", "new", "blink")
        said = self.run("kairos", "run", "blink.py")
        return time.perf_counter() - began, said
