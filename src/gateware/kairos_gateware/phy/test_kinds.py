"""Every PHY is in the list, every number of the descriptor has a PHY, and the description of each
kind is correct."""

from importlib import import_module
from pathlib import Path

import pytest
from migen import Module

from kairos_gateware import phy
from kairos_gateware.contracts.descriptor import ChannelKind
from kairos_gateware.figures.phys import PHYS
from kairos_gateware.phy.kinds import KINDS


def test_every_number_of_the_descriptor_has_a_phy():
    assert {kind.channel for kind in KINDS.values()} == set(ChannelKind) - {ChannelKind.LOG}


def test_every_phy_module_is_in_the_list():
    paths = [path for path in Path(phy.__file__).parent.glob("*.py") if not path.name.startswith(("test_", "kinds"))]
    modules = [import_module(f"kairos_gateware.phy.{path.stem}") for path in paths]
    exported = [kind for module in modules for kind in getattr(module, "KINDS", ())]
    assert len(exported) > 10
    assert {kind.name for kind in exported} - KINDS.keys() == set(), "add their modules to the list in phy/kinds.py"
    assert len(exported) == len(KINDS), "two kinds have the same number"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_defaults_are_valid_and_violated_rules_are_reported(kind):
    for parameter in kind.parameters:
        if parameter.default is not None:
            parameter.check("channel", parameter.default)
        assert (parameter.allowed is None) == (parameter.rule == ""), parameter.name


@pytest.mark.parametrize("name", PHYS)
def test_every_measured_kind_has_module_and_ports(name):
    what, module, ios = PHYS[name]()
    assert what and isinstance(module, Module) and len(ios) >= 8
