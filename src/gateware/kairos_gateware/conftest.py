"""Shared fixtures: verilated variants, built if they are not up to date; and cleanup of Migen's
state after simulations."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from migen.fhdl import tracer
from migen.sim import core as simulation

from kairos_gateware import build
from kairos_gateware.descriptor import Descriptor
from kairos_gateware.sim.library import Library, Ps


@dataclass(frozen=True)
class Built:
    """A verilated variant. registers: addresses by name, from the device's own descriptor."""

    library: Library
    registers: dict[str, int]

    def boot(self, kind=Ps, **options):
        """Returns a `Ps` (or `kind` of it) after the firmware's boot sequence. The caller closes
        it."""
        ps = kind(self.library, **options)
        ps.write(self.registers["rtio_phy_reset"], 0)
        ps.write(self.registers["initiator_ring"], Ps.BASE)
        ps.use_input_rings(self.registers["initiator_input_ring"])
        ps.write(self.registers["initiator_enable"], 1)
        for _ in range(10):
            ps.step()
        ps.changes.clear()
        return ps


@cache
def _built(variant: str) -> Built:
    root = Path(os.environ.get("KAIROS_BUILD", Path(__file__).parents[3] / "build"))
    output = root / "gateware" / variant
    assert build.main(["--variant", variant, "--board", "sim", "--output", str(output)]) == 0
    library = Library(output / "libkairos_pl.so")
    ps = Ps(library)
    registers = Descriptor.from_bytes(ps.read_descriptor()).registers
    ps.close()
    return Built(library, {register.name: register.address for register in registers})


@pytest.fixture(scope="session")
def built():
    """Returns the function from a variant's name to its `Built`."""
    return _built


@pytest.fixture(scope="session")
def library(built):
    return built("demo").library


@pytest.fixture(scope="session")
def registers(built):
    return built("demo").registers


@pytest.fixture(scope="session")
def boot(built):
    return built("demo").boot


@pytest.fixture(scope="session", autouse=True)
def forget_simulated_designs():
    """To name signals, Migen keeps every object that ever created one, and thereby all designs:
    gigabytes in these tests, and naming becomes ever slower. After a simulation they are no longer
    needed."""
    close = simulation.Simulator.close

    def close_and_forget(simulator):
        close(simulator)
        tracer.classname_to_objs.clear()
        tracer.name_to_idx.clear()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation.Simulator, "close", close_and_forget)
        yield


@pytest.fixture(autouse=True)
def forget_converted_designs():
    yield
    tracer.classname_to_objs.clear()
    tracer.name_to_idx.clear()
