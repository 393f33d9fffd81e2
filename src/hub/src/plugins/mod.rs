//! Plugins: separate processes, in any language, whose methods the hub serves like its own
//! (`docs/hub-plugins.md`).
//!
//! [`settings`] is their section of hub.toml, [`protocol`] the services they offer. A [`process`]
//! is started, watched and restarted; its output goes to the hub's log ([`lines`]); its
//! [`processes`] and their memory are counted and have [`limits`]; those that have left it
//! ([`orphans`]) are ended too; [`forward`] forwards calls.

pub mod forward;
pub mod limits;
mod lines;
pub mod orphans;
pub mod process;
mod processes;
pub mod protocol;
pub mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::access::Role;
use process::Plugin;

/// All plugins in hub.toml.
#[derive(Clone, Default)]
pub struct Plugins(Arc<Vec<Plugin>>);

impl Plugins {
    pub fn new(plugins: Vec<Plugin>) -> Self {
        Self(Arc::new(plugins))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Plugin> {
        self.0.iter()
    }

    pub fn find(&self, name: &str) -> Option<&Plugin> {
        self.iter().find(|plugin| plugin.name() == name)
    }

    /// The plugin that offers a method.
    fn with_method(&self, path: &str) -> Option<&Plugin> {
        self.iter().find(|plugin| plugin.protocol().methods.contains_key(path))
    }

    /// The roles that the methods of plugins require.
    pub fn methods(&self) -> BTreeMap<String, Role> {
        self.iter()
            .flat_map(|plugin| plugin.protocol().methods.clone())
            .collect()
    }
}
