//! The control socket: a Unix stream socket whose requests and replies are one line of JSON each.
//! What they mean is in [`super::requests`].

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::requests::Wait;

/// A connection.
pub struct Client {
    stream: UnixStream,
    input: Vec<u8>,
    /// It was the first one.
    pub first: bool,
    /// What it waits for. Its further requests wait too.
    pub waiting: Option<Wait>,
}

/// The socket and its clients.
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    /// Those who are connected.
    pub clients: Vec<Client>,
    accepted: bool,
}

impl Control {
    /// Listens at `path`, replacing a socket that nobody listens on. The error is a line for the user.
    pub fn new(path: &Path) -> Result<Self, String> {
        if path.exists() && UnixStream::connect(path).is_err() {
            let _ = std::fs::remove_file(path);
        }
        let listener = UnixListener::bind(path).map_err(|e| match e.kind() {
            ErrorKind::AddrInUse => format!("control socket {}: another emulator uses it", path.display()),
            _ => format!("control socket {}: {e}", path.display()),
        })?;
        listener
            .set_nonblocking(true)
            .map_err(|e| format!("control socket: {e}"))?;
        Ok(Self {
            listener,
            path: path.into(),
            clients: Vec::new(),
            accepted: false,
        })
    }

    /// Lets those in who want to connect.
    pub fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_ok() {
                self.clients.push(Client {
                    stream,
                    input: Vec::new(),
                    first: !self.accepted,
                    waiting: None,
                });
                self.accepted = true;
            }
        }
    }

    /// File descriptors that have something to read when there is something to do.
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> + '_ {
        let clients = self.clients.iter().map(|client| client.stream.as_raw_fd());
        clients.chain([self.listener.as_raw_fd()])
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Client {
    /// Reads what is there; false at the end of the stream.
    pub fn read(&mut self) -> bool {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(n) => self.input.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return true,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// The next request, unless it has to wait.
    pub fn request(&mut self) -> Option<Vec<u8>> {
        if self.waiting.is_some() {
            return None;
        }
        let end = self.input.iter().position(|byte| *byte == b'\n')?;
        Some(self.input.drain(..=end).collect())
    }

    /// Sends the reply that it has waited for.
    pub fn finish(&mut self, value: &Value) {
        self.waiting = None;
        self.reply(value);
    }

    /// Sends a reply, however long: the client is waiting for it.
    pub fn reply(&mut self, value: &Value) {
        let _ = self.stream.set_nonblocking(false);
        let _ = self.stream.set_write_timeout(Some(Duration::from_secs(5)));
        let _ = self.stream.write_all(format!("{value}\n").as_bytes());
        let _ = self.stream.set_nonblocking(true);
    }
}
