"""ARTIQ's clients of a core device, as scripts of laboratories use them, against the emulated one."""

import io

import pytest

from kairos import compat
from tests.support.kernels import kernel, marks
from tests.support.raw_session import Session


@pytest.fixture(scope="module", autouse=True)
def artiq():
    compat.install()


def test_management(device):
    from artiq.coredevice.comm_mgmt import CommMgmt

    mgmt = CommMgmt(device.host, device.ports[1380])
    mgmt.open()
    try:
        assert "kairos" in mgmt.get_log().lower()
        mgmt.clear_log()
        mgmt.config_write("some_key", b"some value")
    except Exception as error:
        assert "card" in str(error) or "write" in str(error), error  # this device has no card
    finally:
        mgmt.close()


def test_analyzer(device):
    from artiq.coredevice.comm_analyzer import (
        OutputMessage,
        StoppedMessage,
        decode_dump,
        decoded_dump_to_vcd,
        get_analyzer_dump,
    )

    get_analyzer_dump(device.host, device.ports[1382])
    with Session(device) as session:
        assert session.load(kernel("rtio")) is None
        session.run()
        assert marks(session.until_end()[0]) == [1]
    dump = decode_dump(get_analyzer_dump(device.host, device.ports[1382]))
    *outputs, stopped = dump.messages
    assert isinstance(stopped, StoppedMessage) and dump.dds_onehot_sel and not dump.error
    assert {type(one) for one in outputs} == {OutputMessage}
    assert [(one.channel, one.data) for one in outputs] == [(4, data) for data in (1, 0, 1, 0)]

    devices = {
        "core": {"type": "local", "arguments": {"ref_period": 1e-9}},
        "led": {"type": "local", "class": "TTLOut", "arguments": {"channel": 4}},
        "button": {"type": "local", "class": "TTLInOut", "arguments": {"channel": 0}},
        "alias": "led",
    }
    file = io.StringIO()
    decoded_dump_to_vcd(file, devices, dump)
    text = file.getvalue()
    assert "$timescale 1 ns $end" in text and " led $end" in text and " rtio_slack $end" in text
    (identifier,) = [line.split()[3] for line in text.splitlines() if line.endswith(" led $end")]
    changes, time = [], 0
    for line in text.partition("$dumpvars")[2].splitlines():
        if line.startswith("#"):
            time = int(line[1:])
        elif line[1:] == identifier and line[0] in "01":
            changes.append((time, int(line[0])))
    start = outputs[0].timestamp
    assert changes == [(one.timestamp - start, one.data) for one in outputs]


def test_a_broken_dump_is_refused(device):
    from artiq.coredevice.comm_analyzer import decode_dump, get_analyzer_dump

    data = get_analyzer_dump(device.host, device.ports[1382])
    for broken, text in ((data[:-1], "not whole"), (b"E" + data[1:], "no dump"), (b"", "no dump")):
        with pytest.raises(Exception, match=text):
            decode_dump(broken)
