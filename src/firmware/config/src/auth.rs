//! Access control for management and network boot: everybody, or clients that have the key in the
//! device's configuration.
//!
//! A client proves that it has the key by the HMAC-SHA-256 over a nonce of its connection. The key
//! itself is never transmitted.

use heapless::Vec;
use hmac::{Hmac, Mac};
use kairos_contracts::configuration::Key;
/// Limits of a key's length in bytes; HMAC would hash a longer one to 32.
pub use kairos_contracts::configuration::{AUTH_KEY_MAX as KEY_MAX, AUTH_KEY_MIN as KEY_MIN};
use sha2::{Digest as _, Sha256};

use crate::store::Error;

/// The configuration key that holds it.
pub const KEY: &str = Key::AuthKey.name();
/// The configuration key in which the runtime keeps the seed that makes nonces differ between
/// boots.
pub const SEED: &str = Key::AuthSeed.name();
/// Buffer size for a configured value, with white space after the key, in bytes.
pub const VALUE_MAX: usize = 2 * KEY_MAX;

/// A SHA-256 digest, a nonce, or a proof.
pub type Digest = [u8; 32];

/// The configured access.
#[derive(Clone, PartialEq, Eq)]
pub enum Access {
    /// No key: everybody has access.
    Open,
    /// Clients that have this key have access.
    Key(Vec<u8, KEY_MAX>),
    /// The key is unusable: nobody has access, since the device is intended to be protected.
    Closed,
}

impl Access {
    /// Evaluates the result of reading [`KEY`] into `value`. Without a card there is no key.
    pub fn of(read: Result<Option<usize>, Error>, value: &[u8]) -> Self {
        match read {
            Ok(None) | Err(Error::Card(_)) => Access::Open,
            Ok(Some(length)) => match key(&value[..length]).and_then(|key| Vec::from_slice(key).ok()) {
                Some(key) => Access::Key(key),
                None => Access::Closed,
            },
            Err(_) => Access::Closed,
        }
    }

    /// The key, if there is a usable one.
    pub fn key(&self) -> Option<&[u8]> {
        match self {
            Access::Key(key) => Some(key),
            Access::Open | Access::Closed => None,
        }
    }
}

/// The key in a configured value; `None` if it is too short or too long.
pub fn key(value: &[u8]) -> Option<&[u8]> {
    let key = value.trim_ascii_end();
    (KEY_MIN..=KEY_MAX).contains(&key.len()).then_some(key)
}

/// Whether `proof` is the HMAC-SHA-256 with `key` over `parts`. Takes constant time.
pub fn proves(key: &[u8], parts: &[&[u8]], proof: &Digest) -> bool {
    // HMAC accepts keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return false;
    };
    parts.iter().for_each(|part| mac.update(part));
    mac.verify_slice(proof).is_ok()
}

/// Numbers that do not repeat, and that cannot be predicted without the key. The chip has no source
/// of randomness.
pub struct Nonces(Digest);

impl Default for Nonces {
    fn default() -> Self {
        Self::new()
    }
}

impl Nonces {
    pub const fn new() -> Self {
        Self([0; 32])
    }

    /// Mixes in a seed that differs between boots.
    pub fn stir(&mut self, seed: &[u8]) {
        self.0 = Sha256::new().chain_update(self.0).chain_update(seed).finalize().into();
    }

    /// Returns the next nonce. `time`: the present time at the highest available resolution.
    pub fn next(&mut self, key: &[u8], time: &[u8]) -> Digest {
        self.stir(time);
        self.stir(key);
        // A nonce does not reveal the following ones.
        Sha256::digest(self.0).into()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::card;
    use proptest::prelude::*;

    #[test]
    fn access_follows_the_length_of_the_key() {
        let access = |value: &[u8]| Access::of(Ok(Some(value.len())), value);
        assert!(access(&[b'k'; 15]) == Access::Closed && access(&[b'k'; 65]) == Access::Closed);
        assert!(access(b" \n") == Access::Closed);
        assert_eq!(access(&[b'k'; 64]).key(), Some(&[b'k'; 64][..]));
        assert_eq!(access(b"0123456789abcdef \r\n").key(), Some(&b"0123456789abcdef"[..]));
        assert!(Access::of(Ok(None), b"") == Access::Open);
        assert!(Access::of(Err(Error::Card(card::Error::Device)), b"") == Access::Open);
        // There is one, but it does not fit.
        assert!(Access::of(Err(Error::TooLong), b"") == Access::Closed);
        assert!(Access::of(Err(Error::FileSystem), b"") == Access::Closed);
    }

    /// RFC 4231, test case 2.
    #[test]
    fn proof_equals_the_reference_of_rfc_4231() {
        let proof = [
            0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7, 0x5a, 0x00,
            0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43,
        ];
        assert!(proves(b"Jefe", &[b"what do ya want ", b"for nothing?"], &proof));
        for bit in 0..256 {
            let mut wrong = proof;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!proves(b"Jefe", &[b"what do ya want for nothing?"], &wrong));
        }
        assert!(!proves(b"jefe", &[b"what do ya want for nothing?"], &proof));
    }

    proptest! {
        #[test]
        fn nonces_differ_for_every_seed_key_and_call(seed in any::<[u8; 4]>(), other in any::<[u8; 4]>(), key in any::<[u8; 16]>()) {
            prop_assume!(seed != other);
            let series = |seed: &[u8], key: &[u8]| {
                let mut nonces = Nonces::new();
                nonces.stir(seed);
                // All at the same time.
                [(); 4].map(|()| nonces.next(key, b"now"))
            };
            let mut all = std::vec![];
            all.extend(series(&seed, &key));
            all.extend(series(&other, &key));
            all.extend(series(&seed, b"another key"));
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(all.len(), 12);
        }
    }
}
