"""Experiments for the benchmarks, constructed as in `kairos run`."""

from pathlib import Path

from kairos.cli.experiments import Experiment
from kairos.devices import DeviceDB

ROOT = Path(__file__).parents[2]


def experiment(file: str, class_name: str, devices: str = "examples/device_db.py", *arguments: str):
    """Return a built experiment of class `class_name` in `file`, on devices of the examples; `arguments`: as
    NAME=VALUE."""
    database = DeviceDB.load(ROOT / devices)
    return Experiment(ROOT / file, class_name, list(arguments), database).instance
