//! hub.toml: where to listen, tokens, devices and plugins.

use std::fs;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use kairos_contracts::analyzer;
use kairos_contracts::configuration::{AUTH_KEY_MAX, AUTH_KEY_MIN};
use kairos_contracts::hub;
use kairos_contracts::management::PORT;
use serde::de::{Deserializer, Error as _};
use serde::Deserialize;

use crate::access::{Role, Token, Tokens};
use crate::board::settings::{BoardEntry, BoardSettings};
use crate::plugins::settings::{PluginEntry, PluginSettings};

/// Maximum size of the file in bytes.
const FILE_MAX: u64 = 4 << 20;

/// The contents of hub.toml.
#[derive(Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    pub tls: Option<Tls>,
    pub tokens: Tokens,
    pub devices: Vec<DeviceSettings>,
    pub boards: Vec<BoardSettings>,
    /// Folder for state that must survive the hub.
    pub state: PathBuf,
    pub plugins: Vec<PluginSettings>,
    /// Folder of the control group that contains those of the plugins.
    pub control_group: Option<PathBuf>,
    /// Folder of the laboratory.
    pub laboratory: Option<PathBuf>,
    /// Folder with the files of the page, instead of those in the program.
    pub page: Option<PathBuf>,
}

/// The hub's TLS certificate and key, as PEM.
#[derive(Debug)]
pub struct Tls {
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
}

/// A core device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSettings {
    pub name: String,
    /// Host and port of its management service.
    pub address: String,
    /// Host and port of its analyzer.
    pub analyzer: String,
    /// The authentication key that the device requires.
    pub key: Option<Vec<u8>>,
}

