//! Network boot on TCP 1379: firmware and gateware are sent to a loader, which starts them
//! (`docs/boot.md`). Little endian.
//!
//! The host sends [`GREETING`]. The loader answers with a [`Hello`]. For each file the host then
//! sends an [`Offer`]. The loader answers with [`Reply::Have`], the number of bytes of the file
//! that it already has from an earlier connection; the host sends the rest, unencoded; the loader
//! checks the file and answers [`Reply::Verified`]. Finally the host sends [`Request::Boot`], the
//! loader answers [`Reply::Booting`] and starts the files. Any answer may instead be
//! [`Reply::Refused`] with the reason, after which the loader closes the connection.
//!
//! If the loader has a key, each request carries a proof: the HMAC-SHA-256 with that key over the
//! nonce of the connection and the bytes of the request before the proof. Without a key the proof
//! is ignored.

pub use kairos_contracts::netboot::{FileKind as Kind, GREETING, PORT, TEXT_MAX, VERSION};
use kairos_contracts::netboot::{Reply as Answer, Request as Type, DIGEST_LENGTH};

use crate::rpc::Source;

/// A SHA-256 digest, a nonce, or a proof.
pub type Digest = [u8; DIGEST_LENGTH];

/// Lengths of an offer and of a boot request, in bytes.
pub const OFFER: usize = 1 + 1 + 4 + DIGEST_LENGTH + DIGEST_LENGTH;
pub const BOOT: usize = 1 + DIGEST_LENGTH;

/// The loader's first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Requests need a proof.
    pub authenticated: bool,
    pub nonce: Digest,
}

impl Hello {
    /// Reply type 1, version, flags, nonce.
    pub fn encode(&self) -> [u8; 35] {
        let mut bytes = [0; 35];
        bytes[..3].copy_from_slice(&[Answer::Hello as u8, VERSION, self.authenticated.into()]);
        bytes[3..].copy_from_slice(&self.nonce);
        bytes
    }
}

/// A file offered by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub kind: Kind,
    pub length: u32,
    pub digest: Digest,
}

/// A request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Offer(Offer),
    Boot,
}

/// The unknown type, or kind of file, of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown(pub u8);

impl Request {
    /// Length in bytes of the request that begins with `kind`.
    pub fn length(kind: u8) -> Result<usize, Unknown> {
        Ok(match Type::try_from(kind).map_err(Unknown)? {
            Type::Offer => OFFER,
            Type::Boot => BOOT,
        })
    }

    /// Decodes a whole request of [`Self::length`] bytes, and its proof.
    pub fn decode(bytes: &[u8]) -> Result<(Self, Digest), Unknown> {
        let kind = *bytes.first().ok_or(Unknown(0))?;
        if bytes.len() != Self::length(kind)? {
            return Err(Unknown(kind));
        }
        let tail = |end: usize| {
            let mut digest = [0; 32];
            digest.copy_from_slice(&bytes[end - 32..end]);
            digest
        };
        let request = match Type::try_from(kind).map_err(Unknown)? {
            Type::Offer => Request::Offer(Offer {
                kind: Kind::try_from(bytes[1]).map_err(Unknown)?,
                length: u32::from_le_bytes([bytes[2], bytes[3], bytes[4], bytes[5]]),
                digest: tail(OFFER - 32),
            }),
            Type::Boot => Request::Boot,
        };
        Ok((request, tail(bytes.len())))
    }

    /// Encodes the request without the proof that follows it; returns a buffer and the length used.
    pub fn encode(&self) -> ([u8; OFFER], usize) {
        let mut bytes = [0; OFFER];
        match self {
            Request::Offer(offer) => {
                bytes[..2].copy_from_slice(&[Type::Offer as u8, offer.kind as u8]);
                bytes[2..6].copy_from_slice(&offer.length.to_le_bytes());
                bytes[6..38].copy_from_slice(&offer.digest);
                (bytes, OFFER - 32)
            }
            Request::Boot => {
                bytes[0] = Type::Boot as u8;
                (bytes, BOOT - 32)
            }
        }
    }
}

/// An answer of the loader other than [`Hello`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// This many bytes of the offered file are present.
    Have(u32),
    Verified,
    Booting,
    Refused(&'a str),
}

impl Reply<'_> {
    /// Writes the answer to `out`; returns its length. A text that is too long is truncated.
    pub fn encode(&self, out: &mut [u8; TEXT_MAX + 3]) -> usize {
        match self {
            Reply::Have(bytes) => {
                out[0] = Answer::Have as u8;
                out[1..5].copy_from_slice(&bytes.to_le_bytes());
                5
            }
            Reply::Verified => {
                out[0] = Answer::Verified as u8;
                1
            }
            Reply::Booting => {
                out[0] = Answer::Booting as u8;
                1
            }
            Reply::Refused(text) => {
                let length = (0..=text.len().min(TEXT_MAX))
                    .rev()
                    .find(|n| text.is_char_boundary(*n))
                    .unwrap_or(0);
                out[0] = Answer::Refused as u8;
                out[1..3].copy_from_slice(&(length as u16).to_le_bytes());
                out[3..3 + length].copy_from_slice(&text.as_bytes()[..length]);
                3 + length
            }
        }
    }
}

/// An answer of the loader, as the host reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered<'a> {
    /// With the loader's protocol version.
    Hello {
        version: u8,
        hello: Hello,
    },
    Reply(Reply<'a>),
    /// An unknown type.
    Unknown(u8),
}

