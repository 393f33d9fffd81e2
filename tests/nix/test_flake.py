"""flake.nix parses, and evaluates against stand-ins for its inputs (nothing is built or fetched)."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from kairos_gateware.build import BOARDS

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("nix-instantiate") is None, reason="nix-bin is not installed")


def nix(tmp_path: Path, *arguments: str) -> str:
    """Returns the standard output of nix-instantiate with a separate store below `tmp_path`."""
    environment = os.environ | {
        "NIX_STORE_DIR": str(tmp_path / "store"),
        "NIX_STATE_DIR": str(tmp_path / "state"),
        "NIX_LOG_DIR": str(tmp_path / "log"),
        "NIX_CONF_DIR": str(tmp_path / "etc"),
    }
    done = subprocess.run(["nix-instantiate", *arguments], cwd=ROOT, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_flake_is_parsed_by_nix(tmp_path):
    assert "outputs" in nix(tmp_path, "--parse", "flake.nix")


def test_flake_evaluates_to_all_packages_and_checks(tmp_path):
    outputs = json.loads(nix(tmp_path, "--eval", "--strict", "--json", "tests/nix/stub.nix"))
    boards = [board for board in BOARDS if board != "sim"]
    of_variants = {f"gateware-{variant}": f"kairos-gateware-{variant}-sim" for variant in ("demo", "ion", "lab")}
    of_boards = {f"boot-image-{board}": f"kairos-boot-image-{board}" for board in boards}
    variants = {board: "lab" if board == "kasli_soc" else "demo" for board in boards}
    of_boards |= {f"gateware-{board}": f"kairos-gateware-{variants[board]}-{board}" for board in boards}
    built = {"firmware": "kairos-firmware", "emulator": "kairos-emulator", "host": "kairos"} | of_variants | of_boards
    assert outputs["packages"] == built | {"default": "kairos", "device": "kairos-emulated-device"}
    assert outputs["devShells"] == {"default": "shell"}
    assert outputs["checks"] == {"emulated": "kairos-emulated-run"}
    assert outputs["hydraJobs"] == built | outputs["checks"]
