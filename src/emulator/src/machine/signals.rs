//! The wires inside of the chip: interrupt lines, events, resets, clocks, and what configures the PL.

use super::time::Cycles;

/// Levels of the interrupt lines into the interrupt controller, and of those that it drives.
#[derive(Default)]
pub struct Lines {
    /// Private lines 16 to 31 of each core, as bits of a word.
    pub private: [u32; 2],
    /// Shared lines: bit n is line 32 + n.
    pub shared: u64,
    /// The IRQ input of each core.
    pub irq: [bool; 2],
}

/// The frequency of a clock in Hz, 0 while it is silent. It may be about to change.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Frequency before the change.
    pub frequency: u64,
    /// When it changes, and to what.
    pub change: Option<(Cycles, u64)>,
}

impl Clock {
    /// A frequency that stays.
    pub fn steady(frequency: u64) -> Self {
        Self {
            frequency,
            change: None,
        }
    }

    /// Frequency at `now`.
    pub fn at(&self, now: Cycles) -> u64 {
        match self.change {
            Some((time, frequency)) if now >= time => frequency,
            _ => self.frequency,
        }
    }
}

/// What the configuration controller does to the PL.
#[derive(Debug, PartialEq, Eq)]
pub enum Configuration {
    /// It loses its configuration.
    Clear,
    /// These words arrive at its configuration port.
    Words(Vec<u32>),
}

/// What has reset the system: bits of `REBOOT_STATUS`.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Cause {
    /// The system watchdog.
    Watchdog = 1 << 16,
    /// A register of the SLCR.
    Software = 1 << 19,
}

/// What the UARTs have sent since power-up.
#[derive(Default)]
pub struct Console {
    /// Everything, in the order of time.
    pub text: Vec<u8>,
    /// How many bytes of it each UART has sent.
    pub sent: [usize; 2],
}

/// Where a core was when it last left the memory of the kernel's library: registers that say who called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caller {
    /// Return address.
    pub link: u32,
    /// Stack pointer.
    pub stack: u32,
    /// r11, from which frames of no fixed size are found.
    pub frame: u32,
}

/// The wires. What the machine has to act on is an `Option` or a flag, which it takes.
#[derive(Default)]
pub struct Signals {
    /// Interrupts.
    pub lines: Lines,
    /// Event register of each core, for `wfe`, with the time it was set.
    pub event: [Option<Cycles>; 2],
    /// Of the core that executes `sev`, or stores to a register.
    pub caller: Caller,
    /// Core 1 was put into reset.
    pub core1_held: bool,
    /// Core 1 was released after that: it starts at address 0.
    pub core1_released: bool,
    /// Reset everything.
    pub system_reset: Option<Cause>,
    /// The DDR controller has come up.
    pub ddr_running: bool,
    /// Translated code of this core may be stale: its code was loaded by someone else.
    pub flush_code: [bool; 2],
    /// Address translations of this core may be stale.
    pub flush_tlb: [bool; 2],
    /// Clock of the DDR controller in MHz, if it runs and the pins are calibrated.
    pub ddr_clock: Option<f64>,
    /// The clock of the port that configures the PL runs.
    pub pcap_clock: bool,
    /// What the board's clock synthesiser gives.
    pub synthesiser: Clock,
    /// The external clock of the board.
    pub reference: Clock,
    /// For the PL, which takes it.
    pub configuration: Option<Configuration>,
    /// The PL says that it is configured (DONE); taken by the configuration controller.
    pub configured: bool,
    /// EMIO lines of the GPIO controller to the PL, banks 2 and 3…
    pub lines_out: u64,
    /// …and those from it, as of the time to which the PL was brought.
    pub lines_in: u64,
    /// Everybody is to look at the wires after this access.
    pub changed: bool,
    /// Text.
    pub console: Console,
}

impl Signals {
    /// After a reset of the system: nothing is asked of the machine any more.
    pub fn reset(&mut self) {
        *self = Self {
            console: std::mem::take(&mut self.console),
            ddr_clock: self.ddr_clock,
            pcap_clock: self.pcap_clock,
            synthesiser: self.synthesiser,
            reference: self.reference,
            ..Self::default()
        };
    }
}
