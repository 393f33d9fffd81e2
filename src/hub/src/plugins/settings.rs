//! `[[plugin]]` in hub.toml.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::protocol::Protocol;

/// The purpose of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Gives access to hardware of its own; makes no calls.
    Access,
    /// Makes decisions, and calls the hub and other plugins.
    Control,
}

/// Settings of a plugin.
#[derive(Clone, Debug)]
pub struct PluginSettings {
    pub name: String,
    pub layer: Layer,
    /// Program and arguments, executed in `folder`.
    pub command: Vec<String>,
    /// The folder of hub.toml.
    pub folder: PathBuf,
    pub protocol: Protocol,
    /// Limit of resident memory, in bytes.
    pub memory: u64,
    /// A plugin that does not answer for this time is restarted.
    pub patience: Duration,
    /// The plugin's own settings, as JSON.
    pub section: String,
}

/// The file format of an entry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginEntry {
    pub name: String,
    layer: Layer,
    command: Vec<String>,
    /// Relative to the folder of hub.toml.
    protocol: PathBuf,
    #[serde(default = "default_memory")]
    memory_mb: u64,
    #[serde(default = "default_patience")]
    patience_s: f64,
    #[serde(default)]
    settings: toml::Table,
}

fn default_memory() -> u64 {
    512
}

fn default_patience() -> f64 {
    5.0
}

impl PluginEntry {
    pub fn read(self, folder: &Path) -> Result<PluginSettings, String> {
        let name = self.name;
        let wrong = |text: &str| format!("plugin {name}: {text}");
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 32 || !name.chars().all(is_word) {
            return Err(wrong("a name has up to 32 letters, digits, - and _"));
        }
        if self.command.is_empty() {
            return Err(wrong("command is empty"));
        }
        if !(0.1..=3600.0).contains(&self.patience_s) {
            return Err(wrong("patience_s is 0.1 to 3600"));
        }
        let protocol = Protocol::compile(&folder.join(self.protocol)).map_err(|error| wrong(&error))?;
        Ok(PluginSettings {
            layer: self.layer,
            command: self.command,
            folder: folder.into(),
            memory: self.memory_mb.saturating_mul(1 << 20),
            patience: Duration::from_secs_f64(self.patience_s),
            section: serde_json::to_string(&self.settings).map_err(|error| wrong(&error.to_string()))?,
            protocol,
            name,
        })
    }
}
