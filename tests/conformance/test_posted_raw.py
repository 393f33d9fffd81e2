"""A failing posted output, on gateware that does not push inputs: an input reply does not hide the failure."""

import dataclasses

import pytest
from kairos_gateware.boards import emulator
from kairos_gateware.variants import VARIANTS
from kairos_gateware.verilated import verilate

from tests.support.kernels import kernel
from tests.support.raw_session import Session

pytestmark = pytest.mark.long
UNDERFLOW = 0


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """The gateware `demo`, but with input events polled by the CPU."""
    top = emulator.KairosSim(dataclasses.replace(VARIANTS["demo"], push_inputs=False))
    with verilate.building_alone(tmp_path_factory.mktemp("asked")) as output:
        (output / f"{emulator.TOP}.v").write_text(emulator.generate(top))
        return verilate.compile_library(output, emulator.TOP, "asked", top.pads)


def test_input_after_failed_posted_output_raises(asked, start_device, tmp_path):
    """The port is slower than the margin of posting allows: 16 us."""
    device = start_device(tmp_path, gateware=asked, settings=["acp_read_latency=2000"])
    try:
        with Session(device) as session:
            assert session.load(kernel("posted")) is None
            session.run()
            requests, exception = session.until_end()
    finally:
        device.close()
    assert requests == [] and exception is not None
    (raised,) = exception.exceptions
    assert raised["id"] == UNDERFLOW and raised["params"][0] == 4
    assert "channel 0x0004:ttl4" in raised["message"]
