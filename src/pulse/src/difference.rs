//! The words that change one gate set in a core's tables into another one, found without a heap: for a kernel that
//! has several.

use crate::adjust::Numbers;
use kairos_contracts::pulse::{CHANNEL_MASK_AT, WORD_BYTES};

const WORD: usize = WORD_BYTES / 4;
/// Lowest bit of the channel mask in the last number of a word.
const MASK_AT: usize = CHANNEL_MASK_AT - 32 * (WORD - 1);

/// Passes those of the words `wanted` to `give` that are not among `known`, each for the channels that lack it.
///
/// Both are lists of words that program tables, sorted from the largest to the smallest, without regard to their
/// channels: so segments come before the map, and the map before gates, as they must be written. Of lists that are not
/// sorted more words are passed than needed.
pub fn differences(known: &[u32], wanted: &[u32], give: &mut dyn FnMut(&Numbers)) {
    let (mut known, _) = known.as_chunks::<WORD>();
    let (wanted, _) = wanted.as_chunks::<WORD>();
    for word in wanted {
        let larger = known.iter().take_while(|other| content(other).gt(content(word)));
        known = &known[larger.count()..];
        let same = known.iter().take_while(|other| content(other).eq(content(word)));
        let missing = word[WORD - 1] >> MASK_AT & !same.fold(0, |mask, other| mask | other[WORD - 1] >> MASK_AT);
        if missing != 0 {
            let mut changed = *word;
            changed[WORD - 1] = without_mask(word) | missing << MASK_AT;
            give(&changed);
        }
    }
}

/// The numbers of a word without its channels, the most significant first.
fn content(word: &Numbers) -> impl Iterator<Item = u32> + '_ {
    core::iter::once(without_mask(word)).chain(word[..WORD - 1].iter().rev().copied())
}

fn without_mask(word: &Numbers) -> u32 {
    word[WORD - 1] & ((1 << MASK_AT) - 1)
}