impl<'a> Answered<'a> {
    /// Reads an answer. The text of a refusal is stored in `text`, truncated to its length.
    ///
    /// # Errors
    /// Errors of the source.
    pub fn read<S: Source>(source: &mut S, text: &'a mut [u8; TEXT_MAX]) -> Result<Self, S::Error> {
        let mut byte = [0];
        source.read(&mut byte)?;
        let Ok(kind) = Answer::try_from(byte[0]) else {
            return Ok(Self::Unknown(byte[0]));
        };
        Ok(Self::Reply(match kind {
            Answer::Hello => {
                let (mut head, mut nonce) = ([0; 2], [0; DIGEST_LENGTH]);
                source.read(&mut head)?;
                source.read(&mut nonce)?;
                let [version, flags] = head;
                let authenticated = flags & 1 != 0;
                return Ok(Self::Hello {
                    version,
                    hello: Hello { authenticated, nonce },
                });
            }
            Answer::Have => Reply::Have(source.read_word()?),
            Answer::Verified => Reply::Verified,
            Answer::Booting => Reply::Booting,
            Answer::Refused => {
                let mut length = [0; 2];
                source.read(&mut length)?;
                let length = usize::from(u16::from_le_bytes(length));
                let kept = length.min(TEXT_MAX);
                source.read(&mut text[..kept])?;
                for _ in kept..length {
                    source.read(&mut byte)?;
                }
                let whole = text[..kept].utf8_chunks().next();
                Reply::Refused(whole.map_or("", |chunk| chunk.valid()))
            }
        }))
    }

    /// The number of its type.
    pub fn number(&self) -> u8 {
        match self {
            Self::Hello { .. } => Answer::Hello as u8,
            Self::Reply(Reply::Have(_)) => Answer::Have as u8,
            Self::Reply(Reply::Verified) => Answer::Verified as u8,
            Self::Reply(Reply::Booting) => Answer::Booting as u8,
            Self::Reply(Reply::Refused(_)) => Answer::Refused as u8,
            Self::Unknown(number) => *number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_and_replies_have_the_documented_bytes() {
        let offer = Request::Offer(Offer {
            kind: Kind::Gateware,
            length: 0x0102_0304,
            digest: [0xd1; 32],
        });
        let (mut bytes, length) = offer.encode();
        assert_eq!((length, &bytes[..7]), (38, &[1, 2, 4, 3, 2, 1, 0xd1][..]));
        bytes[38..].fill(0xee);
        assert_eq!(Request::decode(&bytes), Ok((offer, [0xee; 32])));
        assert_eq!(Request::decode(&[2; 33]), Ok((Request::Boot, [2; 32])));
        assert_eq!(Request::decode(&[9; 33]), Err(Unknown(9)));
        bytes[1] = 7;
        assert_eq!(Request::decode(&bytes), Err(Unknown(7)));
        let mut out = [0; TEXT_MAX + 3];
        assert_eq!(
            (Reply::Have(258).encode(&mut out), &out[..5]),
            (5, &[2, 2, 1, 0, 0][..])
        );
        assert_eq!(
            (Reply::Refused("no").encode(&mut out), &out[..5]),
            (5, &[5, 2, 0, b'n', b'o'][..])
        );
        let hello = Hello {
            authenticated: true,
            nonce: [7; 32],
        };
        assert_eq!(hello.encode()[..4], [1, 1, 1, 7]);
    }

    #[test]
    fn replies_of_loader_are_decoded() {
        let hello = Hello {
            authenticated: true,
            nonce: [7; 32],
        };
        let mut text = [0; TEXT_MAX];
        let read = Answered::read(&mut &hello.encode()[..], &mut text);
        assert_eq!(
            read,
            Ok(Answered::Hello {
                version: VERSION,
                hello
            })
        );
        for reply in [
            Reply::Have(70_000),
            Reply::Verified,
            Reply::Booting,
            Reply::Refused("no"),
        ] {
            let (mut out, mut text) = ([0; TEXT_MAX + 3], [0; TEXT_MAX]);
            let length = reply.encode(&mut out);
            let read = Answered::read(&mut &out[..length], &mut text).unwrap();
            assert_eq!((read, read.number()), (Answered::Reply(reply), out[0]));
            assert_eq!(
                Answered::read(&mut &out[..length - 1], &mut [0; TEXT_MAX]),
                Err("ended")
            );
        }
        let mut long = [b'x'; 203];
        long[..3].copy_from_slice(&[5, 200, 0]);
        let read = Answered::read(&mut &long[..], &mut text).unwrap();
        assert!(matches!(read, Answered::Reply(Reply::Refused(reason)) if reason.len() == TEXT_MAX));
        assert_eq!(Answered::read(&mut &[9][..], &mut text), Ok(Answered::Unknown(9)));
    }

    proptest! {
        #[test]
        fn arbitrary_request_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok((request, proof)) = Request::decode(&bytes) {
                let (encoded, length) = request.encode();
                prop_assert_eq!(&encoded[..length], &bytes[..length]);
                prop_assert_eq!(&proof[..], &bytes[length..]);
            }
        }

        #[test]
        fn texts_are_truncated_between_characters(text in "\\PC{0,200}") {
            let mut out = [0; TEXT_MAX + 3];
            let length = Reply::Refused(&text).encode(&mut out);
            let sent = core::str::from_utf8(&out[3..length]).unwrap();
            prop_assert!(text.starts_with(sent) && sent.len() + 4 > text.len().min(TEXT_MAX));
        }
    }
}
