use std::collections::BTreeMap;

use serde_json::json;

use super::super::tests::{numbered, on, pads};
use super::super::{assemble, Assembly, Device, Pad, Waveforms};
use crate::file::Source;
use crate::signal::WAVEFORM_LATENCY;

/// A Urukul, a chip of each kind alone on its bus, and a Novogorny.
fn device() -> Vec<Pad> {
    let mut names: Vec<(String, bool, bool)> = pads()
        .into_iter()
        .map(|pad| (pad.name, pad.drives, pad.reads))
        .collect();
    for card in ["ad98340", "hmc542b0", "hmc542b1"] {
        names.extend(["clk", "mosi", "cs0"].map(|line| (format!("spi_{card}_{line}"), true, false)));
    }
    names.extend(["clk", "mosi", "cs0", "cs1"].map(|line| (format!("spi_novogorny0_adc_{line}"), true, false)));
    names.push(("spi_novogorny0_adc_miso".into(), false, true));
    names.push(("ttl_novogorny0_cnv".into(), true, false));
    numbered(names)
}

fn assemble_bench(text: &str) -> Result<Assembly, String> {
    let name = "bench.toml";
    on(&device(), Source { name, text })
}

fn refused(text: &str) -> String {
    assemble_bench(text).err().unwrap_or_else(|| panic!("accepted: {text}"))
}

#[test]
fn single_chips_on_a_bus_are_found_by_their_pin_names() {
    let assembly = assemble_bench("").expect("an empty file");
    let parts = assembly.plan["parts"].as_array().expect("a list");
    let found: Vec<(&str, &str)> = parts
        .iter()
        .filter_map(|part| Some((part["name"].as_str()?, part["kind"].as_str()?)))
        .collect();
    assert_eq!(
        found,
        [
            ("ad98340", "AD9834"),
            ("hmc542b0", "HMC542B"),
            ("hmc542b1", "HMC542B"),
            ("novogorny0", "Novogorny"),
            ("urukul0", "Urukul"),
        ]
    );
    assert_eq!(
        assembly.plan["pins"].as_array().map(Vec::len),
        Some(2),
        "both that they drive"
    );
}

#[test]
fn tone_passes_chained_attenuators_in_order() {
    let text =
        "[source.rf]\nhz = 1e6\ndbm = 10\n[hmc542b.hmc542b1]\ntone = \"hmc542b0\"\n[hmc542b.hmc542b0]\ntone = \"rf\"";
    let mut assembly = assemble_bench(text).expect("it is right");
    assembly.engine.run(1000);
    for (name, dbm) in [("hmc542b0", 10.0 - 31.5), ("hmc542b1", 10.0 - 63.0)] {
        assert_eq!(assembly.engine.tones(name, 0), Some(json!([[0, 1e6, dbm, 0.0]])));
    }
}

#[test]
fn invalid_card_is_reported_in_one_line_with_its_place() {
    for (text, expected) in [
        (
            "[hmc542b.hmc542b0]\ntone = \"nothing\"",
            "bench.toml:2: there is no part nothing that gives a tone; available: ad98340, hmc542b0, hmc542b1, urukul0",
        ),
        (
            "[hmc542b.hmc542b0]\ntone = \"hmc542b0\"",
            "bench.toml:2: hmc542b0 cannot be its own source",
        ),
        ("\n[ad9834.d]", "bench.toml:2: the device has no card d; it has ad98340"),
        (
            "[ad9834.ad98340]\nclock_hz = -1",
            "bench.toml:2: -1 is invalid: it must be 0 or more",
        ),
        (
            "[novogorny.novogorny0]\nvref = 0",
            "bench.toml:2: 0 is invalid: it must be more than 0",
        ),
        ("[novogorny.novogorny0]\nch8 = 0", "bench.toml:2: unknown field `ch8`"),
        (
            "[novogorny.novogorny0]\nch7 = \"urukul0.ch0\"",
            "bench.toml:2: urukul0 is not a part that gives a voltage: Urukul; available: none",
        ),
    ] {
        let found = refused(text);
        assert!(found.starts_with(expected), "{text}\n{found}\n{expected}");
    }
}

/// A bench for a device with a Shuttler whose relays have no bus, and a Novogorny.
fn with_shuttler(text: &str) -> Result<Assembly, String> {
    let waveforms = [Waveforms {
        board: 0,
        kind: "shuttler".into(),
        channel: 70,
        name: "shuttler0".into(),
        words: 200,
        outputs: 16,
        parameters: BTreeMap::new(),
    }];
    let device = Device {
        pads: &device(),
        outputs: &[],
        waveforms: &waveforms,
        cards: &[],
        names: &Default::default(),
    };
    let name = "bench.toml";
    assemble(Source { name, text }, &device, &[])
}

#[test]
fn shuttler_outputs_are_volts_and_tones() {
    let text = "[novogorny.novogorny0]\nch1 = \"shuttler0.ch3\"\n\
                [aom.a]\ntone = \"shuttler0.tone3\"\ncentre_hz = 10e6\nsaturation_dbm = 10\n";
    let mut assembly = with_shuttler(text).expect("it is right");
    let wires = assembly.plan["wires"].as_array().expect("a list");
    for (to, label) in [("novogorny0", "shuttler0.ch3 to ch1"), ("a", "tone3")] {
        assert!(wires.contains(&json!({ "from": "shuttler0", "to": to, "label": label })));
    }
    let engine = &mut assembly.engine;
    // 1 V at 10 MHz, and the trigger.
    let amplitude = (1.0 / 20.0 * 65536.0 / 1.646_760_258 * 2f64.powi(32)) as u64;
    for (field, word) in [(4, amplitude), (9, (0.08 * 2f64.powi(32)) as u64), (11, 1 << 32)] {
        engine.word(1000, 200 + 3 * 12 + field, word);
    }
    engine.run(1000 + WAVEFORM_LATENCY);
    assert_eq!(engine.report(0)["a"]["power"], 0.0, "not before the latency");
    engine.run(1001 + WAVEFORM_LATENCY);
    assert!(engine.report(0)["a"]["power"].as_f64() > Some(0.99));
    assert!(
        (engine.report(0)["shuttler0"]["ch3"]["volts"]
            .as_f64()
            .expect("a number")
            - 1.0)
            .abs()
            < 2e-3
    );
    for (text, expected) in [
        (
            "[shuttler.shuttler0]\nupdate_ns = 12",
            "bench.toml:2: 12 ns is invalid: it must be a multiple of 8 ns, a cycle of the RTIO clock",
        ),
        ("[shuttler.shuttler0]\nupdate_ns = 0", "bench.toml:2: 0 ns is invalid"),
        (
            "[shuttler.other]",
            "bench.toml:1: the device has no card other; it has shuttler0",
        ),
        (
            "[aom.a]\ncentre_hz = 1e6\ntone = \"shuttler0.ch3\"",
            "bench.toml:3: shuttler0.ch3 is not a channel: use shuttler0.tone0 to shuttler0.tone15",
        ),
    ] {
        let found = with_shuttler(text).err().expect("it is refused");
        assert!(found.starts_with(expected), "{text}\n{found}\n{expected}");
    }
}
