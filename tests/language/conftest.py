"""Runs the kernels of language tests on an emulated device with the real firmware."""

import pytest

from kairos.coredevice.core import Core
from kairos.language import kernel, kernel_from_string, rpc


class Holder:
    """The `self` of a kernel under test: the core device and the given attributes.

    `self.keep(...)` passes values to the test that a kernel cannot return, such as new lists.
    """

    def __init__(self, core, attributes):
        self.core = core
        self.kept = None
        vars(self).update(attributes)

    @rpc
    def keep(self, *values):
        self.kept = values


@pytest.fixture(scope="module")
def core(device):
    """The core device of this test module."""
    core = Core(None, f"{device.host}:{device.port}", 1e-9)
    yield core
    core.close()


@pytest.fixture
def run(core):
    """Runs a kernel method with this body and attributes; returns its result, or the values it kept.

    `holder`, if given, is the test's own object for `self`, with the core device in `core`.
    """

    def run(body, holder=None, **attributes):
        holder = holder or Holder(core, attributes)
        result = kernel_from_string(["self"], body, decorator=kernel)(holder)
        kept = getattr(holder, "kept", None)
        return result if kept is None else kept

    run.core = core
    return run
