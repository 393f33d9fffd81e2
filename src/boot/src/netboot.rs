//! The receiving end of network boot (`kairos_proto::netboot`), without sockets: bytes of a
//! connection go in, answers come out. What has arrived of a file outlives the connection, so that
//! the host can go on after a loss.

use core::fmt::{self, Write};

use heapless::{String, Vec};
use kairos_proto::netboot::{Digest, Hello, Kind, Offer, Reply, Request, Unknown, GREETING, OFFER, TEXT_MAX};
use sha2::{Digest as _, Sha256};

use kairos_config::auth;

/// Text of a refusal.
pub type Text = String<TEXT_MAX>;

/// Room for one file, and what is in it.
pub struct File<'m> {
    memory: &'m mut [u8],
    offer: Option<Offer>,
    have: usize,
    hasher: Sha256,
    verified: bool,
}

impl<'m> File<'m> {
    /// Nothing yet. A file may be as long as the memory.
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self {
            memory,
            offer: None,
            have: 0,
            hasher: Sha256::new(),
            verified: false,
        }
    }

    /// The file, if all of it has arrived and it is right.
    pub fn content(&mut self) -> Option<&mut [u8]> {
        let offer = self.offer.filter(|_| self.verified)?;
        self.memory.get_mut(..offer.length as usize)
    }

    /// Forgets what is there.
    pub fn clear(&mut self) {
        self.offer = None;
        self.have = 0;
        self.verified = false;
    }

    fn accept(&mut self, offer: Offer) -> Result<u32, Text> {
        if offer.length == 0 || offer.length as usize > self.memory.len() {
            return Err(text(format_args!(
                "this file has {} bytes, there is room for {}",
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

    /// Takes what belongs to the file; how much that is.
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
                "the checksum of what arrived is not that of the file: send it again"
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

/// Says what is wrong with a file whose checksum is right.
pub trait Check {
    /// Whether it can be booted here.
    fn check(&mut self, kind: Kind, content: &[u8]) -> Result<(), Text>;
}

/// A text, cut at [`TEXT_MAX`] bytes.
pub fn text(what: fmt::Arguments) -> Text {
    let mut text = Text::new();
    // A message that is too long ends where there is no more room.
    let _ = text.write_fmt(what);
    text
}

/// What has arrived, over all connections.
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

/// What is to be done after some input.
#[derive(Debug, PartialEq, Eq)]
pub enum Output {
    /// Nothing; more input is needed.
    None,
    /// These bytes are to be sent.
    Send(Vec<u8, { TEXT_MAX + 3 }>),
    /// These bytes are to be sent, then the connection is to be closed.
    Refuse(Vec<u8, { TEXT_MAX + 3 }>, Text),
    /// These bytes are to be sent, and what has been received is to be started.
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
    /// A new one. `nonce`: 32 bytes that no connection had before; needed with a key only.
    pub fn new(key: Option<&'k [u8]>, nonce: Digest) -> Self {
        Self {
            key,
            nonce,
            state: State::Greeting,
            offered: false,
            input: Vec::new(),
        }
    }

    /// The client may send files, and has offered one.
    pub fn has_offered(&self) -> bool {
        self.offered
    }

    /// Takes some of the input: how much, and what follows from it. To be called until nothing is
    /// left and nothing follows, also with no input at all: there may be something to say to what
    /// came before.
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
                Err(Unknown(kind)) => return (input.len(), refuse(text(format_args!("there is no request {kind}")))),
            },
        };
        let taken = (needed - self.input.len()).min(input.len());
        // `needed` is never more than there is room for.
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
            Request::decode(message).map_err(|Unknown(n)| text(format_args!("a request makes no sense (byte {n})")))?;
        if let Some(key) = self.key {
            let request = &message[..message.len() - proof.len()];
            if !auth::proves(key, &[&self.nonce, request], &proof) {
                return Err(text(format_args!(
                    "this device boots from the network only for those who have its key"
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
