"""Facts about cards stand in src/contracts/cards; a part that forgets one of them is found here. That each kind with a
model has its `Section` in the bench is found by the compiler."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from kairos.contracts.cards import CARDS, CHANNEL_DRIVERS, PLACES, SCOPE, WIRING, WITHOUT_MODEL
from kairos.emulator.cards import DERIVED
from kairos.scope.chips import arguments_of, described

ROOT = Path(__file__).parents[2]
DRIVERS = ROOT / "src" / "kairos" / "coredevice"


def parameters(driver: str) -> set[str]:
    """Return the arguments of the driver class of a device database."""
    modules = [path.stem for path in DRIVERS.glob("*.py") if f"class {driver}" in path.read_text()]
    classes = [getattr(import_module(f"kairos.coredevice.{module}"), driver, None) for module in modules]
    (cls,) = {cls for cls in classes if cls is not None}
    return {name for base in cls.__mro__[:-1] for name in inspect.signature(base).parameters}


def test_derived_cards_are_completed_by_the_emulator():
    assert DERIVED.keys() == {wiring["derived"] for wiring in WIRING.values() if "derived" in wiring}


@pytest.mark.parametrize("driver", SCOPE)
def test_driver_in_scope_has_a_description_and_arguments(driver):
    assert callable(described(driver).text)
    assert arguments_of(driver, {"core": 1}, {})["core"] == 1


def test_every_description_of_a_chip_is_used():
    modules = {path.stem for path in (ROOT / "src/kairos/scope/chips").glob("[!_]*.py")} - {"common"}
    assert modules <= {scope["chip"] for scope in SCOPE.values()}


@pytest.mark.parametrize("driver", sorted({*PLACES, *WIRING}))
def test_wiring_and_places_name_arguments_of_the_driver(driver):
    wiring, (bus, chip) = WIRING.get(driver, {}), PLACES.get(driver, (None, None))
    named = {*wiring.get("lines", {}).values(), *wiring.get("channels", {}).values()}
    named |= {argument for argument, _ in wiring.get("settings", {}).values()} | {bus, chip} - {None}
    assert named <= parameters(driver)


@pytest.mark.parametrize("kind, driver", CHANNEL_DRIVERS.items(), ids=str)
def test_driver_of_channels_takes_its_arguments(kind, driver):
    module = import_module(f"kairos.coredevice.{driver['module']}")
    for name in driver["classes"]:
        known = inspect.signature(getattr(module, name).__init__).parameters
        assert {driver["argument"], *driver["parameters"]} <= known.keys(), (kind, name)


@pytest.mark.parametrize("driver", sorted({*CARDS, *SCOPE, *WITHOUT_MODEL}))
def test_driver_of_a_card_exists(driver):
    assert parameters(driver)
