use kairos_pulse::model::Tone as CoreTone;
use serde_json::json;
use std::collections::BTreeMap;

use super::super::tests::pads;
use super::super::{assemble, Assembly, Device};
use crate::engine::Engine;
use crate::file::Source;
use crate::pad::Output;

/// A bench for a device with a pulse core of two outputs.
fn with_pulse_core(text: &str) -> Result<Assembly, String> {
    let pads = pads();
    let output = |number| Output {
        board: 0,
        channel: 14,
        core: "pulse0".into(),
        number,
        tones: 100 + 2 * number as u16,
        sample_hz: 1e9,
    };
    let device = Device {
        pads: &pads,
        outputs: &[output(0), output(1)],
        waveforms: &[],
        cards: &[],
        names: &BTreeMap::from([("awg".into(), 14)]),
    };
    let name = "bench.toml";
    assemble(Source { name, text }, &device, &[])
}

#[test]
fn outputs_of_pulse_cores_have_converters() {
    let file = "[converter.pulse0_out1]\nfull_scale_dbm = 10\n[aom.a]\ntone = \"pulse0_out1.tone1\"\n\
                centre_hz = 80e6\n[aom.b]\ntone = \"pulse0_out0.tone0\"\ncentre_hz = 80e6\n";
    let mut assembly = with_pulse_core(file).expect("it is right");
    let parts = assembly.plan["parts"].as_array().expect("a list");
    let converter = parts
        .iter()
        .find(|part| part["name"] == "pulse0_out1")
        .expect("it is there");
    assert_eq!((&converter["device"], &converter["tones"]), (&json!("awg"), &json!(2)));
    let wires = assembly.plan["wires"].as_array().expect("a list");
    assert!(wires.contains(&json!({ "from": "pulse0", "to": "pulse0_out1", "label": "output 1" })));
    assert!(wires.contains(&json!({ "from": "pulse0_out1", "to": "a", "label": "tone1" })));
    let tone = CoreTone {
        amplitude: 65535,
        frequency: (80 << 40) / 1000,
        phase: 0,
    };
    assembly.engine.tone(1000, 103, tone);
    assembly.engine.run(1128);
    assert!(
        assembly.engine.report(1128)["a"]["power"] == 0.0,
        "not before the samples are made"
    );
    assembly.engine.run(1129);
    let report = assembly.engine.report(1129);
    assert!((report["pulse0_out1"]["tone1"]["dbm"].as_f64().expect("a number") - 9.908).abs() < 0.001);
    assert!(report["a"]["power"].as_f64() > Some(0.1) && report["b"]["power"] == 0.0);
}

#[test]
fn rf_source_is_switched_by_its_pin() {
    let file = "[source.s]\nhz = 110e6\ndbm = 3\nswitch = \"ttl4\"\n[source.on]\nhz = 80e6\n\
                [aom.a]\ntone = \"s\"\ncentre_hz = 110e6\nsaturation_dbm = 3\n\
                [aom.b]\ntone = \"on\"\ncentre_hz = 80e6\n";
    let mut assembly = with_pulse_core(file).expect("it is right");
    assembly.engine.run(1);
    let powers = |engine: &Engine| ["a", "b"].map(|part| engine.report(0)[part]["power"].as_f64());
    assert_eq!(powers(&assembly.engine), [Some(0.0), Some(1.0)]);
    let pad = pads().iter().find(|pad| pad.name == "ttl4").expect("it is there").index;
    assembly.engine.pin(100, pad, true);
    assembly.engine.run(200);
    assert_eq!(powers(&assembly.engine), [Some(1.0), Some(1.0)]);
    assert_eq!(assembly.engine.tones("s", 0).expect("it has them")[0][2], 3.0);
}

#[test]
fn invalid_converter_or_source_is_reported() {
    for (file, said) in [
        (
            "[converter.pulse0]\n",
            "bench.toml:1: no output of a pulse core is called pulse0; available: pulse0_out0, pulse0_out1",
        ),
        (
            "[converter.pulse0_out0]\nfull_scale = 1\n",
            "bench.toml:2: unknown field `full_scale`, expected `full_scale_dbm`",
        ),
        (
            "[aom.a]\ncentre_hz = 1e6\ntone = \"pulse0_out0\"\n",
            "bench.toml:3: pulse0_out0 is not a channel: use pulse0_out0.tone0 to pulse0_out0.tone1",
        ),
        ("[source.s]\n", "bench.toml:1: missing field `hz`"),
        (
            "[source.s]\nhz = 1e6\nswitch = \"ttl99\"\n",
            "bench.toml:3: the device has no pin ttl99",
        ),
    ] {
        let error = with_pulse_core(file).err().expect("it is refused");
        assert!(error.starts_with(said), "{error}");
    }
}
