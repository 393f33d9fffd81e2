//! The RTIO clock: programs the synthesiser, where the gateware depends on one, as the key `rtio_clock` says.

use embassy_time::{block_for, Duration};
use kairos_board::i2c;
use kairos_proto::descriptor::Clock;
use kairos_services::rtio_clock::{self, Setting};
use kairos_services::si5324::{Bus, Error, Input, Si5324, Stuck};

use crate::config::Config;

/// Before the RTIO core leaves reset: its clock is as configured afterwards, or the error is logged and RTIO must not be used.
pub fn init(clock: &Clock, config: &Config) -> Result<(), ()> {
    let input = match clock.synthesiser {
        Clock::PROCESSING_SYSTEM => None,
        Clock::SI5324_CKIN1 => Some(Input::Ckin1),
        Clock::SI5324_CKIN2 => Some(Input::Ckin2),
        other => {
            log::error!("RTIO clock: synthesiser {other} of this gateware is unknown to this firmware");
            return Err(());
        }
    };
    let Some(setting) = choose(clock.frequency, input.is_some(), config) else {
        log::error!(
            "RTIO clock: no setting gives the {} Hz of this gateware",
            clock.frequency
        );
        return Err(());
    };
    let Some(input) = input else {
        log::info!("RTIO clock: {}, of the processing system", setting.name);
        return Ok(());
    };
    match program(&setting, input, clock.frequency) {
        Ok(()) => {
            log::info!("RTIO clock: {}, Si5324 ready", setting.name);
            Ok(())
        }
        Err(error) => {
            log::error!("RTIO clock: {}: {error}", setting.name);
            Err(())
        }
    }
}

fn choose(frequency: u32, synthesiser: bool, config: &Config) -> Option<Setting> {
    let default = rtio_clock::default(frequency);
    match config.setting("rtio_clock", rtio_clock::parse) {
        None => default,
        Some(setting) => match setting.check(frequency, synthesiser) {
            Ok(()) => Some(setting),
            Err(refused) => {
                log::warn!("configuration: rtio_clock={} is ignored: {refused}", setting.name);
                default
            }
        },
    }
}

fn program(setting: &Setting, input: Input, frequency: u32) -> Result<(), Error> {
    let mut chip = Si5324::find(BoardBus(i2c::Bus::after_reset()))?;
    chip.program(setting.reference, input, frequency)?;
    chip.release()
}

/// The board's bus, with whole transactions. The kernel core has not been released, so it is this core's.
struct BoardBus(i2c::Bus);

impl BoardBus {
    fn send(&mut self, address: u8, direction: u8, bytes: &[u8]) -> Result<bool, i2c::Stuck> {
        if !self.0.write(u32::from(address << 1 | direction))? {
            return Ok(false);
        }
        for byte in bytes {
            if !self.0.write(u32::from(*byte))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn receive(&mut self, address: u8, register: u8) -> Result<Option<u8>, i2c::Stuck> {
        self.0.start()?;
        let mut value = None;
        if self.send(address, 0, &[register])? {
            self.0.restart()?;
            if self.send(address, 1, &[])? {
                value = Some(self.0.read(false)? as u8);
            }
        }
        self.0.stop()?;
        Ok(value)
    }
}

impl Bus for BoardBus {
    fn write(&mut self, address: u8, bytes: &[u8]) -> Result<bool, Stuck> {
        let mut transfer = || {
            self.0.start()?;
            let acknowledged = self.send(address, 0, bytes)?;
            self.0.stop()?;
            Ok(acknowledged)
        };
        transfer().map_err(|i2c::Stuck| Stuck)
    }

    fn read(&mut self, address: u8, register: u8) -> Result<Option<u8>, Stuck> {
        self.receive(address, register).map_err(|i2c::Stuck| Stuck)
    }

    fn wait_ms(&mut self, milliseconds: u32) {
        block_for(Duration::from_millis(u64::from(milliseconds)));
    }
}
