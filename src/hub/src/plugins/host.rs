//! Starts plugins, at the beginning and by `reload`, and lets the rest of the hub know of them:
//! access control, metrics, the health and reflection services, the watchdog.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::sync::{watch, Mutex, MutexGuard};
use tokio::task::JoinHandle;
use tonic_health::server::HealthReporter;
use tonic_health::ServingStatus;

use super::limits::Groups;
use super::process::{self, HubAccess, Plugin};
use super::reflection::Reflection;
use super::settings::PluginSettings;
use crate::access::Gate;
use crate::life::Heartbeats;
use crate::metrics::Calls;

/// What must know of each plugin.
pub struct Registries {
    pub gate: Arc<Gate>,
    pub calls: &'static Calls,
    pub reflection: Reflection,
    pub health: HealthReporter,
    pub heartbeats: Heartbeats,
}

/// The plugins in hub.toml.
#[derive(Clone)]
pub struct Plugins(Arc<Shared>);

struct Shared {
    /// In the order of hub.toml.
    plugins: RwLock<Vec<Arc<Plugin>>>,
    /// Held during changes.
    host: Mutex<Host>,
}

/// Why `reload` failed.
#[derive(Debug)]
pub enum ReloadError {
    /// Neither hub.toml nor the hub has the plugin.
    Unknown,
    /// A line for the user.
    Refused(String),
}

impl Plugins {
    /// Starts these plugins. `control_group`: as in hub.toml.
    pub async fn start(
        plugins: Vec<PluginSettings>,
        registries: Registries,
        sockets: Sockets,
        control_group: Option<PathBuf>,
    ) -> Result<Self, String> {
        let host = Host {
            registries,
            sockets,
            control_group,
            groups: None,
            reports: Vec::new(),
        };
        let all = Self(Arc::new(Shared {
            plugins: RwLock::default(),
            host: Mutex::new(host),
        }));
        let mut host = all.0.host.lock().await;
        for settings in plugins {
            all.add(&mut host, settings)?;
        }
        drop(host);
        Ok(all)
    }

    pub fn all(&self) -> Vec<Arc<Plugin>> {
        let plugins = self.0.plugins.read().unwrap_or_else(PoisonError::into_inner);
        plugins.clone()
    }

    fn find(&self, name: &str) -> Option<Arc<Plugin>> {
        self.all().into_iter().find(|plugin| plugin.name() == name)
    }

    /// The plugin that offers a method.
    pub fn with_method(&self, path: &str) -> Option<Arc<Plugin>> {
        let plugins = self.0.plugins.read().unwrap_or_else(PoisonError::into_inner);
        let found = plugins
            .iter()
            .find(|plugin| plugin.protocol().methods.contains_key(path));
        found.cloned()
    }

