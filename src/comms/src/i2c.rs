//! The I2C bus for transactions of batches, between two of the kernel: from a start to its stop the
//! bus is one core's.

use embassy_time::{Duration, Instant, Timer};
use kairos_batch::i2c::{self, Lines};
use kairos_channel::{Shared, COMMS};
use kairos_chip::i2c::Pins;
use kairos_contracts::batch::I2C_READ_MAX;
use kairos_proto::batch::{Outcome, Transfer};

/// Half a bit: 100 kbit/s, which every device understands.
const HALF: Duration = Duration::from_micros(5);
/// How long a kernel may keep the bus: longer than an EEPROM takes to be read.
const PATIENCE: Duration = Duration::from_millis(200);
/// Between two looks whether it still does.
const LOOK: Duration = Duration::from_micros(50);

/// Does a transaction; how many bytes of `answer` were read.
pub async fn transfer(wanted: &Transfer, answer: &mut [u8; I2C_READ_MAX]) -> Result<usize, Outcome> {
    let _turn = Turn::take().await?;
    i2c::transfer(&mut Wires(Pins::new()), wanted, answer).await
}

/// The bus, for as long as this is kept.
struct Turn;

impl Turn {
    async fn take() -> Result<Self, Outcome> {
        let _wish = Wish::new();
        let deadline = Instant::now() + PATIENCE;
        while !Shared::get().take_bus() {
            if Instant::now() > deadline {
                return Err(Outcome::BusBusy);
            }
            Timer::after(LOOK).await;
        }
        Ok(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        Shared::get().release_bus(COMMS);
    }
}

/// A kernel begins no further transaction while there is one.
struct Wish;

impl Wish {
    fn new() -> Self {
        Shared::get().want_bus(true);
        Self
    }
}

impl Drop for Wish {
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
