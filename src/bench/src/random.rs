//! Random numbers of the parts: each has its own sequence, from the seed of the bench and its name.

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// Random numbers of the part `name`, independent of all other parts.
pub fn random_of(name: &str, seed: u64) -> Pcg64Mcg {
    // FNV-1a, which is the same on all platforms and in all versions.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Pcg64Mcg::seed_from_u64(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
