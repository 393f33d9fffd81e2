"""System descriptions: errors are reported in one line with the location; channels are in ARTIQ's
order."""

import json
from pathlib import Path

import pytest

from kairos_gateware.description import DescriptionError, check, load, make_variant
from kairos_gateware.description.peripherals import PERIPHERALS
from kairos_gateware.device_db import device_db
from kairos_gateware.phy.kinds import make_phys
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.variants import VARIANTS

LAB = Path(__file__).parent / "lab.json"
ALL = Path(__file__).parent / "all.json"
SERVO = Path(__file__).parent / "servo.json"
PULSE = Path(__file__).parent / "pulse8_kasli.json"


def make(*peripherals, **fields):
    return {"target": "kasli_soc", "variant": "x", "hw_rev": "v1.1", "peripherals": list(peripherals)} | fields


def names(*peripherals):
    return [channel.name for channel in make_variant(check(make(*peripherals))).channels]


DIO = {"type": "dio", "ports": [0], "bank_direction_low": "input", "bank_direction_high": "clkgen"}
URUKUL = {"type": "urukul", "ports": [1, 2]}
SERVO_URUKUL = [("ttl", "_io_update"), ("ttl", "_sync"), ("spi", "")]


def test_missing_fields_of_a_description_get_defaults():
    filled = check(make(URUKUL))
    assert (filled["core_addr"], filled["sed_lanes"]) == ("192.168.1.70", 8)
    assert filled["peripherals"][0]["proto_rev"] == 9
    pushed = [make_variant(check(make(URUKUL, **fields))).push_inputs for fields in [{}, {"push_inputs": False}]]
    assert pushed == [True, False]


def test_channels_are_numbered_in_the_order_of_artiq():
    assert names(DIO) == [f"ttl{i}" for i in range(8)] + ["led0", "led1", "rtio_log"]
    assert names(DIO | {"edge_counter": True})[8:12] == [f"ttl{i}_counter" for i in range(4)]
    assert names(URUKUL, DIO)[:7] == [
        "spi_urukul0",
        "ttl_urukul0_io_update",
        *(f"ttl_urukul0_sw{i}" for i in range(4)),
        "ttl0",
    ]
    one = URUKUL | {"ports": [5], "synchronization": True}
    assert names(one)[:3] == ["spi_urukul0", "ttl_urukul0_sync", "ttl_urukul0_io_update"]
    assert names({"type": "mirny", "ports": [3]})[:5] == ["spi_mirny0", *(f"ttl_mirny0_sw{i}" for i in range(4))]
    servo = {"type": "suservo", "sampler_ports": [0, 1], "urukul_ports": [[2, 3]]}
    assert names(servo)[:7] == [
        *(f"suservo0_ch{i}" for i in range(4)),
        "suservo0",
        "spi_sampler0_pgia",
        "spi_urukul0",
    ]
    both = {"urukul0_ports": [4, 5], "urukul1_ports": [6, 7], "synchronization": True}
    assert names(URUKUL, {"type": "suservo", "sampler_ports": [8, 9]} | both)[6:22] == [
        *(f"suservo0_ch{i}" for i in range(8)),
        "suservo0",
        "spi_sampler0_pgia",
        *(f"{name}_urukul{i}{rest}" for i in [1, 2] for name, rest in SERVO_URUKUL),
    ]
    spi = {"type": "dio_spi", "ports": [3], "spi": [{"clk": 0, "mosi": 1, "cs": [2]}]}
    assert names(spi | {"ttl": [{"pin": 4, "direction": "input", "edge_counter": True}]})[:3] == [
        "dio_spi0",
        "ttl0",
        "ttl0_counter",
    ]


