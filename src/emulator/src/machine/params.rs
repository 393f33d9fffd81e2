//! Parameters of the timing model, set with `--set NAME=VALUE`. Sources: docs/emulator.md, "Time".

/// Defaults are the assumptions stated with every result; only `gp_access` is measured (the
/// ARTIQ-Zynq paper).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// PL cycles from acceptance of a read address on the ACP to the first beat.
    pub acp_read_latency: u64,
    /// PL cycles from the cycle after the last beat of a write on the ACP until a polling core sees
    /// it (and the response).
    pub acp_write_visible: u64,
    /// CPU cycles a core stalls for one access through GP0, in total.
    pub gp_access: u64,
    /// CPU cycles a core stalls for one access through GP1, at least.
    pub gp1_access: u64,
    /// CPU cycles a core stalls for one access to the GPIO controller, in total.
    pub gpio_access: u64,
    /// Seed of refreshes, contention and interrupts that make accesses late; 0: none do.
    pub disturbances: u64,
    /// Virtual nanoseconds from the gateway to the guest's Ethernet controller.
    pub net_latency_ns: u64,
    /// CPU cycles one core may be ahead of the other.
    pub quantum: u64,
    /// Wall-clock milliseconds to wait for the host before virtual time advances, when only core
    /// 0's timers are left.
    pub host_wait_ms: u64,
    /// Sectors written to the SD card before it loses power; 0: it does not.
    pub sd_cut_after: u64,
    /// Virtual microseconds for which the SD card is busy after a sector is written.
    pub sd_write_us: u64,
    /// Temperature of the chip in °C.
    pub chip_celsius: u64,
    /// Whether the board has a clock synthesiser on its I2C bus: 1 or 0.
    pub si5324: u64,
    /// Whether it has an oscillator Si549 on a bus of its own: 1 or 0.
    pub si549: u64,
    /// Whether the board has the I/O expanders of a Kasli-SoC on its I2C bus: 1 or 0.
    pub expanders: u64,
    /// Frequency of the external clock at the synthesiser's input 1 in Hz; 0: none.
    pub clock_input: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            acp_read_latency: 20,
            acp_write_visible: 15,
            gp_access: 72,
            gp1_access: 72,
            gpio_access: 72,
            disturbances: 0,
            net_latency_ns: 20_000,
            quantum: 4000,
            host_wait_ms: 2000,
            sd_cut_after: 0,
            sd_write_us: 0,
            chip_celsius: 45,
            si5324: 1,
            si549: 0,
            expanders: 1,
            clock_input: 0,
        }
    }
}

/// Name, minimum, and field of each parameter.
type Named = (&'static str, u64, fn(&mut Params) -> &mut u64);

const NAMES: &[Named] = &[
    ("acp_read_latency", 1, |p| &mut p.acp_read_latency),
    ("acp_write_visible", 0, |p| &mut p.acp_write_visible),
    ("gp_access", 1, |p| &mut p.gp_access),
    ("gp1_access", 1, |p| &mut p.gp1_access),
    ("gpio_access", 1, |p| &mut p.gpio_access),
    ("disturbances", 0, |p| &mut p.disturbances),
    ("net_latency_ns", 0, |p| &mut p.net_latency_ns),
    ("quantum", 100, |p| &mut p.quantum),
    ("host_wait_ms", 0, |p| &mut p.host_wait_ms),
    ("sd_cut_after", 0, |p| &mut p.sd_cut_after),
    ("sd_write_us", 0, |p| &mut p.sd_write_us),
    ("chip_celsius", 0, |p| &mut p.chip_celsius),
    ("si5324", 0, |p| &mut p.si5324),
    ("si549", 0, |p| &mut p.si549),
    ("expanders", 0, |p| &mut p.expanders),
    ("clock_input", 0, |p| &mut p.clock_input),
];

impl Params {
    /// Applies one `NAME=VALUE`. The error is a one-line message for the user.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        let (name, value) = assignment
            .split_once('=')
            .ok_or_else(|| format!("--set {assignment}: expected NAME=VALUE"))?;
        let value: u64 = value
            .parse()
            .map_err(|_| format!("--set {assignment}: {value:?} is not a non-negative integer"))?;
        let Some((_, minimum, field)) = NAMES.iter().find(|row| row.0 == name) else {
            let names: Vec<&str> = NAMES.iter().map(|row| row.0).collect();
            return Err(format!(
                "--set {name}: no such parameter; there are {}",
                names.join(", ")
            ));
        };
        if value < *minimum {
            return Err(format!("--set {name}: the smallest value is {minimum}"));
        }
        *field(self) = value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameter_text_is_applied_or_rejected() {
        let mut p = Params::default();
        p.set("acp_read_latency=10").unwrap();
        assert_eq!(p.acp_read_latency, 10);
        p.set("clock_input=10000000").unwrap();
        assert_eq!((p.clock_input, p.si5324), (10_000_000, 1));
        for bad in ["x=1", "quantum", "quantum=many", "gp_access=0"] {
            assert!(p.set(bad).unwrap_err().starts_with("--set"), "{bad}");
        }
    }
}
