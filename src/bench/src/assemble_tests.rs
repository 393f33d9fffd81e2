use super::*;
use crate::chips::urukul;

#[path = "assemble/errors_tests.rs"]
mod errors;
#[path = "assemble/hostile_tests.rs"]
mod hostile;

const IONS: &str = include_str!("../../../examples/ion/bench.toml");

pub(super) fn pads() -> Vec<Pad> {
    let pad = |name: &str, drives, reads| (name.to_string(), drives, reads);
    let mut pads = vec![
        pad("ttl0", true, true),
        pad("ttl1", true, true),
        pad("ttl4", true, false),
    ];
    for line in urukul::INPUTS {
        let prefix = if line.starts_with("sw") || line.starts_with("io") {
            "ttl"
        } else {
            "spi"
        };
        pads.push(pad(&format!("{prefix}_urukul0_{line}"), true, false));
    }
    pads.push(pad("spi_urukul0_miso", false, true));
    numbered(pads)
}

pub(super) fn numbered(pads: Vec<(String, bool, bool)>) -> Vec<Pad> {
    let numbered = pads.into_iter().enumerate();
    numbered
        .map(|(index, (name, drives, reads))| Pad {
            index: index as u16,
            board: 0,
            channel: index as u32,
            name,
            drives,
            reads,
        })
        .collect()
}

fn assemble_bench(text: &str) -> Result<Assembly, String> {
    let name = "bench.toml";
    on(&pads(), Source { name, text })
}

pub(super) fn on(pads: &[Pad], source: Source) -> Result<Assembly, String> {
    wired(pads, source, &[])
}

fn wired(pads: &[Pad], source: Source, wires: &[Wire]) -> Result<Assembly, String> {
    let (cards, names) = (&[], &BTreeMap::from([("trigger".into(), 1)]));
    assemble(
        source,
        &Device {
            pads,
            outputs: &[],
            waveforms: &[],
            cards,
            names,
        },
        wires,
    )
}

fn refused(text: &str) -> String {
    assemble_bench(text).err().unwrap_or_else(|| panic!("accepted: {text}"))
}

#[test]
fn example_bench_has_its_parts_and_wires() {
    let assembly = assemble_bench(IONS).expect("it is right");
    let names: Vec<&str> = assembly.plan["parts"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|part| part["name"].as_str())
        .collect();
    assert_eq!(names, ["urukul0", "aom_397", "aom_729", "aom_854", "ion0", "pmt"]);
    let wires = assembly.plan["wires"].as_array().expect("a list");
    assert!(wires.contains(&json!({ "from": "aom_729", "to": "ion0", "label": "drive" })));
    assert!(wires.contains(&json!({ "from": "pmt", "to": "ttl0", "label": "" })));
    assert_eq!(assembly.plan["parts"][4]["ions"], 1);
    let crystal = "[crystal.c]\nions = 2\nmode = { hz = 1e6, eta = 0.1 }\n";
    assert_eq!(assemble_bench(crystal).expect("two ions").plan["parts"][1]["ions"], 2);
}

#[test]
fn every_card_of_the_device_has_its_model() {
    let assembly = assemble_bench("").expect("an empty file");
    assert_eq!(
        assembly.plan["parts"],
        json!([{ "name": "urukul0", "kind": "Urukul", "device": null, "tones": 4, "volts": 0, "names": {} }])
    );
    assert_eq!(assembly.engine.next(), None, "it waits");
}

#[test]
fn bus_without_a_clock_is_wired() {
    let lines = ["wr_n", "fud", "sel_n0", "sel_n1"].map(|line| (format!("ddsbus0_{line}"), true, false));
    let (name, text) = ("bench.toml", "");
    let assembly = on(&numbered(lines.to_vec()), Source { name, text }).expect("an empty file");
    assert_eq!(
        assembly.plan["wires"],
        json!([{ "from": "ddsbus0", "to": "ddsbus0", "label": "" }])
    );
}