@pytest.mark.parametrize(
    "card, channels, devices",
    [
        (
            {"type": "sampler", "hw_rev": "v2.1"},
            ["spi_sampler0_adc", "spi_sampler0_pgia", "ttl_sampler0_cnv"],
            {
                "sampler0": (
                    "sampler.Sampler",
                    {
                        "spi_adc_device": "spi_sampler0_adc",
                        "spi_pgia_device": "spi_sampler0_pgia",
                        "cnv_device": "ttl_sampler0_cnv",
                        "hw_rev": "v2.1",
                    },
                ),
                "spi_sampler0_adc": ("spi2.SPIMaster", {"channel": 0}),
            },
        ),
        (
            {"type": "zotino", "pins": {"ldac": 5, "clr": 6}},
            ["spi_zotino0", "ttl_zotino0_ldac", "ttl_zotino0_clr"],
            {
                "zotino0": (
                    "zotino.Zotino",
                    {
                        "spi_device": "spi_zotino0",
                        "ldac_device": "ttl_zotino0_ldac",
                        "clr_device": "ttl_zotino0_clr",
                    },
                ),
                "ttl_zotino0_clr": ("ttl.TTLOut", {"channel": 2}),
            },
        ),
        (
            {"type": "novogorny", "pins": {"cnv": 5}},
            ["spi_novogorny0_adc", "ttl_novogorny0_cnv"],
            {
                "novogorny0": (
                    "novogorny.Novogorny",
                    {"spi_device": "spi_novogorny0_adc", "cnv_device": "ttl_novogorny0_cnv"},
                )
            },
        ),
        (
            {"type": "hvamp"},
            [f"ttl_hvamp0_sw{i}" for i in range(8)],
            {"ttl_hvamp0_sw7": ("ttl.TTLOut", {"channel": 7})},
        ),
        (
            {"type": "fastino", "log2_width": 5},
            ["fastino0"],
            {"fastino0": ("fastino.Fastino", {"channel": 0, "log2_width": 5})},
        ),
        (
            {"type": "phaser"},
            ["phaser0", "phaser0_frequency0", "phaser0_output0", "phaser0_frequency1", "phaser0_output1"],
            {"phaser0": ("phaser.Phaser", {"channel_base": 0, "gw_rev": 1})},
        ),
        (
            {"type": "phaser", "mode": "miqro"},
            ["phaser0", "phaser0_pulses0", "phaser0_pulses1"],
            {"phaser0": ("phaser.Phaser", {"channel_base": 0, "gw_rev": 2})},
        ),
        (
            {"type": "grabber", "rois": 3},
            ["grabber0", "grabber0_gate"],
            {"grabber0": ("grabber.Grabber", {"channel_base": 0})},
        ),
    ],
    ids=lambda value: value.get("type") if isinstance(value, dict) else None,
)
def test_card_gives_its_channels_drivers_and_pairs(card, channels, devices):
    """Channels in their order, drivers with their arguments; every pair exists, and is used
    once."""
    variant = make_variant(check(make(card | {"ports": [4]})))
    assert [channel.name for channel in variant.channels] == [*channels, "led0", "led1", "rtio_log"]
    db = device_db(variant, "x")
    for name, (driver, arguments) in devices.items():
        assert db[name]["module"] + "." + db[name]["class"] == f"artiq.coredevice.{driver}"
        assert db[name]["arguments"] == arguments
    pins = [pad.pin for phy in make_phys(variant.channels).values() for pad in phy.pads]
    assert len(set(pins)) == len(pins)
    assert {pin for pin in pins if pin.startswith("eem")} <= {f"eem4:d{i}" for i in range(8)}


def test_cards_without_pins_use_those_of_the_card():
    """Pairs of the cards' connectors: LDAC and CLR of a Zotino, CNV of a Novogorny, the rate of a Sampler's ADC."""
    cards = [{"type": "zotino", "ports": [4]}, {"type": "novogorny", "ports": [5]}, {"type": "sampler", "ports": [6]}]
    pins = {c.name: c.pins for c in make_variant(check(make(*cards))).channels}
    assert pins["ttl_zotino0_ldac"] == ("eem4:d5",) and pins["ttl_zotino0_clr"] == ("eem4:d7",)
    assert pins["ttl_novogorny0_cnv"] == ("eem5:d5",) and pins["ttl_sampler0_cnv"] == ("eem6:d3",)


