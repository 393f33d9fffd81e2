//! Plugins: separate processes, in any language, whose methods the hub serves like its own
//! (`docs/hub-plugins.md`).
//!
//! [`settings`] is their section of hub.toml, [`protocol`] the services they offer. They are started
//! by the [`host`], at the beginning and when hub.toml has changed. A [`process`] is watched and
//! restarted; its output goes to the hub's log ([`lines`]); its [`processes`] and their memory are
//! counted and have [`limits`]; those that have left it ([`orphans`]) are ended too; [`forward`]
//! forwards calls, and [`reflection`] describes the methods.

pub mod forward;
pub mod host;
pub mod limits;
mod lines;
pub mod orphans;
pub mod process;
mod processes;
pub mod protocol;
pub mod reflection;
pub mod settings;
