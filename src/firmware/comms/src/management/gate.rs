//! Access control: a client of a device that has a key must prove that it knows the key.

use embassy_time::{Duration, Instant};
use kairos_config::auth::{self, Access, Digest};
use kairos_proto::management::{reply, RequestDecoder, PROOF_CONTEXT};

use crate::close_reason::{CloseReason, Refusal};
use crate::config::Config;

/// An unauthenticated client must not occupy a socket for longer than this.
const AUTHENTICATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a client may execute its requests. Setting or removing a key affects only later clients.
pub struct Gate {
    access: Access,
    /// The nonce sent last, until it is answered.
    nonce: Option<Digest>,
    pub open: bool,
    pub deadline: Instant,
}

impl Gate {
    pub fn new(config: &Config) -> Self {
        let access = config.access();
        let open = access == Access::Open;
        Self {
            access,
            nonce: None,
            open,
            deadline: Instant::now() + AUTHENTICATION_TIMEOUT,
        }
    }

    pub fn decoder(&self) -> RequestDecoder {
        match self.access {
            Access::Open => RequestDecoder::new(),
            Access::Key(_) | Access::Closed => RequestDecoder::with_authentication(),
        }
    }

    fn key(&self) -> Result<&[u8], CloseReason> {
        self.access.key().ok_or(CloseReason::Refused(Refusal::KeyUnusable))
    }

    pub fn challenge(&mut self, config: &Config) -> Result<[u8; 33], CloseReason> {
        self.key()?;
        let nonce = config.nonce();
        self.nonce = Some(nonce);
        Ok(reply::challenge(&nonce))
    }

    pub fn authenticate(&mut self, proof: &Digest) -> Result<(), CloseReason> {
        let nonce = self.nonce.take().ok_or(CloseReason::Refused(Refusal::NoChallenge))?;
        if !auth::proves(self.key()?, &[PROOF_CONTEXT, &nonce], proof) {
            return Err(CloseReason::Refused(Refusal::WrongKey));
        }
        self.open = true;
        Ok(())
    }
}