@pytest.mark.parametrize("fields, count", [({}, 16), ({"rois": 3}, 3), ({"roi_engine_count": 5}, 5)])
def test_grabber_has_the_described_number_of_regions(fields, count):
    channels = make_variant(check(check(make({"type": "grabber", "ports": [4]} | fields)))).channels
    assert channels[0].parameters["rois"] == count


def test_explicit_pins_of_a_card_are_used():
    card = {"type": "zotino", "ports": [4], "pins": {"ldac": 6, "clr": 5, "miso": 7}}
    pins = {c.name: c.pins for c in make_variant(check(make(card))).channels}
    assert pins["ttl_zotino0_ldac"] == ("eem4:d6",) and pins["ttl_zotino0_clr"] == ("eem4:d5",)
    assert pins["spi_zotino0"] == tuple(f"eem4:d{i}" for i in [0, 1, 7, 3, 4])


def test_pins_of_a_servo_follow_the_revision_of_its_cards():
    """From revision 9 on the chips' answers use the pair of the servo's clock, and the clock that
    of the select."""
    servo = {"type": "suservo", "sampler_ports": [0, 1], "urukul_ports": [[2, 3]]}
    lanes = [f"eem3:d{i}" for i in range(4)]
    for revision, clock, bus in [(8, [2, 5], [0, 1, 3, 4]), (9, [5], [0, 1, 2, 3, 4])]:
        channels = make_variant(check(make(servo | {"proto_rev": revision}))).channels
        phys = {spec.name: phy for spec, phy in zip(channels, make_phys(channels).values(), strict=False)}
        pins = {pad.name: pad.pin for pad in phys["suservo0"].pads if "urukul0" in pad.name}
        assert list(pins.values()) == [f"eem2:d{i}" for i in clock] + lanes + ["eem2:d6"]
        assert pins["suservo0_urukul0_clk"] == f"eem2:d{clock[0]}"
        assert ("suservo0_urukul0_cs" in pins) == (revision == 8)
        pads = [(pad.name.removeprefix("spi_urukul0_"), pad.pin) for pad in phys["spi_urukul0"].pads]
        names = ["clk", "mosi", *(["miso"] if revision == 9 else []), "cs0", "cs1"]
        assert pads == [(name, f"eem2:d{place}") for name, place in zip(names, bus, strict=True)]


def test_urukul_without_synchronization_holds_its_pair_low():
    synchronised, servo = {"synchronization": True}, {"type": "suservo", "sampler_ports": [4, 5]}
    for card, low in [
        (URUKUL, ("eem1:d7",)),
        (URUKUL | {"dds": "ad9912"}, ("eem1:d7",)),
        (URUKUL | synchronised, ()),
        (servo | {"urukul_ports": [[2, 3], [6, 7]]}, ("eem2:d7", "eem6:d7")),
        (servo | synchronised | {"urukul_ports": [[2, 3]]}, ()),
    ]:
        assert make_variant(check(make(card))).low == low


def test_sampler_is_held_in_single_data_rate():
    phys = make_phys(make_variant(check(make({"type": "sampler", "ports": [4]}))).channels)
    assert [(pad.name, pad.direction, pad.pin) for pad in phys[0].pads] == [
        ("spi_sampler0_adc_clk", "out", "eem4:d0"),
        ("spi_sampler0_adc_miso", "in", "eem4:d1"),
        ("spi_sampler0_adc_high0", "out", "eem4:d2"),
    ]
    rate = phys[0].pads[2]

    def bench():
        yield
        assert ((yield rate.o), (yield rate.oe)) == (0xFF, 1)

    run_simulation(phys[0], bench())


def test_every_kind_of_card_is_in_an_example():
    """A servo and a pulse core use so many ports that they have examples of their own."""
    paths = [ALL, SERVO, PULSE]
    cards = [card for path in paths for card in load(path)["peripherals"]]
    assert {card["type"] for card in cards} == set(PERIPHERALS)
    for path in paths:
        channels = make_variant(load(path)).channels
        assert len(make_phys(channels)) == len(channels) - 1


