use super::*;
use crate::chips::urukul;

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

fn made(text: &str) -> Result<Assembly, String> {
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
            shuttlers: &[],
            cards,
            names,
        },
        wires,
    )
}

fn refused(text: &str) -> String {
    made(text).err().unwrap_or_else(|| panic!("accepted: {text}"))
}

#[test]
fn example_bench_has_its_parts_and_wires() {
    let assembly = made(IONS).expect("it is right");
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
    assert_eq!(made(crystal).expect("two ions").plan["parts"][1]["ions"], 2);
}

#[test]
fn every_card_of_the_device_has_its_model() {
    let assembly = made("").expect("an empty file");
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
            shuttlers: &[],
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
fn invalid_bench_file_is_reported_with_its_line() {
    let ion = "[ion.i]\n";
    let aom = "[aom.a]\ntone = \"urukul0.ch0\"\ncentre_hz = 80e6\n";
    let mode = "mode = { hz = 1e6, eta = 0.1 }\n";
    let pmt = "[photomultiplier.p]\npin = \"ttl0\"\n";
    let cases = [
        (
            "seed = 1\nsed = 2",
            "bench.toml:2: unknown field `sed`, expected one of",
        ),
        ("seed = ", "bench.toml:1: "),
        (
            "[aom.a]\ntone = \"urukul0.ch0\"",
            "bench.toml:1: missing field `centre_hz`",
        ),
        (
            "[aom.a]\ntone = \"urukul0.ch0\"\ncentre_hz = -1.0",
            "bench.toml:3: -1 is invalid: it must be more than 0",
        ),
        (
            "[aom.a]\ncentre_hz = 80e6\ntone = \"urukul0.ch4\"",
            "bench.toml:3: urukul0.ch4 is not a channel: use urukul0.ch0 to urukul0.ch3",
        ),
        (
            "[aom.a]\ncentre_hz = 80e6\ntone = \"urukul1.ch0\"",
            "bench.toml:3: there is no part urukul1 that gives a tone; available: urukul0",
        ),
        (
            "[aom.a]\ncentre_hz = 80e6\ntone = \"urukul0.ch1\"\npasses = 3",
            "bench.toml:4: light passes a modulator once or twice",
        ),
        (
            "\n[urukul.urukul7]",
            "bench.toml:2: the device has no card urukul7; it has urukul0",
        ),
        (
            "[urukul.urukul0]\nproto_rev = 7",
            "bench.toml:2: proto_rev of an Urukul is 8 or 9, not 7",
        ),
        (
            &format!("{ion}coherence_s = 0"),
            "bench.toml:2: 0 is invalid: it must be more than 0",
        ),
        (
            &format!("{ion}drive = {{ light = \"a\", rabi_hz = 1e3, resonance_hz = 8e7 }}"),
            "bench.toml:2: there is no part a that gives light; available: none",
        ),
        (
            &format!("{pmt}efficiency = 1.5"),
            "bench.toml:3: 1.5 is invalid: it must be between 0 and 1",
        ),
        (
            &format!("{pmt}dead_ns = 5"),
            "bench.toml:3: a dead time of 5 ns is shorter than a pulse of 20 ns",
        ),
        (
            &format!("{pmt}sees = [\"urukul0\"]"),
            "bench.toml:3: urukul0 is not a part that gives photons: Urukul; available: none",
        ),
        (
            &format!("{pmt}[photomultiplier.q]\npin = \"ttl0\""),
            "bench.toml:4: q and p both drive the pin ttl0",
        ),
        (
            &format!("{pmt}afterpulses = 0.6"),
            "bench.toml:2: afterpulses of 0.6 would never end: at most 0.5",
        ),
        ("[crystal.c]\n", "bench.toml:1: missing field `mode`"),
        (
            &format!("[crystal.c]\nions = 3\n{mode}"),
            "bench.toml:2: a crystal has 1 or 2 ions",
        ),
        (
            "[crystal.c]\nmode = { hz = 1e6, eta = 0.1, states = 1000 }",
            "bench.toml:2: 2 to 40 states of a mode are possible",
        ),
        (
            &format!("[crystal.c]\nto_lower = 0.6\nto_upper = 0.5\n{mode}"),
            "bench.toml:2: 0.6 of the decays to the lower level and 0.5 to the upper exceed 1 in total",
        ),
        (
            &format!(
                "{aom}[crystal.c]\n{mode}drive = [{{ light = \"a\", rabi_hz = 1e3, resonance_hz = 8e7, ions = [1] }}]"
            ),
            "bench.toml:6: there is no ion 1: they are numbered from 0 to 0",
        ),
        (
            &format!("[crystal.c]\n{mode}cooling = {{ light = \"b\", resonance_hz = 8e7 }}"),
            "bench.toml:3: there is no part b that gives light; available: none",
        ),
        (
            "[line.l]\npin = \"ttl0\"\npulse_ns = 20000000",
            "bench.toml:3: pulses of 20000000 ns do not fit into periods of 50 Hz",
        ),
        (
            "[line.l]\npin = \"ttl0\"\nhz = 2e3",
            "bench.toml:3: pulses of 1000000 ns do not fit into periods of 2000 Hz",
        ),
        (
            "[line.l]\npin = \"ttl0\"\nhz = 1e6\npulse_ns = 1",
            "bench.toml:3: mains of 1000000 Hz are invalid: at most 100000 Hz",
        ),
        (
            "[line.l]\npin = \"ttl0\"\njitter_ns = 6e6",
            "bench.toml:3: edges with a jitter of 6000000 ns are too irregular for mains of 50 Hz",
        ),
        ("[ion]\nlifetime_s = 1.0", "bench.toml:2: invalid type: floating point `1.0`, expected a table"),
        ("\n[[ion.i]]\nlifetime_s = 1.0", "bench.toml:2: a part is one table: [ion.i], not [[ion.i]]"),
        ("[ion.\"\"]", "bench.toml:1: the name of a part is one line of text"),
        ("[ion.\"a\\nb\"]", "bench.toml:1: the name of a part is one line of text"),
        (
            &format!("{ion}[photomultiplier.p]\npin = \"ttl0\"\nsees = [\"i\", \"i\"]"),
            "bench.toml:4: i is given twice",
        ),
        (
            &format!("{aom}[crystal.c]\n{mode}ions = 2\ndrive = [{{ light = \"a\", rabi_hz = 1e3, resonance_hz = 8e7, ions = [1, 1] }}]"),
            "bench.toml:7: ion 1 is given twice",
        ),
        (
            "[crystal.c]\nmode = { hz = 1e6, eta = 1e9 }",
            "bench.toml:2: a Lamb-Dicke parameter of 1e9 is too large for an ion: at most 3",
        ),
        (
            "[crystal.c]\nmode = { hz = 1e6, eta = 0.1, quanta = 1e14 }",
            "bench.toml:2: a mean number of quanta of 1e14 is too large for an ion: at most 100000",
        ),
        (
            "[crystal.c]\nmode = { hz = 1e6, eta = 0.1, heating_hz = 1e14 }",
            "bench.toml:2: heating in quanta per second of 1e14 is too large for an ion: at most 1000000",
        ),
        (
            &format!("[crystal.c]\n{mode}linewidth_hz = 1e15"),
            "bench.toml:3: a linewidth in Hz of 1e15 is too large for an ion: at most 1e9",
        ),
        (
            &format!("[crystal.c]\n{mode}coherence_s = 1e-15"),
            "bench.toml:3: a coherence time of 1e-15 s is too short for an ion: at least 1e-7 s",
        ),
        (
            &format!("{pmt}pulse_ns = 0"),
            "bench.toml:3: a pulse of 0 ns is invalid: it must be 1 ns or more",
        ),
        (
            &format!("{pmt}pulse_ns = -3"),
            "bench.toml:3: invalid value: integer `-3`, expected a whole number, 0 or more, that is not too large",
        ),
        (
            &format!("{pmt}dark_hz = \"50 Hz\""),
            "bench.toml:3: invalid type: string \"50 Hz\", expected a number",
        ),
        (
            &format!("{pmt}dark_hz = 1e300"),
            "bench.toml:3: 1e300 is not physical: at most 1e15",
        ),
        (
            "[loopback.l]\nfrom = \"ttl1\"\nto = \"ttl1\"",
            "bench.toml:3: a cable from the pin ttl1 to itself",
        ),
        (
            &format!("{pmt}dark_hz = 1e15\ndead_ns = 40"),
            "bench.toml:2: dark counts of 1e15 Hz do not fit a dead time of 40 ns",
        ),
        (
            &format!("{pmt}sees = \"ion0\""),
            "bench.toml:3: invalid type: string \"ion0\", expected a list",
        ),
        (
            "[aom.a]\ncentre_hz = 80e6\ntone = \".ch0\"",
            "bench.toml:3: there is no part '' that gives a tone; available: urukul0",
        ),
        (
            &format!("{pmt}dark_hz = -1e300"),
            "bench.toml:3: -1e300 is invalid: it must be 0 or more",
        ),
        (
            "[loopback.l]\nfrom = \"trigger\"\nto = \"ttl1\"",
            "bench.toml:3: a cable from the pin ttl1 to itself: trigger is another name of it",
        ),
        (
            &format!("{pmt}dark_hz = 3\ndark_hz = 4"),
            "bench.toml:4: dark_hz is given twice",
        ),
        (&format!("{pmt}[line.l]\n{pmt}"), "bench.toml:4: p is given twice"),
        (
            "[aom]\na = { tone = \"urukul0.ch0\", \"tone\" = 1 }",
            "bench.toml:2: tone is given twice",
        ),
        (
            "\n[sampler.s]\nhw_rev = \"2.1\"",
            "bench.toml:3: hw_rev of a Sampler is v2.1, v2.2 or a later one, not 2.1",
        ),
        (
            "\n[mirny.m]\nhw_rev = 4",
            "bench.toml:3: hw_rev of a Mirny is 0 to 3, not 4",
        ),
        (
            "[python.p]\nfile = \"nowhere.py\"",
            "bench.toml:2: there is no file nowhere.py",
        ),
        (
            "[photodiode.d]\nvolts = 1.0\nsees = [\"urukul0\"]",
            "bench.toml:3: urukul0 is not a part that gives light: Urukul; available: none",
        ),
        (
            "[photomultiplier.p]\npin = \"ttl4\"",
            "bench.toml:2: p cannot drive ttl4: it is an output of the device",
        ),
        (
            "[photomultiplier.p]\npin = \"ttl9\"",
            "bench.toml:2: the device has no pin ttl9; its inputs are spi_urukul0_miso, ttl0, ttl1",
        ),
        (
            "[loopback.l]\nfrom = \"spi_urukul0_miso\"\nto = \"ttl1\"",
            "bench.toml:2: the device does not drive its pin spi_urukul0_miso",
        ),
        (
            "[loopback.l]\nfrom = \"ttl4\"\nto = \"spi_urukul0_miso\"",
            "bench.toml:3: l and urukul0 both drive the pin spi_urukul0_miso",
        ),
        (
            &format!("[loopback.p]\nfrom = \"ttl4\"\nto = \"ttl1\"\n{pmt}"),
            "bench.toml:1: there is already a part named p: photomultiplier",
        ),
    ];
    for (text, expected) in cases {
        let found = refused(text);
        assert!(found.starts_with(expected), "{text}\n{found}\n{expected}");
        assert!(!found.contains('\n'), "one line: {found}");
    }
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
    let first_count = |text: &str| made(text).expect(text).engine.next();
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
        shuttlers: &[],
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

#[test]
fn ambiguous_name_on_several_boards_is_reported() {
    let cases = [
        (
            "[line.l]\npin = \"ttl0\"",
            "bench.toml:2: several boards have a pin ttl0: say which, master_ttl0 or satellite1_ttl0",
        ),
        (
            "[urukul.urukul0]",
            "bench.toml:1: the device has no card urukul0; it has master_urukul0, satellite1_urukul0",
        ),
        (
            "[line.l]\npin = \"satellite2_ttl0\"",
            "bench.toml:2: the device has no pin satellite2_ttl0; its inputs are master_spi_urukul0_miso, ",
        ),
    ];
    for (text, expected) in cases {
        let found = of_two(text).err().unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(found.starts_with(expected), "{found}");
    }
}
