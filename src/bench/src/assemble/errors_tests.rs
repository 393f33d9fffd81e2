//! Errors in a bench file: each is one line that begins with the location of the mistake.

use super::{of_two, refused};

const ION: &str = "[ion.i]\n";
const AOM: &str = "[aom.a]\ntone = \"urukul0.ch0\"\ncentre_hz = 80e6\n";
const MODE: &str = "mode = { hz = 1e6, eta = 0.1 }\n";
const PMT: &str = "[photomultiplier.p]\npin = \"ttl0\"\n";

/// A file, and the beginning of the message about it.
type Case<'a> = (&'a str, &'a str);

fn check(cases: &[Case]) {
    for (text, expected) in cases {
        let found = refused(text);
        assert!(found.starts_with(expected), "{text}\n{found}\n{expected}");
        assert!(!found.contains('\n'), "one line: {found}");
    }
}

/// A file that is no TOML, or whose tables, fields or types are not those of a bench.
#[test]
fn malformed_table_is_reported_at_its_line() {
    check(&[
        (
            "seed = 1\nsed = 2",
            "bench.toml:2: unknown field `sed`, expected one of",
        ),
        ("seed = ", "bench.toml:1: "),
        (
            "[aom.a]\ntone = \"urukul0.ch0\"",
            "bench.toml:1: missing field `centre_hz`",
        ),
        ("[crystal.c]\n", "bench.toml:1: missing field `mode`"),
        ("[ion]\nlifetime_s = 1.0", "bench.toml:2: invalid type: floating point `1.0`, expected a table"),
        ("\n[[ion.i]]\nlifetime_s = 1.0", "bench.toml:2: a part is one table: [ion.i], not [[ion.i]]"),
        ("[ion.\"\"]", "bench.toml:1: the name of a part is one line of text"),
        ("[ion.\"a\\nb\"]", "bench.toml:1: the name of a part is one line of text"),
        (
            &format!("{ION}[photomultiplier.p]\npin = \"ttl0\"\nsees = [\"i\", \"i\"]"),
            "bench.toml:4: i is given twice",
        ),
        (
            &format!("{AOM}[crystal.c]\n{MODE}ions = 2\ndrive = [{{ light = \"a\", rabi_hz = 1e3, resonance_hz = 8e7, ions = [1, 1] }}]"),
            "bench.toml:7: ion 1 is given twice",
        ),
        (
            &format!("{PMT}dark_hz = \"50 Hz\""),
            "bench.toml:3: invalid type: string \"50 Hz\", expected a number",
        ),
        (
            &format!("{PMT}sees = \"ion0\""),
            "bench.toml:3: invalid type: string \"ion0\", expected a list",
        ),
        (
            &format!("{PMT}dark_hz = 3\ndark_hz = 4"),
            "bench.toml:4: dark_hz is given twice",
        ),
        (&format!("{PMT}[line.l]\n{PMT}"), "bench.toml:4: p is given twice"),
        (
            "[aom]\na = { tone = \"urukul0.ch0\", \"tone\" = 1 }",
            "bench.toml:2: tone is given twice",
        ),
    ]);
}

/// A part, channel, card, pin, ion or file that does not exist.
#[test]
fn unknown_name_is_reported_with_available_ones() {
    check(&[
        (
            "[aom.a]\ncentre_hz = 80e6\ntone = \"urukul0.ch4\"",
            "bench.toml:3: urukul0.ch4 is not a channel: use urukul0.ch0 to urukul0.ch3",
        ),
        (
            "[aom.a]\ncentre_hz = 80e6\ntone = \"urukul1.ch0\"",
            "bench.toml:3: there is no part urukul1 that gives a tone; available: urukul0",
        ),
        (
            "\n[urukul.urukul7]",
            "bench.toml:2: the device has no card urukul7; it has urukul0",
        ),
        (
            &format!("{ION}drive = {{ light = \"a\", rabi_hz = 1e3, resonance_hz = 8e7 }}"),
            "bench.toml:2: there is no part a that gives light; available: none",
        ),
        (
            &format!("{PMT}sees = [\"urukul0\"]"),
            "bench.toml:3: urukul0 is not a part that gives photons: Urukul; available: none",
        ),
        (
            &format!(
                "{AOM}[crystal.c]\n{MODE}drive = [{{ light = \"a\", rabi_hz = 1e3, resonance_hz = 8e7, ions = [1] }}]"
            ),
            "bench.toml:6: there is no ion 1: they are numbered from 0 to 0",
        ),
        (
            &format!("[crystal.c]\n{MODE}cooling = {{ light = \"b\", resonance_hz = 8e7 }}"),
            "bench.toml:3: there is no part b that gives light; available: none",
        ),
        (
            "[aom.a]\ncentre_hz = 80e6\ntone = \".ch0\"",
            "bench.toml:3: there is no part '' that gives a tone; available: urukul0",
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
            "[photomultiplier.p]\npin = \"ttl9\"",
            "bench.toml:2: the device has no pin ttl9; its inputs are spi_urukul0_miso, ttl0, ttl1",
        ),
    ]);
}

