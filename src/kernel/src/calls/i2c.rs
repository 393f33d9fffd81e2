//! The I2C calls of kernels (kernel ABI, section 2.8), on the board's bus ([`kairos_chip::i2c`]).

use kairos_chip::i2c::{Bus, Stuck};
use kairos_intercore::{Shared, KERNEL};
use kairos_proto::exception::Id;

use crate::owned::Lent;
use crate::raise;

/// The bus, modified in place: a kernel may be killed at any step, and [`recover`] must know the
/// state. This core owns the bus from start to stop condition; between two transactions the comms
/// core may take it for one.
static BUS: Lent<Bus> = Lent::new(Bus::new());

/// Recovers the bus in a restart: the previous kernel may have been stopped in the middle of a
/// byte.
pub fn recover() {
    BUS.reclaim();
    BUS.with(Bus::recover);
    Shared::get().release_bus(KERNEL);
}

/// Waits until the comms core has released the bus.
#[inline(never)]
fn take_turn() {
    while !Shared::get().kernel_takes_bus() {}
}

/// Releases the bus between two transactions, so that the comms core may have it.
#[inline(never)]
fn end_turn(bus: &Bus) {
    if !bus.is_open() {
        Shared::get().release_bus(KERNEL);
    }
}

fn in_turn<T>(action: impl FnOnce(&mut Bus) -> T) -> T {
    take_turn();
    BUS.with(|bus| {
        let result = action(bus);
        end_turn(bus);
        result
    })
}

/// Runs `action` on bus 0 and returns its result, or raises an exception.
fn on<T: Default>(number: u32, message: &'static str, action: impl FnOnce(&mut Bus) -> Result<T, Stuck>) -> T {
    let result = if number == 0 { in_turn(action) } else { Err(Stuck) };
    result.unwrap_or_else(|Stuck| {
        raise::firmware(Id::I2cError, message, [0; 3]);
        T::default()
    })
}

extern "C" fn start_on(bus: u32) {
    on(bus, "I2C start fail", Bus::start);
}

extern "C" fn restart_on(bus: u32) {
    on(bus, "I2C restart fail", Bus::restart);
}

extern "C" fn stop_on(bus: u32) {
    on(bus, "I2C stop fail", Bus::stop);
}

/// `data`: only the low 8 bits are valid.
extern "C" fn write_on(bus: u32, data: u32) -> u32 {
    on(bus, "I2C write fail", |bus| bus.write(data).map(u32::from))
}

/// `acknowledge`: only bit 0 is valid.
extern "C" fn read_on(bus: u32, acknowledge: u32) -> u32 {
    on(bus, "I2C read fail", |bus| bus.read(acknowledge & 1 != 0))
}

/// `mask`: at most one channel.
extern "C" fn switch_select_on(bus: u32, address: u32, mask: u32) {
    on(bus, "I2C switch select fail", |bus| match mask & 0xff {
        mask if mask.count_ones() <= 1 => bus.switch_select(address & 0x7f, mask),
        _ => Err(Stuck),
    });
}

raise::raising! {
    i2c_start => start_on;
    i2c_restart => restart_on;
    i2c_stop => stop_on;
    i2c_write => write_on;
    i2c_read => read_on;
    i2c_switch_select => switch_select_on;
}
