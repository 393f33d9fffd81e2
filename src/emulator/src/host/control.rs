//! The control socket: a Unix stream socket; requests and replies are one line of JSON each.
//! [`super::requests`] implements the requests.

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
    /// Whether this was the first client to connect.
    pub first: bool,
    /// The wait in progress, and the number of its request. Further requests are held back until it
    /// ends.
    pub waiting: Option<(Wait, Value)>,
}

/// The socket and its clients.
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    /// Connected clients.
    pub clients: Vec<Client>,
    accepted: bool,
}

impl Control {
    /// Listens at `path`, replacing a stale socket. The error is a one-line message for the user.
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

    /// Closes the socket and its connections, but leaves its path to the process that uses it too.
    pub fn leave(mut self) {
        self.path = PathBuf::new();
    }

    /// Accepts pending connections.
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

    /// File descriptors to poll for reading.
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
    /// Reads all available input; false at the end of the stream.
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

    /// Takes the next complete request; `None` while a wait is in progress.
    pub fn request(&mut self) -> Option<Vec<u8>> {
        if self.waiting.is_some() {
            return None;
        }
        let end = self.input.iter().position(|byte| *byte == b'\n')?;
        Some(self.input.drain(..=end).collect())
    }

    /// Ends the wait and sends its reply.
    pub fn finish(&mut self, value: Value) {
        if let Some((_, id)) = self.waiting.take() {
            self.reply(value, id);
        }
    }

    /// Sends a reply of any length, blocking: the client is waiting for it. `id`: the number that
    /// the client gave the request, or null.
    pub fn reply(&mut self, mut value: Value, id: Value) {
        if !id.is_null() {
            value["id"] = id;
        }
        let _ = self.stream.set_nonblocking(false);
        let _ = self.stream.set_write_timeout(Some(Duration::from_secs(5)));
        let _ = self.stream.write_all(format!("{value}\n").as_bytes());
        let _ = self.stream.set_nonblocking(true);
    }
}
