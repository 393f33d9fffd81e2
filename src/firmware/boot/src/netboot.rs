//! The receiving end of network boot (`kairos_proto::netboot`), without sockets: takes the bytes of
//! a connection and returns answers. Received parts of a file survive the connection, so that the
//! host can continue after a loss.

use core::fmt::{self, Write};

use heapless::{String, Vec};
use kairos_proto::netboot::{Digest, Hello, Kind, Offer, Reply, Request, Unknown, GREETING, OFFER, TEXT_MAX};
use sha2::{Digest as _, Sha256};

use kairos_config::auth;

/// Text of a refusal.
pub type Text = String<TEXT_MAX>;

/// The buffer for one file, and its state.
pub struct File<'m> {
    memory: &'m mut [u8],
    offer: Option<Offer>,
    have: usize,
    hasher: Sha256,
    verified: bool,
}

impl<'m> File<'m> {
    /// An empty buffer. A file may be as long as the memory.
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self {
            memory,
            offer: None,
            have: 0,
            hasher: Sha256::new(),
            verified: false,
        }
    }

    /// The file, if it is complete and verified.
    pub fn content(&mut self) -> Option<&mut [u8]> {
        let offer = self.offer.filter(|_| self.verified)?;
        self.memory.get_mut(..offer.length as usize)
    }

    /// Discards the file.
    pub fn clear(&mut self) {
        self.offer = None;
        self.have = 0;
        self.verified = false;
    }

    fn accept(&mut self, offer: Offer) -> Result<u32, Text> {
        if offer.length == 0 || offer.length as usize > self.memory.len() {
            return Err(text(format_args!(
                "this file has {} bytes, the limit is {}",
                offer.length,
                self.memory.len()
            )));
        }
        if self.offer != Some(offer) {
            self.clear();
            self.hasher = Sha256::new();
            self.offer = Some(offer);
        }
        Ok(self.have as u32)
    }

    /// Takes the bytes that belong to the file; returns their number.
    fn fill(&mut self, input: &[u8]) -> usize {
        let rest = self.rest().min(input.len());
        self.memory[self.have..self.have + rest].copy_from_slice(&input[..rest]);
        self.hasher.update(&input[..rest]);
        self.have += rest;
        rest
    }

    fn rest(&self) -> usize {
        self.offer.map_or(0, |offer| offer.length as usize - self.have)
    }

    fn verify(&mut self, kind: Kind, check: &mut impl Check) -> Result<(), Text> {
        let Some(offer) = self.offer else { return Ok(()) };
        if self.verified {
            return Ok(());
        }
        let digest: Digest = core::mem::take(&mut self.hasher).finalize().into();
        let content = &self.memory[..offer.length as usize];
        let result = if digest != offer.digest {
            Err(text(format_args!(
                "the checksum of the received file is wrong: send it again"
            )))
        } else {
            check.check(kind, content)
        };
        match &result {
            Ok(()) => self.verified = true,
            Err(_) => self.clear(),
        }
        result
    }
}

/// Checks of files whose checksum is correct.
pub trait Check {
    /// Whether the file can be booted here.
    fn check(&mut self, kind: Kind, content: &[u8]) -> Result<(), Text>;
}

/// Formats a text, truncated to [`TEXT_MAX`] bytes.
pub fn text(what: fmt::Arguments) -> Text {
    let mut text = Text::new();
    // Fails only if the message is too long, which truncates it.
    let _ = text.write_fmt(what);
    text
}

/// The files received, over all connections.
pub struct Files<'m> {
    pub firmware: File<'m>,
    pub gateware: File<'m>,
}

impl<'m> Files<'m> {
    fn of(&mut self, kind: Kind) -> &mut File<'m> {
        match kind {
            Kind::Firmware => &mut self.firmware,
            Kind::Gateware => &mut self.gateware,
        }
    }
}

/// The action required after some input.
#[derive(Debug, PartialEq, Eq)]
pub enum Output {
    /// None; more input is needed.
    None,
    /// Send these bytes.
    Send(Vec<u8, { TEXT_MAX + 3 }>),
    /// Send these bytes, then close the connection.
    Refuse(Vec<u8, { TEXT_MAX + 3 }>, Text),
    /// Send these bytes, then start the received files.
    Boot(Vec<u8, { TEXT_MAX + 3 }>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Greeting,
    Request,
    Data(Kind),
}

/// One connection.
pub struct Connection<'k> {
    key: Option<&'k [u8]>,
    nonce: Digest,
    state: State,
    offered: bool,
    input: Vec<u8, OFFER>,
}