    /// Makes a plugin what the settings say, of which `settings` are those of all plugins: restarts
    /// it, starts it if it is new, ends it if it is no longer there. Returns when it is in the list
    /// with its new state; its process starts in the background.
    pub async fn reload(&self, name: &str, mut settings: Vec<PluginSettings>) -> Result<(), ReloadError> {
        let mut host = self.0.host.lock().await;
        let order: Vec<String> = settings.iter().map(|plugin| plugin.name.clone()).collect();
        let at = order.iter().position(|other| other == name);
        let new = at.map(|at| settings.swap_remove(at));
        match (self.find(name), new) {
            (None, None) => return Err(ReloadError::Unknown),
            (Some(plugin), None) => self.remove(&mut host, &plugin).await,
            (None, Some(new)) => {
                self.check(&new)?;
                self.add(&mut host, new).map_err(ReloadError::Refused)?;
            }
            (Some(plugin), Some(new)) if is_same(&plugin, &new) => plugin.reload(new).await,
            (Some(plugin), Some(new)) => {
                self.check(&new)?;
                self.remove(&mut host, &plugin).await;
                self.add(&mut host, new).map_err(ReloadError::Refused)?;
            }
        }
        drop(host);
        let position = |plugin: &Arc<Plugin>| order.iter().position(|name| name == plugin.name());
        let mut plugins = self.0.plugins.write().unwrap_or_else(PoisonError::into_inner);
        plugins.sort_by_key(|plugin| position(plugin).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Whether the plugins that run leave its services to this one.
    fn check(&self, new: &PluginSettings) -> Result<(), ReloadError> {
        let services = new.protocol.services();
        for plugin in self.all().iter().filter(|plugin| plugin.name() != new.name) {
            if let Some(service) = plugin.protocol().services().intersection(&services).next() {
                let other = plugin.name();
                let text = format!("plugin {other} still provides {service}: reload it first");
                return Err(ReloadError::Refused(text));
            }
            if let Some(file) = plugin.protocol().clash(&new.protocol) {
                let other = plugin.name();
                let text = format!("plugin {other} has another protocol file of the name {file}: reload it first");
                return Err(ReloadError::Refused(text));
            }
        }
        Ok(())
    }

    fn add(&self, host: &mut MutexGuard<'_, Host>, settings: PluginSettings) -> Result<(), String> {
        let groups = host.groups()?;
        let (known, new) = (self.all(), settings.protocol.files.clone());
        let files = known.iter().map(|plugin| &plugin.protocol().files).chain([&new]);
        host.registries.reflection.describe(files.map(Vec::as_slice))?;
        let plugin = Arc::new(host.start(settings, groups));
        host.announce(&plugin);
        let mut plugins = self.0.plugins.write().unwrap_or_else(PoisonError::into_inner);
        plugins.push(plugin);
        Ok(())
    }

    async fn remove(&self, host: &mut MutexGuard<'_, Host>, plugin: &Arc<Plugin>) {
        {
            let mut plugins = self.0.plugins.write().unwrap_or_else(PoisonError::into_inner);
            plugins.retain(|other| !Arc::ptr_eq(other, plugin));
        }
        plugin.end().await;
        host.withdraw(plugin).await;
        let left = self.all();
        let files = left.iter().map(|plugin| plugin.protocol().files.as_slice());
        if let Err(error) = host.registries.reflection.describe(files) {
            tracing::error!("{error}");
        }
        tracing::info!(plugin = plugin.name(), "ended: hub.toml has changed");
    }
}

/// Whether a plugin offers the same with these settings, so that its clients notice a restart only.
fn is_same(plugin: &Plugin, new: &PluginSettings) -> bool {
    plugin.layer() == new.layer
        && plugin.protocol().methods == new.protocol.methods
        && plugin.protocol().files == new.protocol.files
}

struct Host {
    registries: Registries,
    sockets: Sockets,
    control_group: Option<PathBuf>,
    /// Known once there is a plugin: it moves the hub into a group of its own.
    groups: Option<Groups>,
    /// Tasks that report the state of each plugin to the health service.
    reports: Vec<(String, JoinHandle<()>)>,
}

impl Host {
    fn groups(&mut self) -> Result<Groups, String> {
        let groups = match self.groups.take() {
            Some(groups) => groups,
            None => Groups::take(Path::new("/"), self.control_group.as_deref())?,
        };
        Ok(self.groups.insert(groups).clone())
    }

    fn start(&self, settings: PluginSettings, groups: Groups) -> Plugin {
        let secret = secret();
        if let Err(error) = &secret {
            tracing::error!(
                plugin = settings.name,
                "cannot provide a token, so it cannot make calls: {error}"
            );
        }
        let secret = secret.ok();
        let methods = settings.protocol.methods.clone();
        self.registries
            .gate
            .add_plugin(&settings.name, methods, secret.as_deref());
        let hub = secret.map(|token| HubAccess {
            address: format!("unix:{}", self.sockets.hub.display()),
            token,
        });
        Plugin::start(settings, self.sockets.folder.path(), hub, groups)
    }

    fn announce(&mut self, plugin: &Plugin) {
        let registries = &self.registries;
        registries.calls.add_methods(plugin.protocol().methods.keys());
        registries.heartbeats.add(plugin.name(), plugin.heartbeat());
        let report = tokio::spawn(report(entry(plugin), plugin.state(), registries.health.clone()));
        self.reports.push((plugin.name().into(), report));
    }

    async fn withdraw(&mut self, plugin: &Plugin) {
        self.registries.gate.remove_plugin(plugin.name());
        self.registries.heartbeats.remove(&plugin.heartbeat());
        if let Some(at) = self.reports.iter().position(|(name, _)| name == plugin.name()) {
            let (_, report) = self.reports.swap_remove(at);
            report.abort();
            // Otherwise it may report once more.
            let _ = report.await;
        }
        self.registries.health.clear_service_status(&entry(plugin)).await;
    }
}

/// The plugin's name in the health service.
fn entry(plugin: &Plugin) -> String {
    format!("plugin/{}", plugin.name())
}

/// Keeps a plugin's entry in the health service up to date.
async fn report(name: String, mut state: watch::Receiver<process::State>, reporter: HealthReporter) {
    loop {
        let status = match *state.borrow_and_update() {
            process::State::Running(_) => ServingStatus::Serving,
            process::State::Down(_) => ServingStatus::NotServing,
        };
        reporter.set_service_status(&name, status).await;
        if state.changed().await.is_err() {
            return;
        }
    }
}

/// A random token.
fn secret() -> std::io::Result<String> {
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Sockets between plugins and the hub, in a folder accessible to this user only, which is deleted
/// when the hub ends, or else by the next hub: it is locked as long as its hub runs.
pub struct Sockets {
    folder: TempDir,
    _lock: std::fs::File,
    hub: PathBuf,
}

impl Sockets {
    const PREFIX: &str = "kairos-hub-";
    const LOCK: &str = ".lock";

    /// The sockets, and the listener at that of the hub.
    pub fn new() -> std::io::Result<(Self, UnixListener)> {
        Self::delete_abandoned();
        let (folder, lock) = Self::locked_folder()?;
        let hub = folder.path().join("hub.socket");
        let listener = UnixListener::bind(&hub)?;
        let sockets = Self {
            folder,
            _lock: lock,
            hub,
        };
        Ok((sockets, listener))
    }

    /// A new folder and its lock. Another hub may take it for an abandoned one and delete it before
    /// it is locked: then it is created again.
    fn locked_folder() -> std::io::Result<(TempDir, std::fs::File)> {
        loop {
            let prefix = format!("{}{}-", Self::PREFIX, std::process::id());
            let folder = tempfile::Builder::new().prefix(&prefix).tempdir()?;
            let path = folder.path().join(Self::LOCK);
            let lock = std::fs::File::create(&path)?;
            lock.lock()?;
            if path.exists() {
                return Ok((folder, lock));
            }
        }
    }

    /// Deletes the folders of hubs that were killed.
    fn delete_abandoned() {
        let entries = std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(Self::PREFIX)) {
            // That of another user cannot be opened.
            let lock = std::fs::File::options().write(true).open(entry.path().join(Self::LOCK));
            let abandoned = match &lock {
                Ok(lock) => lock.try_lock().is_ok(),
                Err(error) => error.kind() == ErrorKind::NotFound && Self::has_dead_creator(&entry.file_name()),
            };
            if abandoned {
                // Another hub may delete it at the same time.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Whether the process that would have locked a folder, whose number is part of its name, has ended.
    fn has_dead_creator(name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        let number = name[Self::PREFIX.len()..]
            .split_once('-')
            .map_or("", |(number, _)| number);
        number
            .parse::<u32>()
            .is_ok_and(|number| !Path::new(&format!("/proc/{number}")).exists())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_of_running_or_unknown_creator_is_kept() {
        let of = |name: &str| Sockets::has_dead_creator(OsStr::new(name));
        assert!(!of(&format!("kairos-hub-{}-abcdef", std::process::id())));
        assert!(!of("kairos-hub-abcdef"));
        assert!(!of("kairos-hub-"));
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        assert!(of(&format!("kairos-hub-{}-abcdef", ended.id())));
    }
}
