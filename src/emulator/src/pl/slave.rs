//! General-purpose slave port 0, seen from the logic: a 32-bit AXI3 slave, which leads to memory and to the peripherals
//! of the processing system. The logic's accesses have one beat, and there is one at a time.
//!
//! An accepted access waits for the bus ([`Asked`]), which performs it on the models of the peripherals; its answer
//! reaches the logic `LATENCY` cycles after the access, or later if the bus was late.

use super::library::{Inputs, Outputs};
use crate::machine::peripheral::{Asked, Fault};

/// PL cycles from an accepted access to its answer.
const LATENCY: u64 = 30;
/// Addresses at which the logic reaches nothing (UG585, table 4-1): its own ports, and registers private to the cores.
const UNREACHABLE: [std::ops::Range<u32>; 2] = [0x4000_0000..0xc000_0000, 0xf890_0000..0xf8f1_0000];
const SLAVE_ERROR: u8 = 2;
const DECODE_ERROR: u8 = 3;

#[derive(Default)]
enum State {
    #[default]
    Idle,
    /// The access waits for the bus.
    Waits(Asked),
    /// The bus performs it.
    Performed,
    /// It has been answered: loaded word and response.
    Answered(u32, u8),
}

/// The access in progress.
#[derive(Default)]
pub struct Slave {
    state: State,
    address: Option<u32>,
    data: Option<(u32, u8)>,
    /// Whether it is a store, its address, and the cycle of its answer.
    stores: bool,
    at: u32,
    due: u64,
}

/// The bytes of a word that a store changes, as address, size and right-aligned value; `None` unless they can be those
/// of one access.
fn stored(address: u32, (data, strobes): (u32, u8)) -> Option<(u32, u32, u32)> {
    let (first, size) = (strobes.trailing_zeros(), strobes.count_ones());
    let whole = size.is_power_of_two() && first % size == 0 && u32::from(strobes) == ((1 << size) - 1) << first;
    whole.then_some(((address & !3) + first, size, data >> (8 * first)))
}

impl Slave {
    /// Whether no access is in progress.
    pub fn idle(&self) -> bool {
        matches!(self.state, State::Idle) && self.address.is_none() && self.data.is_none()
    }

    /// Whether an access waits for the bus.
    pub fn asks(&self) -> bool {
        matches!(self.state, State::Waits(_))
    }

    /// Takes the access that waits for the bus.
    pub fn take(&mut self) -> Option<Asked> {
        let State::Waits(asked) = self.state else { return None };
        self.state = State::Performed;
        Some(asked)
    }

    /// Gives its result.
    pub fn answer(&mut self, result: Result<u32, Fault>) {
        self.state = match result {
            Ok(value) => State::Answered(value << (8 * (self.at & 3)), 0),
            Err(Fault::Slave) => State::Answered(0, SLAVE_ERROR),
            Err(Fault::Decode) => State::Answered(0, DECODE_ERROR),
        };
    }

    /// The cycle in which it answers, if that is known.
    pub fn next_answer(&self) -> Option<u64> {
        matches!(self.state, State::Answered(..)).then_some(self.due)
    }

    /// Sets this side's signals for `cycle`.
    pub fn drive(&self, cycle: u64, inputs: &mut Inputs) {
        let free = matches!(self.state, State::Idle);
        inputs.sgp0_arready = (free && self.address.is_none() && self.data.is_none()).into();
        inputs.sgp0_awready = (free && self.address.is_none()).into();
        inputs.sgp0_wready = (free && self.data.is_none()).into();
        (inputs.sgp0_rvalid, inputs.sgp0_bvalid) = (0, 0);
        let State::Answered(word, response) = self.state else {
            return;
        };
        if cycle < self.due {
            return;
        }
        if self.stores {
            (inputs.sgp0_bvalid, inputs.sgp0_bresp) = (1, response);
        } else {
            (inputs.sgp0_rvalid, inputs.sgp0_rdata, inputs.sgp0_rresp) = (1, word, response);
        }
    }

