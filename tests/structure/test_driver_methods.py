"""Every driver method that runs on the device is called by a test through the whole chain.

Tests that call all methods of a class query `Chain.uncalled` (`tests/support/chain.py`) at their
end, which reports the methods that were not called. This test checks that some test does so for
each class.
"""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import kairos.coredevice
from kairos.selftest import cards as selftest
from tests.support.chain import device_methods

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "Bridge": "tests/e2e/test_bridge_boards.py",
    "Core": "every experiment",
    "CoreCache": "tests/e2e/test_i2c.py",
    "CoreDMA": "tests/e2e/test_dma.py",
    "PCF8574A": "tests/e2e/test_i2c.py",
    "Pulse": "tests/e2e/test_pulse_driver.py",
    "RemoteAdder": "tests/e2e/test_remote_block.py",
    "RemoteMemory": "tests/e2e/test_remote_memory.py",
    "SharedPages": "tests/e2e/test_bridge_boards.py",
    "TCA6424A": "tests/e2e/test_i2c.py",
    "VectorAdder": "tests/e2e/test_bridge_boards.py",
}
"""Classes with their own tests, as their methods depend on each other."""
ABSENT = {
    "NRTSPIMaster": "no board has such a bus",
}
"""Classes without a counterpart in the emulated device (docs/bench.md, "Not yet")."""
ASKED = re.compile(r"(?:for cls in \(|parametrize\(\"kind\", \[)([\w, ]+)|uncalled\((\w+)\)")
PARTS = {"Conversions", "DigitalOutput", "Field", "FixedDelays", "I2CDevice", "SerialPort", "Spline", "StoredDelays"}
PARTS |= {"ChannelInitialisation", "Initialisation", "MiqroInitialisation", "SharedUpdate"}
PARTS |= {"ChannelChips", "FixedSharedDelays", "SpiBus", "StoredSharedDelays", "Synchronisation", "WideField"}
"""Base classes and components of drivers."""


IMPORTED = re.compile(r"^from kairos\.coredevice\.(\w+) import (?:\(([^)]*)\)|(.*))", re.MULTILINE)


def drivers() -> set[tuple[str, str]]:
    """Returns module and name of the driver classes with methods that run on the device: two drivers may have
    classes of one name."""
    found = set()
    for module in pkgutil.iter_modules(kairos.coredevice.__path__):
        if not module.ispkg:
            source = importlib.import_module(f"kairos.coredevice.{module.name}")
            for name, cls in vars(source).items():
                own = inspect.isclass(cls) and (cls.__module__, cls.__name__) == (source.__name__, name)
                if own and not name.startswith("_") and device_methods(cls):
                    found.add((module.name, name))
    return found


def names_of(classes: set[tuple[str, str]]) -> set[str]:
    return {name for _, name in classes}


def asked_in(text: str) -> set[tuple[str, str]]:
    """Returns module and name of the classes whose uncalled methods a test asks for."""
    module_of = {}
    for module, *several in IMPORTED.findall(text):
        source = importlib.import_module(f"kairos.coredevice.{module}")
        for name in re.findall(r"\w+", "".join(several)):
            module_of[name] = getattr(getattr(source, name), "__module__", "").rpartition(".")[2]
    names = {name for found in ASKED.findall(text) for several in found for name in re.findall(r"\w+", several)}
    return {(module_of[name], name) for name in names & module_of.keys()}


def test_every_driver_method_is_called_by_a_test():
    asked = set()
    for path in (ROOT / "tests/e2e").glob("test_methods_of_*.py"):
        asked |= asked_in(path.read_text())
    known = ELSEWHERE.keys() | ABSENT.keys() | PARTS
    assert {(module, name) for module, name in drivers() - asked if name not in known} == set()
    assert known - names_of(drivers()) == set() and (ELSEWHERE.keys() | ABSENT.keys()) & names_of(asked) == set()


def test_every_driver_has_a_selftest_or_is_listed_without_one():
    assert names_of(drivers()) - PARTS - selftest.TESTS.keys() - selftest.PARTS.keys() == set()
    assert selftest.TESTS.keys() & selftest.PARTS.keys() == set()
    assert {*filter(None, selftest.PARTS.values())} <= selftest.TESTS.keys()
    manual = (ROOT / "docs" / "selftest.md").read_text()
    assert {name for name in selftest.TESTS if f"`{name}`" not in manual} == set()
