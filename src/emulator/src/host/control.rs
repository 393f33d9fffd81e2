//! The control socket: a Unix stream socket; requests and replies are one line of JSON each.
//! [`super::requests`] implements the requests.

use std::io::{Error, ErrorKind, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
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
    /// The socket that it has passed last, for a copy of this process.
    pub passed: Option<UnixStream>,
}

/// The socket and its clients.
pub struct Control {
    /// `None` for a copy, which has one client.
    listener: Option<UnixListener>,
    path: PathBuf,
    /// Connected clients.
    pub clients: Vec<Client>,
    accepted: bool,
}

impl Control {
    /// Listens at `path`, replacing a stale socket. The error is a one-line message for the user.
    pub fn new(path: &Path) -> Result<Self, String> {
        if let Ok(found) = std::fs::metadata(path) {
            if !found.file_type().is_socket() {
                return Err(format!(
                    "control socket {}: a file or folder with this name exists; give another name",
                    path.display()
                ));
            }
            if UnixStream::connect(path).is_err() {
                let _ = std::fs::remove_file(path);
            }
        }
        let listener = UnixListener::bind(path).map_err(|e| match e.kind() {
            ErrorKind::AddrInUse => format!("control socket {}: another emulator uses it", path.display()),
            _ => format!("control socket {}: {e}", path.display()),
        })?;
        listener
            .set_nonblocking(true)
            .map_err(|e| format!("control socket: {e}"))?;
        Ok(Self {
            listener: Some(listener),
            path: path.into(),
            clients: Vec::new(),
            accepted: false,
        })
    }

    /// Serves the client at the other end of `stream` only.
    pub fn connected(stream: UnixStream) -> Self {
        let _ = stream.set_nonblocking(true);
        Self {
            listener: None,
            path: PathBuf::new(),
            clients: vec![Client::new(stream, true)],
            accepted: true,
        }
    }

    /// Closes the socket and its connections, but leaves its path to the process that uses it too.
    pub fn leave(mut self) {
        self.path = PathBuf::new();
    }

    /// Accepts pending connections.
    pub fn accept(&mut self) {
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(UnixListener::accept) {
            if stream.set_nonblocking(true).is_ok() {
                self.clients.push(Client::new(stream, !self.accepted));
                self.accepted = true;
            }
        }
    }

    /// File descriptors to poll for reading: those of the clients, then the listener's, if there is one.
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> + '_ {
        let clients = self.clients.iter().map(|client| client.stream.as_raw_fd());
        clients.chain(self.listener.iter().map(AsRawFd::as_raw_fd))
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Client {
    fn new(stream: UnixStream, first: bool) -> Self {
        Self {
            stream,
            input: Vec::new(),
            first,
            waiting: None,
            passed: None,
        }
    }

    /// Reads all available input; false at the end of the stream.
    pub fn read(&mut self) -> bool {
        let mut buffer = [0; 4096];
        loop {
            match self.receive(&mut buffer) {
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

    /// Receives what is there, as `read` does, and a socket that is passed with it.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut part = libc::iovec {
            iov_base: buffer.as_mut_ptr().cast(),
            iov_len: buffer.len(),
        };
        // Aligned as the header must be.
        let mut control = [0u64; 3];
        // SAFETY: all fields may be zero; the pointers and lengths set below are those of locals that outlive the call. A
        // header that `CMSG_FIRSTHDR` returns is in `control`; of this kind, a descriptor that is ours follows it.
        unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            (message.msg_iov, message.msg_iovlen) = (&mut part, 1);
            message.msg_control = control.as_mut_ptr().cast();
            // Of one descriptor: more are closed by the system.
            message.msg_controllen = libc::CMSG_LEN(std::mem::size_of::<RawFd>() as u32) as _;
            let count = libc::recvmsg(self.stream.as_raw_fd(), &mut message, libc::MSG_CMSG_CLOEXEC);
            if count < 0 {
                return Err(Error::last_os_error());
            }
            let header = libc::CMSG_FIRSTHDR(&message);
            if !header.is_null() && ((*header).cmsg_level, (*header).cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS)
            {
                let descriptor = OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned());
                self.passed = Some(UnixStream::from(descriptor));
            }
            Ok(count as usize)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_with_the_name_of_the_socket_is_kept() {
        let folder = std::env::temp_dir().join(format!("control-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let notes = folder.join("notes");
        std::fs::write(&notes, "mine").expect("a file");
        for path in [&notes, &folder] {
            let why = Control::new(path).err().expect("refused");
            assert!(
                why.ends_with("a file or folder with this name exists; give another name"),
                "{why}"
            );
        }
        assert_eq!(std::fs::read(&notes).expect("it is there"), b"mine");
        let stale = folder.join("socket");
        drop(UnixListener::bind(&stale).expect("a socket"));
        assert!(Control::new(&stale).is_ok(), "a stale socket is replaced");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
