//! The signals inside the chip: interrupt lines, events, resets, clocks, and configuration of the
//! PL.

use super::time::Cycles;

/// Levels of the interrupt lines into the interrupt controller, and of its outputs.
#[derive(Default)]
pub struct Lines {
    /// Private lines 16 to 31 of each core, as bits of a word.
    pub private: [u32; 2],
    /// Shared lines: bit n is line 32 + n.
    pub shared: u64,
    /// The IRQ input of each core.
    pub irq: [bool; 2],
}

/// The frequency of a clock in Hz, 0 while it is stopped, with an optional pending change.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Frequency before the change.
    pub frequency: u64,
    /// Time of the change, and new frequency.
    pub change: Option<(Cycles, u64)>,
}

impl Clock {
    /// A clock with constant frequency.
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

/// An action of the configuration controller on the PL.
#[derive(Debug, PartialEq, Eq)]
pub enum Configuration {
    /// Clears the configuration.
    Clear,
    /// Writes these words to the configuration port.
    Words(Vec<u32>),
}

/// Causes of a system reset: bits of `REBOOT_STATUS`.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Cause {
    /// The system watchdog.
    Watchdog = 1 << 16,
    /// A write to an SLCR register.
    Software = 1 << 19,
}

/// Output of the UARTs since power-up.
#[derive(Default)]
pub struct Console {
    /// Output of both UARTs, in order of time.
    pub text: Vec<u8>,
    /// Number of bytes sent by each UART.
    pub sent: [usize; 2],
}

/// Registers of a core when it last left the memory of the kernel's library; they identify the
/// caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caller {
    /// Return address.
    pub link: u32,
    /// Stack pointer.
    pub stack: u32,
    /// r11, the frame pointer of frames of variable size.
    pub frame: u32,
}

/// All signals. Requests to the machine are `Option`s or flags, which it takes.
#[derive(Default)]
pub struct Signals {
    /// Interrupts.
    pub lines: Lines,
    /// Event register of each core, for `wfe`, with the time it was set.
    pub event: [Option<Cycles>; 2],
    /// Caller on the core that executes `sev` or stores to a register.
    pub caller: Caller,
    /// Core 1 has been put into reset.
    pub core1_held: bool,
    /// Core 1 has since been released: it starts at address 0.
    pub core1_released: bool,
    /// A system reset is requested.
    pub system_reset: Option<Cause>,
    /// The DDR controller has started.
    pub ddr_running: bool,
    /// Translated code of this core may be stale: its code was loaded by another agent.
    pub flush_code: [bool; 2],
    /// Address translations of this core may be stale.
    pub flush_tlb: [bool; 2],
    /// Clock of the DDR controller in MHz, if it is running and the pins are calibrated.
    pub ddr_clock: Option<f64>,
    /// The clock of the PCAP, which configures the PL, is running.
    pub pcap_clock: bool,
    /// Output clock of the board's clock synthesiser.
    pub synthesiser: Clock,
    /// The external clock of the board.
    pub reference: Clock,
    /// The board's I/O expander switches the power of its cards on.
    pub card_power: bool,
    /// It selects the board's oscillator as its clock.
    pub own_clock: bool,
    /// Pending configuration action, taken by the PL.
    pub configuration: Option<Configuration>,
    /// The PL is configured (DONE); taken by the configuration controller.
    pub configured: bool,
    /// EMIO lines of the GPIO controller to the PL, banks 2 and 3…
    pub lines_out: u64,
    /// …and from the PL, as of the time to which it was updated.
    pub lines_in: u64,
    /// All peripherals must check the signals after this access.
    pub changed: bool,
    /// UART output.
    pub console: Console,
}

impl Signals {
    /// Resets the signals with the system: pending requests are cleared.
    pub fn reset(&mut self) {
        *self = Self {
            console: std::mem::take(&mut self.console),
            ddr_clock: self.ddr_clock,
            pcap_clock: self.pcap_clock,
            synthesiser: self.synthesiser,
            reference: self.reference,
            card_power: self.card_power,
            own_clock: self.own_clock,
            ..Self::default()
        };
    }
}