def test_device_database_refers_to_existing_devices_and_channels():
    variant = make_variant(load(LAB))
    db = device_db(variant, "10.0.0.1")
    assert db["core"]["arguments"] == {
        "host": "10.0.0.1",
        "ref_period": 1e-9,
        "ref_multiplier": 8,
        "target": "cortexa9",
        "analyzer_proxy": "core_analyzer",
    }
    assert db["ttl0"]["class"] == "TTLInOut" and db["ttl4"]["class"] == "TTLOut"
    assert db["ttl12"] == {
        "type": "local",
        "module": "artiq.coredevice.ttl",
        "class": "TTLClockGen",
        "arguments": {"channel": 16},
    }
    assert db["ttl_urukul0_sync"]["arguments"] == {"channel": 21, "acc_width": 4}
    assert db["ttl1_counter"]["module"] == "artiq.coredevice.edge_counter"
    assert db["urukul0_ch2"]["class"] == "AD9910"
    assert db["urukul0_ch2"]["arguments"]["chip_select"] == 6
    # Devices named in arguments exist
    for entry in db.values():
        for key, value in entry.get("arguments", {}).items():
            if key.endswith("_device"):
                assert value in db, value
    # Every channel of the database is the channel of that name
    for number, channel in enumerate(variant.channels):
        if channel.name in db:
            key = "channel_base" if channel.kind in ("grabber", "phaser") else "channel"
            assert db[channel.name]["arguments"][key] == number


def test_database_entries_equal_those_of_artiq():
    """Arguments that are always named, whatever the card's fields; descriptions that both read
    specify `clk_sel`."""
    for path in [LAB, ALL, SERVO]:
        for card in json.loads(path.read_text())["peripherals"]:
            assert card["type"] not in ("urukul", "suservo") or "clk_sel" in card
    cards = [
        {"type": "urukul", "ports": [0]},
        {"type": "urukul", "ports": [1], "synchronization": True},
        {"type": "sampler", "ports": [2]},
        {"type": "novogorny", "ports": [3], "pins": {"cnv": 5}},
        {"type": "suservo", "sampler_ports": [4, 5], "urukul_ports": [[6, 7]]},
    ]
    db = device_db(make_variant(check(make(*cards))), "x")
    arguments = {name: entry["arguments"] for name, entry in db.items() if "arguments" in entry}
    assert arguments["urukul0_cpld"]["sync_device"] is None
    assert arguments["urukul1_cpld"]["sync_device"] == "ttl_urukul1_sync"
    assert arguments["urukul2_cpld"]["sync_device"] is None
    assert arguments["sampler0"]["hw_rev"] == "v2.2"
    assert arguments["novogorny0"] == {"spi_device": "spi_novogorny0_adc", "cnv_device": "ttl_novogorny0_cnv"}


def test_parameter_of_a_card_selects_its_driver():
    db = device_db(VARIANTS["cards"], "x")
    channels = {spec.name: number for number, spec in enumerate(VARIANTS["cards"].channels)}
    drivers = {"shuttler0": "Config", "shuttler0_trigger": "Trigger"}
    drivers |= {f"shuttler0_{name}{n}": cls for name, cls in [("dcbias", "DCBias"), ("dds", "DDS")] for n in (0, 15)}
    for name, cls in drivers.items():
        assert (db[name]["module"], db[name]["class"]) == ("artiq.coredevice.shuttler", cls)
        assert db[name]["arguments"] == {"channel": channels[name]}


