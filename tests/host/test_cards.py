"""The cards of a device database, as passed to the emulator's bench."""

from kairos.emulator.cards import cards, doubled, lacking, pins


def entry(driver, **arguments):
    return {"type": "local", "module": "artiq.coredevice.x", "class": driver, "arguments": arguments}


DATABASE = {
    "core": entry("Core", host="emulator://lab"),
    "spi": entry("SPIMaster", channel=20),
    "update": entry("TTLOut", channel=22),
    "switch": entry("TTLOut", channel=25),
    "cpld": entry("CPLD", spi_device="spi", io_update_device="update", refclk=10e6, clk_sel=1, proto_rev=8),
    "card": "cpld",
    "beam": entry("AD9912", chip_select=6, cpld_device="card", sw_device="switch"),
    "dds_729": "beam",
    "camera": entry("CXPGrabber", channel=30),
}


def test_card_position_follows_its_drivers():
    assert cards(DATABASE) == [
        {
            "kind": "urukul",
            "device": "cpld",
            "channels": {"spi": 20, "io_update": 22, "sw2": 25},
            "settings": {"dds": "ad9912", "proto_rev": 8, "sma_hz": 10e6},
        },
        {"kind": "cxp", "device": "camera", "channels": {"spi": 30}, "settings": {}},
    ]
    assert lacking(DATABASE) == {}


def test_pins_have_names_and_aliases_of_the_database():
    odd = {
        "laser": "switch",
        "circle": "circle",
        "far": entry("TTLInOut", channel=1 << 16 | 3),
        "none": entry("TTLOut"),
    }
    assert pins(DATABASE | odd) == {"update": 22, "switch": 25, "laser": 25, "far": 0x10003}


def test_servo_cards_have_the_servo_lines():
    database = {
        "pgia": entry("SPIMaster", channel=9),
        "spi": entry("SPIMaster", channel=15),
        "sync": entry("TTLClockGen", channel=14),
        "servo": entry("SUServo", channel=8, pgia_device="pgia", cpld_devices=["other", "cpld"], sampler_hw_rev="v2.1"),
        "cpld": entry("CPLD", spi_device="spi", sync_device="sync"),
    }
    sampler, urukul = sorted(cards(database), key=lambda card: card["kind"])
    assert sampler["channels"] == {"pgia": 9, "servo": 8} and sampler["settings"] == {"hw_rev": "v2.1"}
    assert urukul["channels"] == {"spi": 15, "sync": 14, "nu1": 8, "sw0": 4, "sw1": 5, "sw2": 6, "sw3": 7}


def test_synthesisers_dacs_and_grabbers_are_recognised():
    database = {
        "spi": entry("SPIMaster", channel=20),
        "switch": entry("TTLOut", channel=25),
        "mirny": entry("Mirny", spi_device="spi", refclk=125e6, clk_sel=2),
        "channel": entry("ADF5356", cpld_device="mirny", sw_device="switch", channel=3),
        "on_top": entry("AlmaznyChannel", host_mirny="mirny", channel=3),
        "dac": entry("Fastino", channel=30),
        "grabber": entry("Grabber", channel_base=31),
    }
    found = {card["kind"]: card for card in cards(database)}
    assert found["mirny"]["channels"] == {"spi": 20, "sw3": 25}
    assert found["mirny"]["settings"] == {"clocks_hz": [0.0, 0.0, 125e6, 0.0], "almazny": "v1.2"}
    assert (found["fastino"]["channels"], found["grabber"]["channels"]) == ({"spi": 30}, {"spi": 31})


def test_buses_links_and_card_with_two_drivers_are_recognised():
    database = {
        "relays": entry("SPIMaster", channel=3),
        "measures": entry("SPIMaster", channel=4),
        "others": entry("SPIMaster", channel=5),
        "dds": entry("AD9914", sysclk=2.4e9, bus_channel=2, channel=0),
        "phaser0": entry("Phaser", channel_base=40),
        "shuttler1_adc": entry("ADC", spi_device="others"),
        "shuttler0_adc": entry("ADC", spi_device="measures"),
        "shuttler0_relay": entry("Relay", spi_device="relays"),
    }
    found = {card["kind"]: card for card in cards(database)}
    assert (found["ddsbus"]["channels"], found["ddsbus"]["settings"]) == ({"bus": 2}, {"clock_hz": 2.4e9})
    assert found["phaser"]["channels"] == {"spi": 40}
    assert found["shuttler"]["channels"] == {"relay": 3, "adc": 4}