impl<'k> Connection<'k> {
    /// Creates a connection. `nonce`: 32 bytes that no connection has had before; used with a key
    /// only.
    pub fn new(key: Option<&'k [u8]>, nonce: Digest) -> Self {
        Self {
            key,
            nonce,
            state: State::Greeting,
            offered: false,
            input: Vec::new(),
        }
    }

    /// Whether the client is permitted to send files, and has offered one.
    pub fn has_offered(&self) -> bool {
        self.offered
    }

    /// Consumes some of the input; returns its length and the resulting action. To be called until
    /// all input is consumed and no action results, also without any input: an action may result
    /// from earlier input.
    pub fn advance(&mut self, files: &mut Files, check: &mut impl Check, input: &[u8]) -> (usize, Output) {
        if let State::Data(kind) = self.state {
            let file = files.of(kind);
            let taken = file.fill(input);
            if file.rest() > 0 {
                return (taken, Output::None);
            }
            self.state = State::Request;
            return match file.verify(kind, check) {
                Ok(()) => (taken, Output::Send(encoded(Reply::Verified))),
                Err(reason) => (taken, refuse(reason)),
            };
        }
        let needed = match (self.state, self.input.first().or(input.first())) {
            (_, None) => return (0, Output::None),
            (State::Greeting, _) => GREETING.len(),
            (_, Some(&kind)) => match Request::length(kind) {
                Ok(length) => length,
                Err(Unknown(kind)) => return (input.len(), refuse(text(format_args!("unknown request {kind}")))),
            },
        };
        let taken = (needed - self.input.len()).min(input.len());
        // Cannot fail: `needed` never exceeds the capacity.
        let _ = self.input.extend_from_slice(&input[..taken]);
        if self.state == State::Greeting && !GREETING.starts_with(&self.input) {
            return (taken, refuse(text(format_args!("this port is for 'kairos boot'"))));
        }
        if self.input.len() < needed {
            return (taken, Output::None);
        }
        let message = core::mem::take(&mut self.input);
        if self.state == State::Greeting {
            self.state = State::Request;
            let hello = Hello {
                authenticated: self.key.is_some(),
                nonce: self.nonce,
            };
            let mut bytes = Vec::new();
            let _ = bytes.extend_from_slice(&hello.encode());
            return (taken, Output::Send(bytes));
        }
        (taken, self.request(files, &message).unwrap_or_else(refuse))
    }

    fn request(&mut self, files: &mut Files, message: &[u8]) -> Result<Output, Text> {
        let (request, proof) =
            Request::decode(message).map_err(|Unknown(n)| text(format_args!("malformed request (byte {n})")))?;
        if let Some(key) = self.key {
            let request = &message[..message.len() - proof.len()];
            if !auth::proves(key, &[&self.nonce, request], &proof) {
                return Err(text(format_args!(
                    "this device requires its key to boot from the network"
                )));
            }
        }
        match request {
            Request::Offer(offer) => {
                let have = files.of(offer.kind).accept(offer)?;
                self.state = State::Data(offer.kind);
                self.offered = true;
                Ok(Output::Send(encoded(Reply::Have(have))))
            }
            Request::Boot if files.firmware.content().is_none() => {
                Err(text(format_args!("there is no firmware to boot")))
            }
            Request::Boot => Ok(Output::Boot(encoded(Reply::Booting))),
        }
    }
}

fn encoded(reply: Reply) -> Vec<u8, { TEXT_MAX + 3 }> {
    let mut bytes = [0; TEXT_MAX + 3];
    let length = reply.encode(&mut bytes);
    let mut out = Vec::new();
    let _ = out.extend_from_slice(&bytes[..length]);
    out
}

fn refuse(reason: Text) -> Output {
    Output::Refuse(encoded(Reply::Refused(&reason)), reason)
}

#[cfg(test)]
mod tests;
