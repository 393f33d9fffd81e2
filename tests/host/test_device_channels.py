"""The RTIO channels of device database entries."""

from kairos.devices import DeviceDB, core_of, devices_on


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


def test_device_belongs_to_the_core_of_its_bus():
    entries = {
        "alice": entry("Core", host="10.0.0.1"),
        "bob": entry("Core", host="10.0.0.2"),
        "core": "alice",
        "spi": entry("SPIMaster", channel=0),
        "bob_spi": entry("SPIMaster", channel=0, core_device="bob"),
        "bob_cpld": entry("CPLD", spi_device="bob_bus"),
        "bob_bus": "bob_spi",
        "bob_dds": entry("AD9910", chip_select=4, cpld_device="bob_cpld"),
        "synthesiser": entry("ADF5356", channel=0, cpld_device="nobody", core="bob"),
        "ring": entry("CPLD", spi_device="ring"),
        "laser": {"type": "controller", "host": "bob"},
        "rubbish": 7,
    }
    bobs = {name for name in entries if core_of(entries, name) == "bob"} - {"alice", "bob"}
    assert bobs == {"bob_spi", "bob_cpld", "bob_bus", "bob_dds", "synthesiser"}
    assert entries.keys() - devices_on(entries, "10.0.0.1").keys() == bobs
    assert devices_on(entries, "10.0.0.2").keys() == bobs | {"alice", "bob"}
    assert devices_on(entries, "elsewhere").keys() == devices_on(entries, "10.0.0.1").keys()
    assert DeviceDB(entries).channel_names() == {0: "spi"}