/// A number that no instrument and no ion has.
#[test]
fn quantity_out_of_range_is_reported_with_its_limit() {
    check(&[
        (
            "[aom.a]\ntone = \"urukul0.ch0\"\ncentre_hz = -1.0",
            "bench.toml:3: -1 is invalid: it must be more than 0",
        ),
        (
            "[aom.a]\ncentre_hz = 80e6\ntone = \"urukul0.ch1\"\npasses = 3",
            "bench.toml:4: light passes a modulator once or twice",
        ),
        (
            "[urukul.urukul0]\nproto_rev = 7",
            "bench.toml:2: proto_rev of an Urukul is 8 or 9, not 7",
        ),
        (
            &format!("{ION}coherence_s = 0"),
            "bench.toml:2: 0 is invalid: it must be more than 0",
        ),
        (
            &format!("{PMT}efficiency = 1.5"),
            "bench.toml:3: 1.5 is invalid: it must be between 0 and 1",
        ),
        (
            &format!("{PMT}afterpulses = 0.6"),
            "bench.toml:2: afterpulses of 0.6 would never end: at most 0.5",
        ),
        (
            &format!("[crystal.c]\nions = 3\n{MODE}"),
            "bench.toml:2: a crystal has 1 or 2 ions",
        ),
        (
            "[crystal.c]\nmode = { hz = 1e6, eta = 0.1, states = 1000 }",
            "bench.toml:2: 2 to 40 states of a mode are possible",
        ),
        (
            "[line.l]\npin = \"ttl0\"\nhz = 1e6\npulse_ns = 1",
            "bench.toml:3: mains of 1000000 Hz are invalid: at most 100000 Hz",
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
            &format!("[crystal.c]\n{MODE}linewidth_hz = 1e15"),
            "bench.toml:3: a linewidth in Hz of 1e15 is too large for an ion: at most 1e9",
        ),
        (
            &format!("[crystal.c]\n{MODE}coherence_s = 1e-15"),
            "bench.toml:3: a coherence time of 1e-15 s is too short for an ion: at least 1e-7 s",
        ),
        (
            &format!("{PMT}pulse_ns = 0"),
            "bench.toml:3: a pulse of 0 ns is invalid: it must be 1 ns or more",
        ),
        (
            &format!("{PMT}pulse_ns = -3"),
            "bench.toml:3: invalid value: integer `-3`, expected a whole number, 0 or more, that is not too large",
        ),
        (
            &format!("{PMT}dark_hz = 1e300"),
            "bench.toml:3: 1e300 is not physical: at most 1e15",
        ),
        (
            &format!("{PMT}dark_hz = -1e300"),
            "bench.toml:3: -1e300 is invalid: it must be 0 or more",
        ),
        (
            "\n[sampler.s]\nhw_rev = \"2.1\"",
            "bench.toml:3: hw_rev of a Sampler is v2.1, v2.2 or a later one, not 2.1",
        ),
        (
            "\n[mirny.m]\nhw_rev = 4",
            "bench.toml:3: hw_rev of a Mirny is 0 to 3, not 4",
        ),
    ]);
}

/// Numbers that do not fit together, and pins with two drivers or none.
#[test]
fn settings_that_exclude_each_other_are_reported() {
    check(&[
        (
            &format!("{PMT}dead_ns = 5"),
            "bench.toml:3: a dead time of 5 ns is shorter than a pulse of 20 ns",
        ),
        (
            &format!("{PMT}[photomultiplier.q]\npin = \"ttl0\""),
            "bench.toml:4: q and p both drive the pin ttl0",
        ),
        (
            &format!("[crystal.c]\nto_lower = 0.6\nto_upper = 0.5\n{MODE}"),
            "bench.toml:2: 0.6 of the decays to the lower level and 0.5 to the upper exceed 1 in total",
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
            "[line.l]\npin = \"ttl0\"\njitter_ns = 6e6",
            "bench.toml:3: edges with a jitter of 6000000 ns are too irregular for mains of 50 Hz",
        ),
        (
            "[loopback.l]\nfrom = \"ttl1\"\nto = \"ttl1\"",
            "bench.toml:3: a cable from the pin ttl1 to itself",
        ),
        (
            &format!("{PMT}dark_hz = 1e15\ndead_ns = 40"),
            "bench.toml:2: dark counts of 1e15 Hz do not fit a dead time of 40 ns",
        ),
        (
            "[loopback.l]\nfrom = \"trigger\"\nto = \"ttl1\"",
            "bench.toml:3: a cable from the pin ttl1 to itself: trigger is another name of it",
        ),
        (
            "[photomultiplier.p]\npin = \"ttl4\"",
            "bench.toml:2: p cannot drive ttl4: it is an output of the device",
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
            &format!("[loopback.p]\nfrom = \"ttl4\"\nto = \"ttl1\"\n{PMT}"),
            "bench.toml:1: there is already a part named p: photomultiplier",
        ),
    ]);
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
