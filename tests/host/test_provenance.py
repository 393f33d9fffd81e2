"""The results of a run say what they depend on: everything needed to repeat it."""

import hashlib
import subprocess
import sys

import h5py
import pytest

from kairos import pyon
from kairos.cli.provenance import Provenance
from tests.support import TIMEOUT

FILES = {
    "scan.py": """
import beams
from artiq.experiment import *

class Scan(EnvExperiment):
    def build(self):
        self.setattr_argument("power", NumberValue(0.5))
        self.setattr_argument("label", StringValue("blue"))
        self.setattr_argument("points", Scannable(RangeScan(0, 1, 3)))
    def run(self):
        from laboratory.shapes import shape
        import json, pathlib, runpy
        runpy.run_path("later.py")
        gain = json.load(open("gain.json")) + int(pathlib.Path("gain.txt").read_text())
        open("notes.txt", "w").write("of this run")
        open("notes.txt").read()
        self.set_dataset("power", shape(self.power * beams.GAIN * gain))
        open("beams.py", "w").write("GAIN = 'edited'")
""",
    "beams.py": "GAIN = 3\n",
    "later.py": "LATER = 1\n",
    "gain.json": "2",
    "gain.txt": "-1",
    "laboratory/__init__.py": "",
    "laboratory/shapes.py": "import numpy\n\ndef shape(x):\n    return numpy.float64(x)\n",
    "elsewhere/addresses.py": "CORE = None\n",
    "device_db.py": """
import sys, pathlib
sys.path.insert(0, str(pathlib.Path(__file__).parent / "elsewhere"))
import addresses
device_db = {"core": {"type": "local", "module": "artiq.coredevice.core", "class": "Core",
                      "arguments": {"host": addresses.CORE, "ref_period": 1e-9}}}
""",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_file_of_a_run_has_all_that_it_depended_on(folder):
    command = [sys.executable, "-m", "kairos", "run", "scan.py", "power=2.0", "-o", "scan.h5"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    with h5py.File(folder / "scan.h5") as file:
        assert file["datasets/power"][()] == 6.0
        group = file["provenance"]
        text = {name: group[name].asstr()[()] for name in group if name != "imported"}
        imported = {}
        group["imported"].visititems(
            lambda name, item: imported.update({name: item.asstr()[()]} if isinstance(item, h5py.Dataset) else {})
        )
    assert text["experiment"] == FILES["scan.py"] and text["device_db"] == FILES["device_db.py"]
    assert imported == {
        name: FILES[name] for name in ("beams.py", "laboratory/shapes.py", "elsewhere/addresses.py", "later.py")
    }
    read = {name: hashlib.sha256(FILES[name].encode()).hexdigest() for name in ("gain.json", "gain.txt")}
    assert text["files"] == "".join(f"{value}  {name}\n" for name, value in read.items()), "not what it wrote itself"
    values = pyon.decode(text["arguments"])
    assert values.keys() == {"power", "label", "points"}
    assert (values["power"], values["label"], values["points"]["ty"]) == (2.0, "blue", "RangeScan")
    versions = dict(line.split("==") for line in text["packages"].splitlines())
    assert "numpy" in versions and "kairos" not in versions
    assert text["python_version"].startswith("3.") and text["kairos_version"]


def test_bench_and_its_models_are_kept(folder):
    (folder / "bench.toml").write_text('[python.shutter]\nfile = "shutter.py"\nother = ["none.py"]\nx = "x.csv"\n')
    (folder / "shutter.py").write_text("import optics.lens\nclass Shutter: pass\n")
    (folder / "optics").mkdir()
    (folder / "optics" / "lens.py").write_text("from beams import GAIN\n")
    (folder / "x.csv").write_text("1\n")
    (folder / "two.toml").write_text("[board]\n")
    made = Provenance(
        folder / "scan.py", str(folder / "device_db.py"), str(folder / "bench.toml"), f"emulator://{folder}/two.toml"
    )
    (folder / "bench.toml").write_text("edited")
    values = made.values({"a": {1, 2}, "b": object})
    assert values["bench"].startswith("[python.shutter]") and values["system"] == "[board]\n"
    assert values["imported/shutter.py"] == "import optics.lens\nclass Shutter: pass\n"
    assert (
        values["imported/optics/lens.py"] == "from beams import GAIN\n" and values["imported/beams.py"] == "GAIN = 3\n"
    )
    assert values["files"] == f"{hashlib.sha256(b'1' + bytes([10])).hexdigest()}  x.csv\n"
    assert pyon.decode(values["arguments"])["a"] == {1, 2} and "object" in pyon.decode(values["arguments"])["b"]


def test_unreadable_files_cost_no_results(folder):
    (folder / "bench.toml").write_bytes(b"\xff\xfe[")
    made = Provenance(folder / "gone.py", str(folder / "gone_db.py"), str(folder / "bench.toml"))
    values = made.values({})
    assert "experiment" not in values and "device_db" not in values and values["bench"]
