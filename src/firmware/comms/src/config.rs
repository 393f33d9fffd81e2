//! The device's configuration: the store on the SD card, and the settings that take effect here.

use core::cell::RefCell;

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Instant};
use heapless::String;
use kairos_chip::sd::Slot;
use kairos_config::auth::{self, Access, Nonces};
use kairos_config::card::{BlockDevice, DeviceError, Recovery, Sector};
use kairos_config::keys::{self, AtOnce, Key, Setting};
use kairos_config::settings::Level;
use kairos_config::store::{Error, Store, Workspace};
use log::LevelFilter;
use static_cell::{ConstStaticCell, StaticCell};
use zynq7000_hal::clocks::Clocks;

use crate::{logger, watchdog};

/// Signals that the value of the key `idle_kernel` may have changed.
pub static IDLE_KERNEL_CHANGED: Signal<CriticalSectionRawMutex, ()> = Signal::new();

/// Longest value of a textual setting, in bytes.
const TEXT_MAX: usize = 128;

/// Longest interval between calls of [`BackgroundWork::run`] during an access to the card.
const BACKGROUND_INTERVAL: Duration = Duration::from_millis(1);

/// Work that cannot wait as long as an access to the card may take.
pub trait BackgroundWork {
    /// Does the pending work. Called often, and from within accesses to the configuration.
    fn run(&self);
}

/// The card, where a hundred sectors may take a second: background work is done meanwhile.
struct PolledCard {
    slot: Slot,
    background: Option<&'static dyn BackgroundWork>,
    last: Instant,
}

impl PolledCard {
    fn run_background<T>(&mut self, result: T) -> T {
        if self.last.elapsed() >= BACKGROUND_INTERVAL {
            if let Some(work) = self.background {
                work.run();
            }
            self.last = Instant::now();
        }
        result
    }
}

impl BlockDevice for PolledCard {
    fn reset(&mut self) -> Result<(), DeviceError> {
        self.slot.reset()
    }

    fn read(&mut self, sector: u32, data: &mut Sector) -> Result<(), DeviceError> {
        let result = self.slot.read(sector, data);
        self.run_background(result)
    }

    fn write(&mut self, sector: u32, data: &Sector) -> Result<(), DeviceError> {
        let result = self.slot.write(sector, data);
        self.run_background(result)
    }
}

/// The configuration. Each access uses the card and blocks the core, apart from the background
/// work done meanwhile.
pub struct Config {
    store: RefCell<Store<'static, PolledCard>>,
    access: RefCell<Access>,
    nonces: RefCell<Nonces>,
}

