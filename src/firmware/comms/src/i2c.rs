//! I2C transactions of batches, executed between transactions of the kernel: from start to stop
//! condition the bus belongs to one core.

use embassy_time::{Duration, Instant, Timer};
use kairos_batch::i2c::{self, Lines};
use kairos_chip::i2c::Pins;
use kairos_contracts::batch::I2C_READ_MAX;
use kairos_intercore::{Shared, COMMS};
use kairos_proto::batch::{Outcome, Transfer};

/// Half a bit: 100 kbit/s, which every device supports.
const HALF: Duration = Duration::from_micros(5);
/// How long a kernel may keep the bus: longer than reading an EEPROM takes.
const BUS_TIMEOUT: Duration = Duration::from_millis(200);
/// Polling interval while the kernel keeps the bus.
const POLL_INTERVAL: Duration = Duration::from_micros(50);

/// Executes a transaction; returns the number of bytes read into `answer`.
pub async fn transfer(wanted: &Transfer, answer: &mut [u8; I2C_READ_MAX]) -> Result<usize, Outcome> {
    let _turn = Turn::take().await?;
    i2c::transfer(&mut Wires(Pins::new()), wanted, answer).await
}

/// Ownership of the bus, released on drop.
struct Turn;

impl Turn {
    async fn take() -> Result<Self, Outcome> {
        let _request = BusRequest::new();
        let deadline = Instant::now() + BUS_TIMEOUT;
        while !Shared::get().take_bus() {
            if Instant::now() > deadline {
                return Err(Outcome::BusBusy);
            }
            Timer::after(POLL_INTERVAL).await;
        }
        Ok(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        Shared::get().release_bus(COMMS);
    }
}

/// While this exists, a kernel begins no further transaction.
struct BusRequest;

impl BusRequest {
    fn new() -> Self {
        Shared::get().want_bus(true);
        Self
    }
}

impl Drop for BusRequest {
    fn drop(&mut self) {
        Shared::get().want_bus(false);
    }
}

struct Wires(Pins);

impl Lines for Wires {
    fn set_clock(&mut self, high: bool) {
        self.0.set_clock(high);
    }

    fn set_data(&mut self, high: bool) {
        self.0.set_data(high);
    }

    fn levels(&mut self) -> (bool, bool) {
        self.0.levels()
    }

    async fn half(&mut self) {
        Timer::after(HALF).await;
    }
}
