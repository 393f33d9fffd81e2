//! The current state of the clocks of one device: for a core device from its health, the register
//! `clock/status` and the key `rtio_clock`; for a computer with Linux from the kernel.

use kairos_contracts::registers::clock::{
    STATUS_HOLD_BIT, STATUS_LOCKED_BIT, STATUS_SELECTED_BIT, STATUS_SWITCHING_BIT,
};
use tonic::Status;

use crate::device::{Device, Kind};
use crate::health::{self, Subsystem};
use crate::program;
use crate::v1::{Clock, Condition, DeviceClocks};

/// The configuration key that selects the clock of a core device.
const SETTING: &str = "rtio_clock";
/// Prefix of its values that select an external clock.
const EXTERNAL: &str = "ext";
/// Name of the internal clock source.
const OSCILLATOR: &str = "oscillator";
/// Maximum relative difference of frequencies that count as equal: above the tolerance of crystals
/// and the measurement error.
const TOLERANCE: f64 = 1e-3;

/// Never fails: an unavailable device is reported with a bad clock.
pub async fn query(device: &Device) -> DeviceClocks {
    let found = match device.kind() {
        Kind::Core { .. } => ask(device).await,
        Kind::Linux(_) => device.hardware().map(|hardware| of_linux(hardware.clocks())),
    };
    let found = found.unwrap_or_else(|status| DeviceClocks {
        condition: Condition::Bad.into(),
        text: status.message().into(),
        ..DeviceClocks::default()
    });
    DeviceClocks {
        device: device.name().into(),
        ..found
    }
}

async fn ask(device: &Device) -> Result<DeviceClocks, Status> {
    let gateware = device.gateware()?;
    let status = match gateware.register("clock/status") {
        Some(register) => device.run(program::read([register])).await?.results.first().copied(),
        None => None,
    };
    let setting = device.setting(SETTING).await?.unwrap_or_default();
    let subsystems = device.health().await?;
    let clock = subsystems.iter().find(|one| one.name == "clock");
    let clock = clock.ok_or_else(|| Status::unavailable(format!("{} does not report its clock", device.name())))?;
    Ok(of_core(setting, clock, status))
}

/// Evaluates a core device's key, its subsystem `clock`, and the register if it exists.
fn of_core(setting: String, health: &Subsystem, status: Option<u32>) -> DeviceClocks {
    if health.condition == health::Condition::Absent {
        return DeviceClocks {
            condition: Condition::Absent.into(),
            text: health.text.clone(),
            setting,
            ..DeviceClocks::default()
        };
    }
    let is = |bit: u32| status.is_some_and(|status| status & bit != 0);
    let value = |name: &str| health.values.get(name).copied();
    let (is_external, is_selected) = (setting.starts_with(EXTERNAL), is(STATUS_SELECTED_BIT));
    let rtio_hertz = value("rtio_hertz").unwrap_or_default();
    let (condition, text) = match health.condition {
        health::Condition::Bad => (Condition::Bad, health.text.as_str()),
        _ if is(STATUS_SWITCHING_BIT) => (Condition::Warning, "a change is in progress"),
        _ if is(STATUS_HOLD_BIT) => (Condition::Bad, "PHYs are held in reset"),
        _ => (Condition::Good, ""),
    };
    let clock = |name: &str, hertz, used, source: &str, (condition, text): (Condition, &str)| Clock {
        name: name.into(),
        hertz,
        condition: condition.into(),
        text: text.into(),
        used,
        source: source.into(),
    };
    let source = if is_selected { "synthesiser" } else { OSCILLATOR };
    let mut clocks = vec![clock("rtio", rtio_hertz, true, source, (condition, text))];
    if let Some(hertz) = value("synthesiser_hertz") {
        let state = match (is_selected, hertz > 0.0) {
            (true, true) if !is(STATUS_LOCKED_BIT) => (Condition::Bad, "the RTIO PLL is not locked to it"),
            (true, true) if !near(hertz, rtio_hertz) => (
                Condition::Bad,
                "it is not the frequency for which the gateware is built",
            ),
            (true, false) => (Condition::Bad, "no signal"),
            (false, false) => (Condition::Absent, ""),
            (_, true) => (Condition::Good, ""),
        };
        let source = if is_external { "reference" } else { OSCILLATOR };
        clocks.push(clock("synthesiser", hertz, is_selected, source, state));
    }
    if let Some(hertz) = value("reference_hertz") {
        let state = match (is_external, hertz > 0.0) {
            (true, _) if health.condition == health::Condition::Warning => (Condition::Warning, health.text.as_str()),
            (true, false) => (Condition::Warning, "no signal"),
            (false, false) => (Condition::Absent, ""),
            (_, true) => (Condition::Good, ""),
        };
        clocks.push(clock("reference", hertz, is_external, "", state));
    }
    let worst = worst(&clocks);
    DeviceClocks {
        condition: worst.map_or(Condition::Absent.into(), |clock| clock.condition),
        text: worst.map_or_else(String::new, |clock| match clock.text.as_str() {
            "" => String::new(),
            text => format!("{}: {text}", clock.name),
        }),
        setting,
        clocks,
        ..DeviceClocks::default()
    }
}

/// The worst of the clocks in use, the first of equals.
fn worst(clocks: &[Clock]) -> Option<&Clock> {
    clocks
        .iter()
        .filter(|clock| clock.used)
        .rev()
        .max_by_key(|clock| clock.condition)
}