def test_servo_database_names_its_cards_and_channels():
    db = device_db(VARIANTS["servo"], "10.0.0.1")
    servo = db["suservo0"]
    assert (servo["module"], servo["class"]) == ("artiq.coredevice.suservo", "SUServo")
    assert servo["arguments"] == {
        "channel": 8,
        "pgia_device": "spi_sampler0_pgia",
        "cpld_devices": ["urukul0_cpld", "urukul1_cpld"],
        "dds_devices": ["urukul0_dds", "urukul1_dds"],
        "sampler_hw_rev": "v2.2",
    }
    assert db["suservo0_ch5"]["class"] == "Channel"
    assert db["suservo0_ch5"]["arguments"] == {"channel": 5, "servo_device": "suservo0"}
    assert (db["urukul1_dds"]["class"], db["urukul1_dds"]["arguments"]["pll_n"]) == ("SharedDDS", 32)
    for entry in db.values():
        for key, value in entry.get("arguments", {}).items():
            if key.endswith(("_device", "_devices")):
                assert all(name in db for name in (value if isinstance(value, list) else [value])), value


@pytest.mark.parametrize(
    "variant", [VARIANTS["lab"], VARIANTS["servo"], make_variant(load(ALL))], ids=["lab", "servo", "all"]
)
def test_each_pin_of_a_variant_is_used_once(variant):
    phys = make_phys(variant.channels)
    pins = [pad.pin for phy in phys.values() for pad in phy.pads]
    assert None not in pins and len(set(pins)) == len(pins)


@pytest.mark.parametrize(
    "description, text",
    [
        (make(hw_rev="v9"), "description: hw_rev: 'v9' is not one of ['v1.0', 'v1.1', 'v1.2']"),
        (make(colour="red"), "description: top level: Additional properties are not allowed ('colour' was unexpected)"),
        (make(target="kasli"), "description: target: 'kasli' is not one of ['kasli_soc', 'zc706', 'efc', 'phaser']"),
        (
            make({"type": "toaster"}),
            "description: peripherals[0]: cards of type 'toaster' are not supported (only coaxpress_sfp, dio, ",
        ),
        (
            make(DIO, URUKUL | {"dds": "ad9912", "synchronization": True}),
            "description: peripherals[1] (urukul).synchronization: AD9912s have none",
        ),
        (make(DIO, URUKUL | {"dds": 1}), "description: peripherals[1] (urukul).dds: 1 is not one of "),
        (
            make(DIO | {"prots": [1]}),
            "description: peripherals[0] (dio): Additional properties are not allowed ('prots'",
        ),
        (make({"type": "dio", "ports": [0]}), "description: peripherals[0] (dio): 'bank_direction_low' is a required"),
        (
            make(DIO | {"ports": [12]}),
            "description: peripherals[0] (dio).ports[0]: 12 is greater than the maximum of 11",
        ),
        (make(DIO, DIO), "description: peripherals[1] (dio): port 0 is already used by peripherals[0] (dio)"),
        (
            make(URUKUL, {"type": "suservo", "sampler_ports": [4, 5], "urukul_ports": [[6, 7], [2, 3]]}),
            "description: peripherals[1] (suservo): port 2 is already used by peripherals[0] (urukul)",
        ),
        (
            make({"type": "suservo", "sampler_ports": [4, 5], "urukul_ports": [[6, 7, 8]]}),
            "description: peripherals[0] (suservo).urukul_ports[0]: [6, 7, 8] is too long",
        ),
        (
            make({"type": "suservo", "sampler_ports": [4, 5]}),
            "description: peripherals[0] (suservo): 'urukul_ports' is a required property",
        ),
        (
            make(drtio_role="master"),
            "description: a master's gateware numbers the boards behind it: give their descriptions",
        ),
        (
            make(satellites=["other.json"]),
            "description: satellites: only a core device with role 'master' or 'satellite' has any",
        ),
        (
            make(remote_memory=True),
            "description: remote_memory: it is over the upstream link, so it stands in the description of a ",
        ),
        (
            make(base="master", satellites=["other.json"], remote_memory=True),
            "description: remote_memory: it is over the upstream link, so it stands in the description of a ",
        ),
        (make(base="satellite", remote_memory=1), "description: remote_memory: 1 is not of type 'boolean'"),
        (
            make(DIO, target="zc706"),
            "description: peripherals: a zc706 has no connectors for cards",
        ),
        (
            make({"type": "fastino", "ports": [1], "log2_width": 6}),
            "description: peripherals[0] (fastino).log2_width: 6 is ",
        ),
        (
            make({"type": "grabber", "ports": [1], "rois": 0}),
            "description: peripherals[0] (grabber).rois: 0 is less than",
        ),
        (
            make({"type": "zotino", "ports": [1], "pins": {"ladc": 5}}),
            "description: peripherals[0] (zotino).pins: 'ladc' is not a signal of the card (those are clk, ",
        ),
        (
            make({"type": "zotino", "ports": [1], "pins": {"ldac": 7, "clr": 7}}),
            "description: peripherals[0] (zotino).pins: ldac and clr are both on pair 7",
        ),
        (
            make({"type": "zotino", "ports": [1], "pins": {"ldac": 7}}),
            "description: peripherals[0] (zotino).pins: ldac and clr are both on pair 7",
        ),
        (
            make({"type": "grabber", "ports": [1], "rois": 3, "roi_engine_count": 3}),
            "description: peripherals[0] (grabber): give roi_engine_count or rois, not both",
        ),
        (
            make({"type": "sampler", "ports": [1], "pins": {"cnv": 8}}),
            "description: peripherals[0] (sampler).pins.cnv: 8 is greater than the maximum of 7",
        ),
        (make(rtio_frequency=1e8), "description: rtio_frequency 1e+08 is not supported, only 1.25e+08"),
    ],
)
def test_invalid_description_is_refused_in_one_line_with_location(description, text):
    with pytest.raises(DescriptionError) as error:
        check(description)
    assert str(error.value).startswith(text)
    assert "\n" not in str(error.value)