#[test]
fn sampler_of_a_servo_uses_the_bus_of_the_servo() {
    let servo = ["cnv", "sck", "sdo0", "clkout", "urukul0_clk", "urukul1_clk"];
    let mut pads = numbered(servo.map(|line| (format!("suservo0_{line}"), true, true)).to_vec());
    pads.iter_mut().for_each(|pad| pad.channel = 7);
    for (index, line) in [(90, "clk"), (91, "mosi")] {
        let name = format!("spi_sampler0_pgia_{line}");
        pads.push(Pad {
            index,
            channel: 8,
            name,
            ..pads[0].clone()
        });
    }
    let card = json!({ "kind": "sampler", "device": "adc", "channels": { "pgia": 8, "servo": 7 } });
    let cards = [serde_json::from_value(card).expect("a card")];
    let (source, names) = (
        Source {
            name: "bench.toml",
            text: "",
        },
        &BTreeMap::new(),
    );
    let assembly = assemble(
        source,
        &Device {
            pads: &pads,
            outputs: &[],
            waveforms: &[],
            cards: &cards,
            names,
        },
        &[],
    )
    .expect("an empty file");
    let wires = assembly.plan["wires"].as_array().expect("a list");
    let buses: Vec<&Value> = wires.iter().map(|wire| &wire["from"]).collect();
    assert_eq!(buses, ["spi_sampler0_pgia", "suservo0"]);
}

#[test]
fn impossible_wire_is_reported_as_written() {
    let mut pads = pads();
    pads[0].drives = false;
    for (text, expected) in [
        ("ttl0=ttl0", "a cable from the pin ttl0 to itself"),
        (
            "ttl1=trigger",
            "a cable from the pin ttl1 to itself: trigger is another name of it",
        ),
        ("ttl1=ttl0", "the device does not drive its pin ttl0"),
        (
            "ttl1=1e99",
            "a generator of 1e99 Hz is invalid: it must be more than 0 and at most 5000000 Hz",
        ),
        (
            "ttl1=-1e-99",
            "a generator of -1e-99 Hz is invalid: it must be more than 0 and at most 5000000 Hz",
        ),
    ] {
        let (name, wire) = ("bench.toml", text.parse().expect(text));
        let found = wired(&pads, Source { name, text: "" }, &[wire]).err().expect(text);
        assert_eq!(found, format!("--wire {text}: {expected}"));
    }
}

#[test]
fn random_numbers_of_a_part_are_independent_of_other_parts() {
    let first_count = |text: &str| assemble_bench(text).expect(text).engine.next();
    let pmt = "[photomultiplier.p]\npin = \"ttl0\"\ndark_hz = 1e3\n";
    let alone = first_count(pmt);
    assert!(alone.is_some());
    assert_eq!(
        first_count(&format!("{pmt}[loopback.a]\nfrom = \"ttl4\"\nto = \"ttl1\"")),
        alone
    );
    assert_ne!(first_count(&format!("seed = 2\n{pmt}")), alone);
}

/// A bench for a master and a satellite with the same pins.
fn of_two(text: &str) -> Result<Assembly, String> {
    let one = pads();
    let other = one.iter().map(|pad| Pad {
        index: 100 + pad.index,
        board: 1,
        channel: 1 << 16 | pad.channel,
        ..pad.clone()
    });
    let pads: Vec<Pad> = one.iter().cloned().chain(other).collect();
    let names = BTreeMap::from([("ttl1".into(), 1 << 16 | 1)]);
    let device = Device {
        pads: &pads,
        outputs: &[],
        waveforms: &[],
        cards: &[],
        names: &names,
    };
    let name = "bench.toml";
    assemble(Source { name, text }, &device, &[])
}

#[test]
fn cards_and_pins_of_several_boards_are_wired() {
    let file = "[urukul.satellite1_urukul0]\nproto_rev = 8\n[loopback.c]\nfrom = \"master_ttl4\"\nto = \"ttl1\"\n\
                [aom.a]\ntone = \"satellite1_urukul0.ch0\"\ncentre_hz = 80e6\n";
    let assembly = of_two(file).expect("it is right");
    let wires = assembly.plan["wires"].as_array().expect("a list");
    for (from, to) in [
        ("master_spi_urukul0", "master_urukul0"),
        ("satellite1_spi_urukul0", "satellite1_urukul0"),
        ("master_ttl4", "c"),
        ("c", "satellite1_ttl1"),
    ] {
        let wire = json!({ "from": from, "to": to, "label": "" });
        assert!(wires.contains(&wire), "{from} to {to} in {wires:?}");
    }
    assert!(assembly.engine.watches(2) && !assembly.engine.watches(102));
    assert_eq!(
        assembly.engine.divide(&[0, 100]).of_board,
        [0, 0],
        "the cable joins them"
    );
    let apart = of_two("[line.l]\npin = \"satellite1_ttl0\"").expect("it is right");
    assert_eq!(apart.engine.divide(&[0, 100]).of_board, [0, 1]);
}
