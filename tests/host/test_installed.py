"""Kairos installed from wheels, without toolchain and checkout."""

import gzip
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest

from kairos.emulator import artifacts
from kairos.errors import EmulatorError, UsageError
from tests.support.installed import Installation, packed
from tests.support.paths import ROOT

LIMIT_S = 20.0
"""Limit from `kairos new` to the end of the first run, required by issue 13."""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An environment containing the files of ``kairos-device``, ``kairos-emulator`` and ``kairos-hub``; returns its
    folder."""
    monkeypatch.delenv("KAIROS_BUILD", raising=False)
    monkeypatch.setattr(artifacts, "__file__", str(tmp_path / "site" / "kairos" / "emulator" / "artifacts.py"))
    site = tmp_path / "site"
    files = [site / "kairos_device" / "__init__.py", site / "kairos_device" / "firmware" / "runtime.elf"]
    for variant in ("demo", "lab"):
        files += [site / "kairos_device" / "gateware" / variant / name for name in ("libkairos_pl.so", "device_db.py")]
    files += [tmp_path / "bin" / program for program in ("kairos-emulator", "kairos-hub")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    for program in ("kairos-emulator", "kairos-hub"):
        records = site / f"{program.replace('-', '_')}-0.1.0.dist-info"
        records.mkdir()
        (records / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {program}\nVersion: 0.1.0\n")
        (records / "RECORD").write_text(f"../bin/{program},,\n")
    monkeypatch.syspath_prepend(str(site))
    yield tmp_path
    sys.modules.pop("kairos_device", None)


def test_artifacts_come_from_installed_packages(installed):
    device = installed / "site" / "kairos_device"
    assert artifacts.build_directory() == device
    program, arguments = artifacts.command("lab")
    assert program.resolve() == installed / "bin" / "kairos-emulator"
    library = device / "gateware" / "lab" / "libkairos_pl.so"
    assert arguments == ["--firmware", str(device / "firmware" / "runtime.elf"), "--pl", str(library)]


def test_hub_comes_from_installed_package_or_is_named_as_missing(installed):
    assert artifacts.hub().resolve() == installed / "bin" / "kairos-hub"
    shutil.rmtree(installed / "site" / "kairos_device")
    assert artifacts.hub().resolve() == installed / "bin" / "kairos-hub", "without firmware and gateware"
    shutil.rmtree(installed / "site" / "kairos_hub-0.1.0.dist-info")
    with pytest.raises(UsageError, match="no .*kairos-hub: install it with 'pip install kairos-hub'"):
        artifacts.hub()


def test_named_folder_precedes_installed_package(installed, monkeypatch):
    monkeypatch.setenv("KAIROS_BUILD", str(installed / "mine"))
    assert artifacts.build_directory() == installed / "mine"
    with pytest.raises(EmulatorError, match="emulator/kairos-emulator, firmware/runtime.elf, .* missing .* 'make emul"):
        artifacts.command("demo")


def test_missing_package_is_named_with_its_remedy(installed):
    (installed / "bin" / "kairos-emulator").unlink()
    shutil.rmtree(installed / "site" / "kairos_emulator-0.1.0.dist-info")
    with pytest.raises(EmulatorError, match="emulator/kairos-emulator missing .*'pip install kairos-emulator'"):
        artifacts.command("demo")
    with pytest.raises(UsageError, match="no .*boot.elf: install it with 'pip install kairos-device'"):
        artifacts.built_firmware("boot.elf")
    with pytest.raises(EmulatorError, match="no gateware 'pulse' for the emulator in .*; available: demo, lab"):
        artifacts.command("pulse")


def test_versions_of_packages_match_the_host():
    """The packages are released together: each is compatible only with others of the same version."""
    named = [
        tomllib.loads((ROOT / "src" / part / "pyproject.toml").read_text())["project"]
        for part in ("device", "emulator", "hub")
    ]
    assert {project["version"] for project in named} == {metadata.version("kairos")}
    assert named[1]["dependencies"] == [f"kairos-device=={metadata.version('kairos')}"]
    assert named[2]["dependencies"] == [f"kairos=={metadata.version('kairos')}"]


def page() -> dict[str, bytes]:
    """Returns the files of the page, by their names."""
    folder = artifacts.build_directory() / "page"
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    if not files:
        pytest.skip("the page is not built: there is no npm")
    return files


def lacking(program: bytes) -> list[str]:
    """Returns the files of the page that a program does not contain."""
    return [name for name, contents in page().items() if contents not in program]


def test_program_of_the_hub_contains_every_file_of_the_page():
    """The wheel kairos-hub has this program, built from the same sources."""
    index = gzip.decompress(page()["index.html.gz"]).decode()
    named = re.findall(r'(?:src|href)="\.?/([^"]+)"', index)
    assert len(named) >= 3 and {f"{name}.gz" for name in named} <= page().keys()
    assert lacking(artifacts.hub().read_bytes()) == []


@pytest.mark.long  # builds the wheels
def test_wheels_contain_the_page_and_every_file_of_the_package():
    (program,) = (name for name in packed("kairos-hub") if name.endswith(".data/scripts/kairos-hub"))
    assert lacking(packed("kairos-hub")[program]) == []
    listed = subprocess.run(["git", "ls-files", "kairos"], cwd=ROOT / "src", capture_output=True, text=True, check=True)
    wanted = {name for name in listed.stdout.splitlines() if "/tests/" not in name}
    assert wanted and sorted(wanted - packed("kairos").keys()) == []


@pytest.mark.long  # builds the wheels; their dependencies come from the package registry
def test_first_run_of_installation_succeeds(tmp_path):
    installation = Installation(tmp_path)
    seconds, said = installation.first_run()
    assert "sent 3 pulses" in said
    assert "ttl" in said
    assert seconds < LIMIT_S
    (installation.work / "device_db.py").unlink()
    installation.run("kairos", "new", "--variant", "lab", "other")
    assert "sent 3 pulses" in installation.run("kairos", "run", "other.py")
    (installation.work / "device_db.py").unlink()
    installation.run("kairos", "new", "--bench", "ion", "flop")
    installation.run("kairos", "run", "flop.py", "--plot", "flop.png", "--no-table")
    assert (installation.work / "flop.png").stat().st_size > 0
