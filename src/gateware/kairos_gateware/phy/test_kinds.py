"""Every number of the descriptor has one PHY, and the description of each kind is correct."""

import pytest
from migen import Module

from kairos_gateware.contracts.descriptor import ChannelKind
from kairos_gateware.figures.phys import PHYS
from kairos_gateware.phy.kinds import KINDS, found


def test_every_number_of_the_descriptor_has_a_phy():
    assert {kind.channel for kind in KINDS.values()} == set(ChannelKind) - {ChannelKind.LOG}


def test_no_two_kinds_have_the_same_number():
    channels = [kind.channel for kind in found()]
    assert len(channels) == len(set(channels)) > 10


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
