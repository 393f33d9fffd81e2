//! Transactions on an I2C bus whose lines are pins, driven level by level: waiting for half a bit
//! yields to other tasks.
//!
//! A transaction always leaves the bus as it found it: it ends with a stop condition, and the
//! switch is restored. (The kernel core, which has nothing else to do, has its own driver:
//! `kairos_chip::i2c`.)

use kairos_contracts::batch::I2C_READ_MAX;
use kairos_proto::batch::{Outcome, Transfer};

/// How long a device may stretch the clock, in half bits of 5 us: 25 ms, as SMBus allows.
const STRETCH: usize = 5000;
/// Clocks for a device that holds the data line in the middle of a byte: more than it has left.
const CLOCKS: usize = 20;

/// The lines. Released ones are high unless a device holds them low.
#[allow(async_fn_in_trait, reason = "one executor, whose tasks never move between threads")]
pub trait Lines {
    /// Releases the clock, or holds it low.
    fn set_clock(&mut self, high: bool);
    /// Releases the data line, or holds it low.
    fn set_data(&mut self, high: bool);
    /// Levels of clock and data.
    fn levels(&mut self) -> (bool, bool);
    /// Waits for half a bit.
    async fn half(&mut self);
}

/// Executes a transaction; returns the number of bytes read into `answer`. Errors are
/// [`Outcome::NotAcknowledged`] and [`Outcome::BusStuck`].
pub async fn transfer(
    lines: &mut impl Lines,
    transfer: &Transfer,
    answer: &mut [u8; I2C_READ_MAX],
) -> Result<usize, Outcome> {
    let mut bus = Bus(lines);
    let answer = &mut answer[..transfer.read];
    let read = answer.len();
    let Some(switch) = transfer.switch else {
        bus.exchange(transfer.address, transfer.written(), answer).await?;
        return Ok(read);
    };
    let mut before = [0];
    bus.exchange(switch.address, &[], &mut before).await?;
    bus.exchange(switch.address, &[switch.mask], &mut []).await?;
    let done = bus.exchange(transfer.address, transfer.written(), answer).await;
    let back = bus.exchange(switch.address, &before, &mut []).await;
    done.and(back).map(|()| read)
}

struct Bus<'a, L>(&'a mut L);

impl<L: Lines> Bus<'_, L> {
    /// Executes a transfer from start to stop condition.
    async fn exchange(&mut self, address: u8, written: &[u8], read: &mut [u8]) -> Result<(), Outcome> {
        let done = self.bytes(address, written, read).await;
        let stopped = self.stop().await;
        match done.and(stopped) {
            Err(Outcome::BusStuck) => {
                self.recover().await;
                Err(Outcome::BusStuck)
            }
            result => result,
        }
    }

    async fn bytes(&mut self, address: u8, written: &[u8], read: &mut [u8]) -> Result<(), Outcome> {
        let byte = address << 1;
        if !written.is_empty() || read.is_empty() {
            self.start().await?;
            for &byte in [byte].iter().chain(written) {
                self.send(byte).await?;
            }
        }
        if let Some(last) = read.len().checked_sub(1) {
            self.start().await?;
            self.send(byte | 1).await?;
            for (n, place) in read.iter_mut().enumerate() {
                *place = self.receive(n < last).await?;
            }
        }
        Ok(())
    }

    /// Generates a start condition, also within a transaction.
    async fn start(&mut self) -> Result<(), Outcome> {
        self.0.set_data(true);
        self.0.half().await;
        self.clock_high().await?;
        if !self.0.levels().1 {
            return Err(Outcome::BusStuck);
        }
        self.0.set_data(false);
        self.0.half().await;
        self.0.set_clock(false);
        Ok(())
    }

    async fn stop(&mut self) -> Result<(), Outcome> {
        self.0.set_data(false);
        self.0.half().await;
        self.clock_high().await?;
        self.0.set_data(true);
        self.0.half().await;
        match self.0.levels() {
            (true, true) => Ok(()),
            _ => Err(Outcome::BusStuck),
        }
    }

    async fn send(&mut self, byte: u8) -> Result<(), Outcome> {
        for n in (0..8).rev() {
            self.bit(byte >> n & 1 != 0).await?;
        }
        match self.bit(true).await? {
            false => Ok(()),
            true => Err(Outcome::NotAcknowledged),
        }
    }

    async fn receive(&mut self, acknowledge: bool) -> Result<u8, Outcome> {
        let mut byte = 0;
        for _ in 0..8 {
            byte = byte << 1 | u8::from(self.bit(true).await?);
        }
        self.bit(!acknowledge).await?;
        Ok(byte)
    }

    /// Generates one clock; returns the level of the data line.
    async fn bit(&mut self, level: bool) -> Result<bool, Outcome> {
        self.0.set_data(level);
        self.0.half().await;
        self.clock_high().await?;
        let seen = self.0.levels().1;
        self.0.set_clock(false);
        Ok(seen)
    }

    /// Releases the clock, and waits for devices that stretch it.
    async fn clock_high(&mut self) -> Result<(), Outcome> {
        self.0.set_clock(true);
        for _ in 0..STRETCH {
            self.0.half().await;
            if self.0.levels().0 {
                return Ok(());
            }
        }
        Err(Outcome::BusStuck)
    }

    /// Clocks an interrupted device until it releases the data line, and ends its transfer.
    async fn recover(&mut self) {
        for _ in 0..CLOCKS {
            match self.bit(true).await {
                Ok(false) => {}
                Ok(true) if self.stop().await.is_ok() => return,
                Ok(true) => {}
                // The clock is held low: recovery is impossible.
                Err(_) => break,
            }
        }
        self.0.set_data(true);
        self.0.set_clock(true);
    }
}

#[cfg(test)]
mod tests;
