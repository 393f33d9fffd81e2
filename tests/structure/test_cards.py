"""Facts about cards stand in src/contracts/cards; a part that forgets one of them is found here."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from kairos.contracts.cards import CARDS, CHANNEL_DRIVERS, IN_SCOPE, PLACES, WITHOUT_MODEL
from kairos.emulator.cards import DESCRIBED
from kairos.scope.chips import LABELS

ROOT = Path(__file__).parents[2]
ASSEMBLY = ROOT / "src" / "bench" / "src" / "assemble"


def test_every_card_is_described_to_the_emulator():
    assert DESCRIBED.keys() == CARDS.keys()


def test_every_driver_in_scope_has_labels():
    assert sorted(LABELS) == sorted(IN_SCOPE)


@pytest.mark.parametrize("kind", sorted(set(CARDS.values())))
def test_every_kind_of_card_is_assembled_by_the_bench(kind):
    sources = "".join(path.read_text() for path in ASSEMBLY.glob("[!_]*.rs") if not path.stem.endswith("tests"))
    assert re.search(rf"\b{kind}\b", sources), f"src/bench/src/assemble knows no {kind}"


@pytest.mark.parametrize("kind, driver", CHANNEL_DRIVERS.items(), ids=str)
def test_driver_of_channels_takes_its_arguments(kind, driver):
    module = import_module(f"kairos.coredevice.{driver['module']}")
    for name in driver["classes"]:
        known = inspect.signature(getattr(module, name).__init__).parameters
        assert {driver["argument"], *driver["parameters"]} <= known.keys(), (kind, name)


def test_classes_named_in_card_tables_exist():
    sources = "".join(path.read_text() for path in (ROOT / "src" / "kairos" / "coredevice").glob("*.py"))
    missing = [cls for cls in {*CARDS, *PLACES, *IN_SCOPE, *WITHOUT_MODEL} if f"class {cls}" not in sources]
    assert not missing
