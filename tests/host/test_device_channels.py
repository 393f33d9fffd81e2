"""The RTIO channels of device database entries."""

from kairos.devices import DeviceDB


def entry(driver, **arguments):
    return {"type": "local", "module": "artiq.coredevice.x", "class": driver, "arguments": arguments}


def test_chip_number_is_not_an_rtio_channel():
    """A chip's number may equal the RTIO channel number of an unrelated pin."""
    database = DeviceDB(
        {
            "dds1": entry("AD9914", sysclk=3e9, bus_channel=2, channel=1),
            "mirny0_ch3": entry("ADF5356", cpld_device="mirny0_cpld", sw_device="switch", channel=3),
            "almazny0_ch0": entry("AlmaznyChannel", host_mirny="mirny0_cpld", channel=0),
            "ttl0": entry("TTLInOut", channel=0),
            "ttl1": entry("TTLInOut", channel=1),
            "servo_ch0": entry("Channel", channel=3, servo_device="servo"),
            "count": "ttl1",
        }
    )
    assert database.channel_names() == {0: "ttl0", 1: "ttl1", 3: "servo_ch0"}
    assert [database.channel_of(name) for name in ("dds1", "count", "nobody")] == [None, 1, None]