    /// Performs the handshakes of `cycle`.
    pub fn sample(&mut self, cycle: u64, inputs: &Inputs, outputs: &Outputs) {
        let answered = inputs.sgp0_rvalid & outputs.sgp0_rready | inputs.sgp0_bvalid & outputs.sgp0_bready;
        if answered != 0 {
            self.state = State::Idle;
        }
        if inputs.sgp0_arready & outputs.sgp0_arvalid != 0 {
            self.begin(cycle, outputs.sgp0_araddr, 1 << outputs.sgp0_arsize, None);
            return;
        }
        if inputs.sgp0_awready & outputs.sgp0_awvalid != 0 {
            self.address = Some(outputs.sgp0_awaddr);
        }
        if inputs.sgp0_wready & outputs.sgp0_wvalid != 0 {
            self.data = Some((outputs.sgp0_wdata, outputs.sgp0_wstrb));
        }
        if let (Some(address), Some(data)) = (self.address, self.data) {
            (self.address, self.data) = (None, None);
            match stored(address, data) {
                Some((address, size, value)) => self.begin(cycle, address, size, Some(value)),
                None => {
                    (self.stores, self.due) = (true, cycle + LATENCY);
                    self.answer(Err(Fault::Slave));
                }
            }
        }
    }

    fn begin(&mut self, cycle: u64, address: u32, size: u32, store: Option<u32>) {
        (self.stores, self.at, self.due) = (store.is_some(), address, cycle + LATENCY);
        if UNREACHABLE.iter().any(|nothing| nothing.contains(&address)) {
            return self.answer(Err(Fault::Decode));
        }
        self.state = State::Waits(Asked { address, size, store });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers an access until it is accepted; returns what the bus is asked for.
    fn asked(slave: &mut Slave, outputs: Outputs) -> Option<Asked> {
        let mut inputs = Inputs::zero();
        slave.drive(10, &mut inputs);
        slave.sample(10, &inputs, &outputs);
        slave.take()
    }

    fn read(address: u32, size: u8) -> Outputs {
        let mut outputs = Outputs::zero();
        (outputs.sgp0_arvalid, outputs.sgp0_araddr, outputs.sgp0_arsize) = (1, address, size);
        outputs
    }

    fn write(address: u32, data: u32, strobes: u8) -> Outputs {
        let mut outputs = Outputs::zero();
        (outputs.sgp0_awvalid, outputs.sgp0_awaddr) = (1, address);
        (outputs.sgp0_wvalid, outputs.sgp0_wdata, outputs.sgp0_wstrb) = (1, data, strobes);
        outputs
    }

    #[test]
    fn read_is_answered_after_the_latency_and_once_the_bus_has_performed_it() {
        let mut slave = Slave::default();
        let access = asked(&mut slave, read(0xe000_1002, 1)).expect("accepted");
        assert_eq!((access.address, access.size, access.store), (0xe000_1002, 2, None));
        let (mut inputs, mut outputs) = (Inputs::zero(), Outputs::zero());
        slave.drive(10 + LATENCY, &mut inputs);
        assert_eq!(
            (inputs.sgp0_rvalid, inputs.sgp0_arready, slave.next_answer()),
            (0, 0, None)
        );
        slave.answer(Ok(0xabcd));
        assert_eq!(slave.next_answer(), Some(10 + LATENCY));
        slave.drive(9 + LATENCY, &mut inputs);
        assert_eq!(inputs.sgp0_rvalid, 0);
        slave.drive(10 + LATENCY, &mut inputs);
        assert_eq!((inputs.sgp0_rvalid, inputs.sgp0_rdata), (1, 0xabcd_0000));
        outputs.sgp0_rready = 1;
        slave.sample(10 + LATENCY, &inputs, &outputs);
        assert!(slave.idle());
    }

    #[test]
    fn strobes_of_a_write_are_an_access_of_their_bytes() {
        for (strobes, address, size, value) in [
            (0b1111, 0x20, 4, 0x4433_2211),
            (0b1100, 0x22, 2, 0x4433),
            (0b0010, 0x21, 1, 0x0044_3322),
        ] {
            let mut slave = Slave::default();
            let access = asked(&mut slave, write(0x20, 0x4433_2211, strobes)).expect("accepted");
            assert_eq!((access.address, access.size), (address, size));
            assert_eq!(access.store, Some(value));
        }
        for strobes in [0, 0b0110, 0b0101, 0b0111] {
            let mut slave = Slave::default();
            assert_eq!(asked(&mut slave, write(0x20, 1, strobes)), None);
            assert!(!slave.idle() && slave.next_answer().is_some());
        }
    }

    #[test]
    fn ports_of_the_logic_and_private_registers_are_decode_errors() {
        for address in [0x4000_0000, 0xbfff_fffc, 0xf8f0_0100] {
            let mut slave = Slave::default();
            assert_eq!(asked(&mut slave, read(address, 2)), None);
            let mut inputs = Inputs::zero();
            slave.drive(10 + LATENCY, &mut inputs);
            assert_eq!((inputs.sgp0_rvalid, inputs.sgp0_rresp), (1, DECODE_ERROR));
        }
    }
}