/// Clocks of a kernel count as good if they run, since the kernel reports no errors.
fn of_linux(clocks: Vec<kairos_endpoint::clocks::Clock>) -> DeviceClocks {
    let condition = if clocks.is_empty() {
        Condition::Absent
    } else {
        Condition::Good
    };
    let clocks = clocks.into_iter().map(|clock| Clock {
        condition: match clock.enabled || clock.hertz > 0.0 {
            true => Condition::Good.into(),
            false => Condition::Absent.into(),
        },
        name: clock.name,
        hertz: clock.hertz,
        text: String::new(),
        used: clock.enabled,
        source: clock.parent.unwrap_or_default(),
    });
    DeviceClocks {
        condition: condition.into(),
        text: match condition {
            Condition::Absent => {
                "the kernel reports no clocks: it has none, debugfs is not mounted, or the hub does not run as root"
                    .into()
            }
            _ => String::new(),
        },
        clocks: clocks.collect(),
        ..DeviceClocks::default()
    }
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= TOLERANCE * one.abs().max(other.abs())
}

/// Whether two states are equal apart from measurement errors.
pub fn same(one: &DeviceClocks, other: &DeviceClocks) -> bool {
    let still = |clock: &Clock| Clock {
        hertz: 0.0,
        ..clock.clone()
    };
    let bare = |device: &DeviceClocks| DeviceClocks {
        clocks: device.clocks.iter().map(still).collect(),
        ..device.clone()
    };
    bare(one) == bare(other)
        && one
            .clocks
            .iter()
            .zip(&other.clocks)
            .all(|(one, other)| near(one.hertz, other.hertz))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(condition: health::Condition, text: &str, [synthesiser, reference]: [f64; 2]) -> Subsystem {
        let values = [
            ("rtio_hertz", 125e6),
            ("synthesiser_hertz", synthesiser),
            ("reference_hertz", reference),
        ];
        Subsystem {
            name: "clock".into(),
            condition,
            text: text.into(),
            values: values.map(|(name, value)| (name.into(), value)).into(),
        }
    }

    fn found(setting: &str, health: &Subsystem, bits: &[u32]) -> (Condition, String, Vec<Condition>) {
        let status = bits.iter().fold(0, |status, bit| status | bit);
        let found = of_core(setting.into(), health, Some(status));
        (
            found.condition(),
            found.text.clone(),
            found.clocks.iter().map(Clock::condition).collect(),
        )
    }

    #[test]
    fn device_condition_is_that_of_its_worst_used_clock() {
        use health::Condition::{Bad as B, Good as G, Warning as W};
        use Condition::{Absent, Bad, Good, Warning};
        let well = [STATUS_SELECTED_BIT, STATUS_LOCKED_BIT];
        for (setting, health, bits, expected) in [
            (
                "int_125",
                health(G, "", [125e6, 0.0]),
                &well[..],
                (Good, "", [Good, Good, Absent]),
            ),
            (
                "ext0_synth0_10to125",
                health(G, "", [125e6, 10e6]),
                &well,
                (Good, "", [Good, Good, Good]),
            ),
            (
                "ext0_synth0_10to125",
                health(W, "it has failed", [125e6, 0.0]),
                &well,
                (Warning, "reference: it has failed", [Good, Good, Warning]),
            ),
            (
                "ext0_bypass",
                health(B, "RTIO has no clock", [0.0, 0.0]),
                &[STATUS_HOLD_BIT],
                (Bad, "rtio: RTIO has no clock", [Bad, Absent, Warning]),
            ),
            (
                "int_125",
                health(G, "", [125e6, 0.0]),
                &[STATUS_SELECTED_BIT, STATUS_HOLD_BIT],
                (Bad, "rtio: PHYs are held in reset", [Bad, Bad, Absent]),
            ),
            (
                "int_125",
                health(G, "", [100e6, 0.0]),
                &well,
                (
                    Bad,
                    "synthesiser: it is not the frequency for which the gateware is built",
                    [Good, Bad, Absent],
                ),
            ),
        ] {
            let (condition, text, clocks) = expected;
            assert_eq!(
                found(setting, &health, bits),
                (condition, text.into(), clocks.to_vec()),
                "{setting} {health:?}"
            );
        }
    }

    #[test]
    fn gateware_without_a_synthesiser_has_one_clock() {
        let health = Subsystem {
            values: [("rtio_hertz".into(), 125e6)].into(),
            ..health(health::Condition::Good, "", [0.0, 0.0])
        };
        let found = of_core(String::new(), &health, None);
        let [rtio] = &found.clocks[..] else { panic!("{found:?}") };
        assert_eq!(
            (rtio.name.as_str(), rtio.source.as_str(), rtio.used),
            ("rtio", OSCILLATOR, true)
        );
        assert_eq!(found.condition(), Condition::Good);
    }

    #[test]
    fn measurement_noise_is_no_change() {
        let with =
            |hertz, setting: &str| of_core(setting.into(), &health(health::Condition::Good, "", [hertz, 0.0]), None);
        assert!(same(&with(125e6, "a"), &with(125_000_477.0, "a")));
        assert!(!same(&with(125e6, "a"), &with(126e6, "a")) && !same(&with(125e6, "a"), &with(125e6, "b")));
    }
}