def test_shuttler_is_one_card_with_and_without_relays():
    database = {
        "relays": entry("SPIMaster", channel=3),
        "measures": entry("SPIMaster", channel=4),
        "shuttler1_config": entry("Config", channel=80),
        "shuttler0": entry("Config", channel=10),
        "shuttler0_relay": entry("Relay", spi_device="relays"),
        "shuttler1_adc": entry("ADC", spi_device="measures"),
        "shuttler0_dcbias3": entry("DCBias", channel=15),
    }
    found = {card["device"]: card["channels"] for card in cards(database)}
    assert found == {
        "shuttler1_config": {"config": 80, "adc": 4},
        "shuttler0_relay": {"config": 10, "relay": 3, "adc": 4},
    }
    # Names without a common prefix.
    single = {"gains": entry("Config", channel=10), "spi": entry("SPIMaster", channel=3)}
    assert [card["channels"] for card in cards(single)] == [{"config": 10}]
    single["relay"] = entry("Relay", spi_device="spi")
    assert [(card["device"], card["channels"]) for card in cards(single)] == [("relay", {"config": 10, "relay": 3})]


def test_single_dacs_on_a_bus_are_recognised():
    database = {
        "spi": entry("SPIMaster", channel=20),
        "update": entry("TTLOut", channel=21),
        "near": entry("AD53xx", spi_device="spi", ldac_device="update", vref=3),
        "far": entry("AD53xx", spi_device="spi", chip_select=4),
        "all": entry("AD53xx", spi_device="spi", chip_select=0),
    }
    assert [(card["kind"], card["channels"], card["settings"]) for card in cards(database)] == [
        ("ad53xx", {"spi": 20, "ldac": 21}, {"vref": 3.0, "select": 0}),
        ("ad53xx", {"spi": 20}, {"select": 2}),
        ("ad53xx", {"spi": 20}, {}),
    ]
    assert lacking(database) == {}


def test_adc_dds_and_attenuator_are_recognised():
    database = {
        "spi": entry("SPIMaster", channel=20),
        "pulse": entry("TTLOut", channel=21),
        "others": entry("SPIMaster", channel=22),
        "more": entry("SPIMaster", channel=23),
        "adc": entry("Novogorny", spi_device="spi", cnv_device="pulse"),
        "dds": entry("AD9834", spi_device="others", clk_freq=50e6),
        "att": entry("HMC542B", spi_device="more"),
    }
    assert [(card["kind"], card["channels"], card["settings"]) for card in cards(database)] == [
        ("novogorny", {"adc": 20, "cnv": 21}, {}),
        ("ad9834", {"spi": 22}, {"clock_hz": 50e6}),
        ("hmc542b", {"spi": 23}, {}),
    ]
    assert lacking(database) == {}


def test_chip_with_two_drivers_is_recognised():
    database = DATABASE | {
        "again": entry("AD9910", chip_select=6, cpld_device="card"),
        "another": entry("AD9910", chip_select=7, cpld_device="cpld"),
        "parallel0": entry("AD9914", sysclk=3e9, bus_channel=2, channel=1),
        "parallel1": entry("AD9914", sysclk=3e9, bus_channel=2, channel=1),
        "parallel2": entry("AD9914", sysclk=3e9, bus_channel=3, channel=1),
    }
    alone = {
        "spi": entry("SPIMaster", channel=1),
        "dds": entry("AD9834", spi_device="spi"),
        "att": entry("HMC542B", spi_device="spi"),
    }
    assert doubled(alone) == ["dds, att drive one chip: the one on spi"]
    assert doubled(database) == [
        "beam, again drive one chip: chip_select 6 of cpld",
        "parallel0, parallel1 drive one chip: channel 1 of bus_channel 2",
    ]


def test_invalid_database_entry_is_left_to_its_driver():
    strange = {
        "a": "b",
        "b": "a",
        "c": 5,
        "d": {"class": "CPLD"},
        "e": entry("CPLD", spi_device="a", proto_rev=7, refclk="fast", clk_sel=9),
        "f": entry("AD9910", chip_select="x", cpld_device="e"),
        "g": entry("SUServo", cpld_devices=7, channel="x"),
        "h": entry("Mirny", refclk="fast", clk_sel="xo"),
        "i": entry("CPLD", spi_device="j", refclk=float("inf")),
        "j": entry("SPIMaster", channel=-12),
        "k": entry("Fastino", channel=1 << 32),
        "l": entry("SUServo", cpld_devices=["e"], channel=-1),
    }
    assert [card["settings"] for card in cards(strange)] == [{}] * 7
    assert [card["channels"] for card in cards(strange)] == [{}] * 7
