"""ARTIQ's core device clients, as used by scripts of laboratories, on the emulated device."""

import io

import pytest

from kairos import compat
from kairos.errors import ConnectionLost, DeviceUnreachable
from tests.support import TIMEOUT
from tests.support.kernels import kernel, marks
from tests.support.raw_session import Session


@pytest.fixture(scope="module", autouse=True)
def artiq():
    compat.install()


def test_management_client_reads_log_and_configuration(device):
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


def test_analyzer_client_decodes_dump_to_vcd(device):
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


def test_moninj_client_reports_probes_and_disconnection(device):
    import asyncio

    from artiq.coredevice.comm_moninj import CommMonInj, TTLOverride, TTLProbe

    probes, overrides, gone = [], [], []

    async def reported(condition):
        async with asyncio.timeout(TIMEOUT):
            while not condition():
                await asyncio.sleep(0.01)

    async def whole():
        comm = CommMonInj(
            lambda *values: probes.append(values), lambda *values: overrides.append(values), lambda: gone.append(1)
        )
        with pytest.raises(ConnectionLost, match="is not connected"):
            comm.inject(4, 0, 0)
        await comm.connect(device.host, device.ports[1383])
        comm.monitor_probe(True, 4, TTLProbe.level)
        comm.monitor_injection(True, 4, TTLOverride.en.value)
        await reported(lambda: (4, 0, 0) in probes and (4, 0, 0) in overrides)
        comm.inject(4, TTLOverride.level.value, 1)
        comm.inject(4, TTLOverride.en.value, 1)
        await reported(lambda: (4, 0, 1) in probes and (4, 0, 1) in overrides)
        comm.get_injection_status(4, TTLOverride.level)
        await reported(lambda: (4, 1, 1) in overrides)
        comm.inject(4, TTLOverride.en, 0)
        comm.inject(4, TTLOverride.level, 0)
        await reported(lambda: probes[-1] == (4, 0, 0))
        comm.monitor_probe(False, 4, TTLProbe.level)
        await comm.close()
        await comm.close()
        assert not gone
        await comm.connect(device.host, device.ports[1383])
        comm._writer.write(b"\x63")  # not a valid request: the device closes the connection
        await reported(lambda: gone)
        await comm.close()
        with pytest.raises(DeviceUnreachable, match="is the device on"):
            await CommMonInj(None, None).connect("127.0.0.1", 1)

    asyncio.run(whole())


def test_damaged_analyzer_dump_is_rejected(device):
    from artiq.coredevice.comm_analyzer import decode_dump, get_analyzer_dump

    data = get_analyzer_dump(device.host, device.ports[1382])
    for broken, text in (
        (data[:-1], "is truncated"),
        (b"E" + data[1:], "not an analyzer dump"),
        (b"", "not an analyzer dump"),
    ):
        with pytest.raises(Exception, match=text):
            decode_dump(broken)
