//! The I2C calls of kernels (kernel ABI, section 2.8), on the board's bus ([`kairos_chip::i2c`]).

use kairos_chip::i2c::{Bus, Stuck};
use kairos_contracts::drtio::AuxiliaryPacket;
use kairos_intercore::{Kind, Shared, KERNEL};
use kairos_proto::exception::Id;
use kairos_proto::intercore::{BusTransfer, BusValue, Outcome};
use kairos_proto::layout::Layout;

use super::answer;
use crate::comms;
use crate::owned::BorrowCell;
use crate::raise;

/// The bus, modified in place: a kernel may be killed at any step, and [`recover`] must know the
/// state. This core owns the bus from start to stop condition; between two transactions the comms
/// core may take it for one.
static BUS: BorrowCell<Bus> = BorrowCell::new(Bus::new());

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

/// Executes an operation on the bus of this board; returns the byte, the acknowledge bit, or 0.
fn on_own_bus(operation: AuxiliaryPacket, [first, second]: [u8; 2]) -> Result<u32, Stuck> {
    let (first, second) = (u32::from(first), u32::from(second));
    in_turn(|bus| match operation {
        AuxiliaryPacket::I2cStartRequest => bus.start().map(|()| 0),
        AuxiliaryPacket::I2cRestartRequest => bus.restart().map(|()| 0),
        AuxiliaryPacket::I2cStopRequest => bus.stop().map(|()| 0),
        AuxiliaryPacket::I2cWriteRequest => bus.write(first).map(u32::from),
        AuxiliaryPacket::I2cReadRequest => bus.read(first != 0),
        _ if second.count_ones() <= 1 => bus.switch_select(first, second).map(|()| 0),
        _ => Err(Stuck),
    })
}

/// The same on the bus of another board, a card that speaks DRTIO, to which it goes as a packet.
fn elsewhere(operation: AuxiliaryPacket, bus: u32, [first, second]: [u8; 2]) -> Result<u32, Stuck> {
    let transfer = BusTransfer {
        packet: operation as u8,
        destination: (bus >> 16) as u8,
        bus: bus as u8,
        first,
        second,
    };
    comms::send(Kind::BusTransfer, &transfer.encode());
    if answer::outcome() == Some(Outcome::Done) {
        Ok(answer::record::<BusValue>().value.into())
    } else {
        answer::board();
        Err(Stuck)
    }
}

/// Executes an operation, or raises an exception.
fn on(bus: u32, message: &'static str, operation: AuxiliaryPacket, fields: [u8; 2]) -> u32 {
    let result = match bus {
        0 => on_own_bus(operation, fields),
        _ => elsewhere(operation, bus, fields),
    };
    result.unwrap_or_else(|Stuck| {
        raise::firmware(Id::I2cError, message, [0; 3]);
        0
    })
}

extern "C" fn start_on(bus: u32) {
    on(bus, "I2C start fail", AuxiliaryPacket::I2cStartRequest, [0; 2]);
}

extern "C" fn restart_on(bus: u32) {
    on(bus, "I2C restart fail", AuxiliaryPacket::I2cRestartRequest, [0; 2]);
}

extern "C" fn stop_on(bus: u32) {
    on(bus, "I2C stop fail", AuxiliaryPacket::I2cStopRequest, [0; 2]);
}

/// `data`: only the low 8 bits are valid.
extern "C" fn write_on(bus: u32, data: u32) -> u32 {
    on(bus, "I2C write fail", AuxiliaryPacket::I2cWriteRequest, [data as u8, 0])
}

/// `acknowledge`: only bit 0 is valid.
extern "C" fn read_on(bus: u32, acknowledge: u32) -> u32 {
    let acknowledge = acknowledge as u8 & 1;
    on(bus, "I2C read fail", AuxiliaryPacket::I2cReadRequest, [acknowledge, 0])
}

/// `mask`: on this board at most one channel.
extern "C" fn switch_select_on(bus: u32, address: u32, mask: u32) {
    let fields = [address as u8 & 0x7f, mask as u8];
    on(
        bus,
        "I2C switch select fail",
        AuxiliaryPacket::I2cSwitchSelectRequest,
        fields,
    );
}

raise::raising! {
    i2c_start => start_on;
    i2c_restart => restart_on;
    i2c_stop => stop_on;
    i2c_write => write_on;
    i2c_read => read_on;
    i2c_switch_select => switch_select_on;
}