/// Finds the card and sets the log levels. Without a card the device runs with defaults.
pub fn init(registers: zynq7000::sdio::MmioRegisters<'static>, clocks: &Clocks) -> &'static Config {
    static ROOM: ConstStaticCell<Workspace> = ConstStaticCell::new(Workspace::new());
    static CONFIG: StaticCell<Config> = StaticCell::new();
    let mut slot = Slot::new();
    slot.attach(registers, clocks);
    let device = PolledCard {
        slot,
        background: None,
        last: Instant::now(),
    };
    let store = Store::new(device, ROOM.take());
    let config = CONFIG.init(Config {
        store: RefCell::new(store),
        access: RefCell::new(Access::Open),
        nonces: RefCell::new(Nonces::new()),
    });
    match config.read(Key::Ip.name(), &mut [0; TEXT_MAX]) {
        Err(error @ Error::Card(_)) => log::warn!("configuration: {error}; defaults are used"),
        _ => log::info!("configuration: on the SD card"),
    }
    for key in [AtOnce::LogLevel, AtOnce::UartLogLevel, AtOnce::AuthKey] {
        config.apply(key);
    }
    config
}

impl Config {
    /// Registers work to be done during long accesses.
    pub fn set_background_work(&self, work: &'static dyn BackgroundWork) {
        self.store.borrow_mut().device().background = Some(work);
    }

    /// Reads a value into `out`; returns its length, or `None` if the key has no value.
    pub fn read(&self, key: &str, out: &mut [u8]) -> Result<Option<usize>, Error> {
        self.with(|store| store.read(key, out))
    }

    /// Writes a value, and applies it if it takes effect at once.
    pub fn write(&self, key: &str, value: &[u8]) -> Result<(), Error> {
        self.with(|store| store.write(key, value))?;
        self.changed(key);
        Ok(())
    }

    /// Removes a key.
    pub fn remove(&self, key: &str) -> Result<(), Error> {
        self.with(|store| store.remove(key))?;
        self.changed(key);
        Ok(())
    }

    /// Removes all keys.
    pub fn erase(&self) -> Result<(), Error> {
        self.with(|store| store.erase())?;
        AtOnce::ALL.iter().for_each(|key| self.apply(*key));
        Ok(())
    }

    /// Who may manage the device. The key is cached at boot and at each write, so removing the card
    /// grants no access.
    pub fn access(&self) -> Access {
        self.access.borrow().clone()
    }

    /// Returns a nonce that no connection has had before.
    pub fn nonce(&self) -> auth::Digest {
        let access = self.access.borrow();
        let now = Instant::now().as_ticks().to_le_bytes();
        self.nonces.borrow_mut().next(access.key().unwrap_or_default(), &now)
    }

    fn with<T>(&self, access: impl FnOnce(&mut Store<'static, PolledCard>) -> Result<T, Error>) -> Result<T, Error> {
        let mut store = self.store.borrow_mut();
        let result = watchdog::during_card(|| access(&mut store));
        match store.take_recovery() {
            Some(Recovery::Completed(sectors)) => {
                log::warn!("configuration: completed a write that a power loss had interrupted ({sectors} sectors)");
            }
            Some(Recovery::Dropped) => {
                log::warn!("configuration: dropped an interrupted write: the card was changed since");
            }
            _ => {}
        }
        result
    }

    /// The value of a text key. An invalid value is logged and ignored.
    pub fn setting<T>(&self, setting: &Setting<T>) -> Option<T> {
        let key = setting.key.name();
        let text = self.text(key)?;
        let value = setting.parse(&text);
        if value.is_none() {
            log::warn!("configuration: {key}={} is invalid and ignored", text.trim_end());
        }
        value
    }

    fn text(&self, key: &str) -> Option<String<TEXT_MAX>> {
        let mut bytes = [0; TEXT_MAX];
        match self.read(key, &mut bytes) {
            Ok(length) => match core::str::from_utf8(&bytes[..length?]) {
                Ok(text) => String::try_from(text).ok(),
                Err(_) => {
                    log::warn!("configuration: {key} is not text and is ignored");
                    None
                }
            },
            // Logged once, at boot.
            Err(Error::Card(_)) => None,
            Err(error) => {
                log::warn!("configuration: {key}: {error}");
                None
            }
        }
    }

    /// Applies a changed key, if it takes effect at once.
    fn changed(&self, name: &str) {
        if let Some(key) = keys::find(name).and_then(Key::at_once) {
            self.apply(key);
        }
    }

    fn apply(&self, key: AtOnce) {
        let level = |setting| self.setting(setting).map_or(LevelFilter::Info, filter);
        match key {
            AtOnce::LogLevel => logger::set_level(level(&keys::LOG_LEVEL)),
            AtOnce::UartLogLevel => logger::set_uart_level(level(&keys::UART_LOG_LEVEL)),
            AtOnce::IdleKernel => IDLE_KERNEL_CHANGED.signal(()),
            AtOnce::AuthKey => self.apply_key(),
        }
    }

    fn apply_key(&self) {
        let mut value = [0; auth::VALUE_MAX];
        let read = self.read(auth::KEY, &mut value);
        if matches!(read, Err(Error::Card(_))) {
            // Without a card at boot there is no key. Later the cached one counts.
            return;
        }
        let access = Access::of(read, &value);
        if access == Access::Closed {
            log::error!(
                "configuration: {} must have {} to {} bytes: all management clients are refused",
                auth::KEY,
                auth::KEY_MIN,
                auth::KEY_MAX
            );
        }
        let has_key = access.key().is_some();
        self.access.replace(access);
        if !has_key {
            return;
        }
        // Otherwise two boots differ only in the times at which clients connect, which clients
        // choose.
        let mut seed = [0; auth::VALUE_MAX];
        if let Ok(Some(length)) = self.read(auth::SEED, &mut seed) {
            self.nonces.borrow_mut().stir(&seed[..length]);
        }
        let next = self.nonce();
        if let Err(error) = self.with(|store| store.write(auth::SEED, &next)) {
            log::warn!(
                "configuration: {}: {error}; nonces may repeat after a restart",
                auth::SEED
            );
        }
    }
}

fn filter(level: Level) -> LevelFilter {
    match level {
        Level::Off => LevelFilter::Off,
        Level::Error => LevelFilter::Error,
        Level::Warn => LevelFilter::Warn,
        Level::Info => LevelFilter::Info,
        Level::Debug => LevelFilter::Debug,
        Level::Trace => LevelFilter::Trace,
    }
}
