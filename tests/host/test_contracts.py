"""Files generated from src/contracts/ are up to date, and handwritten code agrees with it."""

import re
import subprocess
import sys
from pathlib import Path

from kairos.contracts.management import Request

ROOT = Path(__file__).parents[2]
GENERATE = ROOT / "src" / "contracts" / "generate.py"


def test_generated_files_are_up_to_date():
    done = subprocess.run([sys.executable, GENERATE, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_each_generated_module_of_the_host_is_imported():
    """By the host or a test; an unused one is left out in `src/contracts/generator/python.py`."""
    generated = {path.stem for path in (ROOT / "src/kairos/contracts").glob("*.py")} - {"__init__"}
    imported: set[str] = set()
    for path in [*(ROOT / "src/kairos").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        text = path.read_text()
        imported |= set(re.findall(r"\bcontracts\.(\w+)", text))
        for names in re.findall(r"\bcontracts import ([^\n(]+|\([^)]*\))", text):
            imported |= set(re.findall(r"\w+", names))
    assert generated <= imported


def test_host_sends_every_management_request():
    source = (ROOT / "src" / "kairos" / "network" / "management.py").read_text()
    # Requests with their own encoder: `_wire.flash_request`.
    encoders = {name.upper() for name in re.findall(r"_wire\.(\w+)_request\(", source)} - {"MANAGEMENT"}
    sent = set(re.findall(r"Request\.([A-Z_]+)", source)) | encoders
    # PULL_LOG is for log controllers, BATCH for the hub; both are separate programs.
    assert sent == Request.__members__.keys() - {"PULL_LOG", "BATCH"}


def test_duplicate_number_in_a_contract_is_rejected(tmp_path):
    facts = ROOT / "src" / "contracts"
    for path in facts.glob("*.toml"):
        (tmp_path / path.name).write_text(path.read_text())
    text = (tmp_path / "management.toml").read_text()
    (tmp_path / "management.toml").write_text(
        text.replace("config_erase = { value = 15", "config_erase = { value = 14")
    )
    program = "import sys; sys.path[:0] = sys.argv[1:2]; from pathlib import Path; from generator.facts import load; "
    program += "load(Path(sys.argv[2]))"
    done = subprocess.run([sys.executable, "-c", program, facts, tmp_path], capture_output=True, text=True)
    assert "management.toml, Request, config_erase: config_remove has the number 14 already" in done.stderr