/// The file format.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "default_listen", deserialize_with = "listen")]
    listen: SocketAddr,
    /// Relative to the folder of hub.toml.
    state: Option<PathBuf>,
    tls: Option<TlsEntry>,
    #[serde(default)]
    token: Vec<TokenEntry>,
    #[serde(default)]
    device: Vec<DeviceEntry>,
    #[serde(default)]
    board: Vec<BoardEntry>,
    #[serde(default)]
    plugin: Vec<PluginEntry>,
    control_group: Option<PathBuf>,
    laboratory: Option<LaboratoryEntry>,
    /// Relative to the folder of hub.toml.
    page: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LaboratoryEntry {
    /// Relative to the folder of hub.toml.
    folder: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TlsEntry {
    /// PEM files, relative to the folder of hub.toml.
    certificate_file: PathBuf,
    key_file: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenEntry {
    name: String,
    role: Role,
    /// Hash of the token, in hexadecimal.
    sha256: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceEntry {
    name: String,
    /// `host` or `host:port`.
    address: String,
    /// As `address`; defaults to the same host.
    analyzer: Option<String>,
    /// File with the authentication key, relative to the folder of hub.toml.
    key_file: Option<PathBuf>,
}

/// By default, only local clients can connect.
fn default_listen() -> SocketAddr {
    ([127, 0, 0, 1], hub::PORT).into()
}

fn listen<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(from)?;
    let example = default_listen();
    let wrong = |_| D::Error::custom(format!("'{text}' is not an address and port such as {example}"));
    text.parse().map_err(wrong)
}

impl Settings {
    /// Reads the file; `listen` overrides its setting. The error is a line for the user.
    pub fn load(path: &Path, listen: Option<SocketAddr>) -> Result<Self, String> {
        let text = text_of(path)?;
        Self::read(&text, path.parent().unwrap_or(Path::new("")), listen)
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Reads only the tokens, for a hub that listens at this address.
    pub fn load_tokens(path: &Path, listen: SocketAddr) -> Result<Tokens, String> {
        let text = text_of(path)?;
        let read = || {
            let file: File = toml::from_str(&text).map_err(|error| place(&text, &error))?;
            file.check(listen)?;
            tokens(file.token)
        };
        read().map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Parses the text of a file in `folder`.
    pub fn read(text: &str, folder: &Path, listen: Option<SocketAddr>) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| place(text, &error))?;
        let listen = listen.unwrap_or(file.listen);
        file.check(listen)?;
        let tls = file.tls.map(|entry| entry.read(folder)).transpose()?;
        let tokens = tokens(file.token)?;
        let devices = file.device.into_iter().map(|entry| entry.read(folder));
        let devices: Vec<_> = devices.collect::<Result<_, _>>()?;
        let boards = file.board.into_iter().map(|entry| entry.read(folder));
        let boards: Vec<_> = boards.collect::<Result<_, _>>()?;
        names(
            devices
                .iter()
                .map(|one| &*one.name)
                .chain(boards.iter().map(|one| &*one.name)),
        )?;
        let mut plugins: Vec<PluginSettings> = Vec::new();
        for entry in file.plugin {
            let plugin = entry.read(folder)?;
            let services = plugin.protocol.services();
            for other in &plugins {
                if other.name == plugin.name {
                    return Err(format!("two plugins have the name {}", plugin.name));
                }
                if let Some(service) = other.protocol.services().intersection(&services).next() {
                    return Err(format!(
                        "plugins {} and {} both provide {service}",
                        other.name, plugin.name
                    ));
                }
                if let Some(file) = other.protocol.clash(&plugin.protocol) {
                    return Err(format!(
                        "plugins {} and {} have different protocol files of the name {file}: give one of them another \
                         name",
                        other.name, plugin.name
                    ));
                }
            }
            plugins.push(plugin);
        }
        // systemd passes the folder that it created for a service (`StateDirectory=`).
        let given = file.state.or_else(|| Some(std::env::var_os("STATE_DIRECTORY")?.into()));
        Ok(Self {
            listen,
            state: folder.join(given.unwrap_or_else(|| "hub.state".into())),
            tls,
            tokens,
            devices,
            boards,
            plugins,
            control_group: file.control_group,
            laboratory: file.laboratory.map(|entry| folder.join(entry.folder)),
            page: file.page.map(|page| folder.join(page)),
        })
    }
}

/// The text of a file of the user.
fn text_of(path: &Path) -> Result<String, String> {
    let read = || -> io::Result<String> {
        let mut text = String::new();
        fs::File::open(path)?.take(FILE_MAX + 1).read_to_string(&mut text)?;
        match text.len() as u64 > FILE_MAX {
            true => Err(io::Error::other(format!("it has more than {FILE_MAX} bytes"))),
            false => Ok(text),
        }
    };
    read().map_err(|error| format!("{} cannot be read: {error}", path.display()))
}

impl File {
    /// Checks what entries say together.
    fn check(&self, listen: SocketAddr) -> Result<(), String> {
        if !listen.ip().is_loopback() && (self.tls.is_none() || self.token.is_empty()) {
            return Err(format!(
                "listening at {listen} accepts remote clients: this requires [tls], and a [[token]] for each of them"
            ));
        }
        if self.device.is_empty() && self.board.is_empty() && self.laboratory.is_none() {
            return Err("there is no [[device]], no [[board]] and no [laboratory]: the hub needs at least one".into());
        }
        Ok(())
    }
}

/// Checks that the names of devices are valid and unique.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut known: Vec<&str> = Vec::new();
    for name in names {
        if name.is_empty() || name.contains('/') {
            return Err(format!(
                "'{name}' is not a device name: it precedes a / in register names"
            ));
        }
        if known.contains(&name) {
            return Err(format!("two devices have the name {name}"));
        }
        known.push(name);
    }
    Ok(())
}

/// One line with the position and text of a parse error.
fn place(text: &str, error: &toml::de::Error) -> String {
    let said = error.message().replace('\n', ", ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return said;
    };
    format!("line {}: {said}", before.matches('\n').count() + 1)
}

impl TlsEntry {
    fn read(self, folder: &Path) -> Result<Tls, String> {
        let read = |file: PathBuf| {
            let path = folder.join(file);
            std::fs::read(&path).map_err(|error| format!("[tls]: {} cannot be read: {error}", path.display()))
        };
        Ok(Tls {
            certificate: read(self.certificate_file)?,
            key: read(self.key_file)?,
        })
    }
}

fn tokens(entries: Vec<TokenEntry>) -> Result<Tokens, String> {
    let mut tokens: Vec<Token> = Vec::new();
    for TokenEntry { name, role, sha256 } in entries {
        if tokens.iter().any(|other| *other.name == *name) {
            return Err(format!("two tokens have the name {name}"));
        }
        let sha256 = digest(&sha256).ok_or_else(|| {
            format!("token {name}: sha256 must be 64 hexadecimal digits, as printed by 'kairos hub token'")
        })?;
        tokens.push(Token {
            name: name.into(),
            role,
            sha256,
        });
    }
    Ok(Tokens(tokens))
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let value = |digit: u8| char::from(digit).to_digit(16);
    let bytes = pairs
        .iter()
        .map(|&[high, low]| Some((value(high)? << 4 | value(low)?) as u8));
    bytes.collect::<Option<Vec<_>>>()?.try_into().ok()
}

impl DeviceEntry {
    fn read(self, folder: &Path) -> Result<DeviceSettings, String> {
        let name = self.name;
        let key = self.key_file.map(|file| key(&folder.join(file))).transpose();
        let wrong = |error: String| format!("device {name}: {error}");
        let address = with_port(&self.address, PORT).map_err(wrong)?;
        let host = address.rsplit_once(':').map_or("", |(host, _)| host);
        let analyzer = self.analyzer.as_deref().unwrap_or(host);
        let analyzer = with_port(analyzer, analyzer::PORT).map_err(wrong)?;
        Ok(DeviceSettings {
            key: key.map_err(wrong)?,
            name,
            address,
            analyzer,
        })
    }
}

/// Completes an address without a port.
fn with_port(address: &str, default: u16) -> Result<String, String> {
    match address.rsplit_once(':') {
        Some((host, port)) if host.ends_with(']') || !host.contains(':') => match port.parse::<u16>() {
            Ok(_) => Ok(address.into()),
            Err(_) => Err(format!("'{port}' is not a port")),
        },
        // An IPv6 address without brackets has no port.
        Some(_) if !address.ends_with(']') => Ok(format!("[{address}]:{default}")),
        _ => Ok(format!("{address}:{default}")),
    }
}

/// Reads a key from a file; trailing white space is ignored.
fn key(path: &Path) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let key = std::fs::read(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    let key = key.trim_ascii_end();
    let lengths = AUTH_KEY_MIN..=AUTH_KEY_MAX;
    if !lengths.contains(&key.len()) {
        let (least, most) = lengths.into_inner();
        return Err(format!(
            "{shown}: a key must have {least} to {most} bytes, this one has {}",
            key.len()
        ));
    }
    Ok(key.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(text: &str) -> Result<Vec<(String, String)>, String> {
        let settings = Settings::read(text, Path::new(""), None)?;
        Ok(settings
            .devices
            .into_iter()
            .map(|device| (device.name, device.address))
            .collect())
    }

    #[test]
    fn file_without_end_is_refused() {
        let refused = Settings::load(Path::new("/dev/zero"), None).err();
        assert_eq!(
            refused.as_deref(),
            Some("/dev/zero cannot be read: it has more than 4194304 bytes")
        );
    }

    #[test]
    fn address_without_port_gets_the_management_port() {
        let text = "listen = '127.0.0.2:7'\n\
                    [[device]]\nname = 'a'\naddress = 'lab'\n\
                    [[device]]\nname = 'b'\naddress = '10.0.0.2:99'\n\
                    [[device]]\nname = 'c'\naddress = 'fe80::1'\n\
                    [[device]]\nname = 'd'\naddress = '[fe80::1]:9'";
        let expected = [
            ("a", "lab:1380"),
            ("b", "10.0.0.2:99"),
            ("c", "[fe80::1]:1380"),
            ("d", "[fe80::1]:9"),
        ];
        let expected = expected.map(|(name, address)| (name.to_string(), address.to_string()));
        assert_eq!(devices(text), Ok(expected.to_vec()));
    }

    #[test]
    fn invalid_settings_are_reported_in_one_line() {
        let device = "[[device]]\nname = 'a'\naddress = 'lab'\n";
        for (text, expected) in [
            (String::new(), "there is no [[device]]"),
            (format!("{device}{device}"), "two devices have the name a"),
            (format!("{device}port = 3"), "line 4: unknown field `port`, expected"),
            (format!("{device}[[token]\n"), "line 4: unclosed array table"),
            (
                device.replace("'lab'", "5"),
                "line 3: invalid type: integer `5`, expected a string",
            ),
            (device.replace("'a'", "'a/b'"), "'a/b' is not a device name"),
            (device.replace("lab", "lab:x"), "device a: 'x' is not a port"),
            (
                format!("{device}key_file = '/nowhere/k'"),
                "device a: /nowhere/k cannot be read",
            ),
            (
                format!("listen = 'localhost'\n{device}"),
                "line 1: 'localhost' is not an address and port such as 127.0.0.1:1390",
            ),
            (
                format!("listen = '0.0.0.0:1390'\n{device}"),
                "listening at 0.0.0.0:1390 accepts remote clients: this requires [tls]",
            ),
            (
                format!("{device}[[token]]\nname = 'a'\nrole = 'view'\nsha256 = 'abc'"),
                "token a: sha256 must be 64",
            ),
            (
                format!("{device}[[token]]\nname = 'a'\nrole = 'see'\nsha256 = ''"),
                "unknown variant `see`",
            ),
            (
                format!("{device}[tls]\ncertificate_file = 'c'\nkey_file = '/nowhere'"),
                "[tls]: c cannot be read",
            ),
        ] {
            let error = devices(&text).expect_err(&text);
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn older_name_of_the_role_view_is_accepted() {
        let text = format!(
            "[[device]]\nname = 'a'\naddress = 'lab'\n\
             [[token]]\nname = 'b'\nrole = 'look'\nsha256 = '{}'",
            "0f".repeat(32)
        );
        let settings = Settings::read(&text, Path::new(""), None).unwrap();
        assert_eq!(settings.tokens.0[0].role, Role::View);
    }

    #[test]
    fn remote_clients_require_certificate_and_token() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("pem"), "p").unwrap();
        let digest = "0f".repeat(32);
        let text = format!(
            "[[device]]\nname = 'a'\naddress = 'lab'\n\
             [tls]\ncertificate_file = 'pem'\nkey_file = 'pem'\n\
             [[token]]\nname = 'b'\nrole = 'operate'\nsha256 = '{digest}'"
        );
        let listen = "[::]:1390".parse().ok();
        let settings = Settings::read(&text, folder.path(), listen).unwrap();
        let token = &settings.tokens.0[0];
        assert_eq!(
            (settings.listen.port(), token.role, token.sha256),
            (1390, Role::Operate, [15; 32])
        );
        assert!(Settings::read(text.split("[[token]]").next().unwrap(), folder.path(), listen).is_err());
    }
}