def test_unreadable_description_file_is_refused_with_its_position(tmp_path):
    path = tmp_path / "system.json"
    path.write_text('{"target": "kasli_soc",\n "variant": x}')
    with pytest.raises(DescriptionError, match=r"system.json: line 2, column 13: Expecting value"):
        load(path)
    path.write_text(json.dumps(make(DIO)))
    assert load(path)["variant"] == "x"


def test_channel_with_wrong_parameter_is_refused():
    from kairos_gateware.variant import ChannelSpec

    for spec, text in [
        (ChannelSpec("a", "ttl_out", {"serialized": 1}), "a: unknown parameter 'serialized' of a ttl_out"),
        (ChannelSpec("a", "edge_counter", {"input": 0}), "a: parameter `input` must be the number of a ttl_inout"),
        (
            ChannelSpec("a", "grabber_gate", {"grabber": 0}),
            "a: parameter `grabber` must be the number of a grabber channel",
        ),
        (ChannelSpec("a", "fastino", {"log2_width": 6}), "log2_width of a Fastino is 0 to 5, not 6"),
        (ChannelSpec("a", "spi_master", {"cs_width": 9}), "a: an SPI master has 0 to 8 chip select pins, not 9"),
        (ChannelSpec("a", "ttl_out", {}, ("x", "y")), "a: 1 pads, but 2 pins are given"),
        (ChannelSpec("a", "ttl_clockgen", {"acc_width": 99}), "a: the width of a clock generator is 2 to 32"),
        (ChannelSpec("a", "servo"), "a: there is no PHY for channels of kind 'servo'"),
        (ChannelSpec("a", "suservo", {"urukuls": 3}), "a: a servo has 1 or 2 Urukuls, not 3"),
        (ChannelSpec("a", "suservo", {"profile": 8}), "a: the profiles of an AD9910 are 0 to 7, not 8"),
        (ChannelSpec("a", "suservo"), "a: parameter `channels` must be the number of the first of 4 suservo_channels"),
        (ChannelSpec("a", "ttl_out", {"servo": 0}), "a: parameters `servo` and `urukul` must be a suservo channel"),
    ]:
        with pytest.raises(ValueError, match=text):
            make_phys((spec,))
