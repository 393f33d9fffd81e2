//! The kernels' cache: named lists of integers that persist until the device reboots.
//!
//! A kernel can be killed while it writes here, so the memory must be consistent after any prefix
//! of the stores of `put`: a record is complete before it counts, and when a half is full, the
//! records are copied to the other half before that becomes the current one.
//!
//! Layout: word 0 = which half is current (0 or 1); then the two halves, each a word with the bytes
//! used, and records of {key length, number of integers, key padded to 4, integers}, all in words.
//! Of records with the same key the last counts.

/// The cache has no room for the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// The cache in its memory.
pub struct Cache<'m> {
    words: &'m mut [u32],
}

const HEADER: usize = 2;

impl<'m> Cache<'m> {
    /// An empty cache.
    pub fn new(words: &'m mut [u32]) -> Self {
        let mut cache = Self { words };
        if let Some(current) = cache.words.first_mut() {
            *current = 0;
        }
        cache.half_mut(0)[0] = 0;
        cache
    }

    /// Attaches to the cache in `words`, made by [`Cache::new`].
    pub fn attach(words: &'m mut [u32]) -> Self {
        Self { words }
    }

    fn current(&self) -> usize {
        (self.words[0] & 1) as usize
    }

    fn half_size(&self) -> usize {
        (self.words.len() - 1) / 2
    }

    fn half(&self, which: usize) -> &[u32] {
        &self.words[1 + which * self.half_size()..][..self.half_size()]
    }

    fn half_mut(&mut self, which: usize) -> &mut [u32] {
        let size = self.half_size();
        &mut self.words[1 + which * size..][..size]
    }

    /// Positions of the records in a half.
    fn records(half: &[u32]) -> impl Iterator<Item = (usize, &[u32])> + '_ {
        let used = (half[0] as usize).min(half.len() - 1);
        let mut rest = &half[1..1 + used];
        let mut at = 1;
        core::iter::from_fn(move || {
            let length = record_words(*rest.first()?, *rest.get(1)?);
            let (record, behind) = rest.split_at_checked(length)?;
            let position = at;
            (rest, at) = (behind, at + length);
            Some((position, record))
        })
    }

    /// The value stored under `key`, if any.
    pub fn get(&self, key: &[u8]) -> Option<&[u32]> {
        let found = Self::records(self.half(self.current()))
            .filter(|(_, record)| has_key(record, key))
            .last();
        found.map(|(_, record)| &record[record.len() - record[1] as usize..])
    }

    /// Stores a copy of `value` under `key`.
    ///
    /// # Errors
    /// [`Full`] if the value does not fit even without outdated records; the cache is then
    /// unchanged.
    pub fn put(&mut self, key: &[u8], value: &[u32]) -> Result<(), Full> {
        self.append(self.current(), key, value)
            .or_else(|Full| self.renew(key, value))
    }

    /// Appends a record, then counts it.
    fn append(&mut self, which: usize, key: &[u8], value: &[u32]) -> Result<(), Full> {
        let half = self.half_mut(which);
        let used = half[0] as usize;
        let length = record_words(key.len() as u32, value.len() as u32);
        let record = half
            .get_mut(1 + used..)
            .and_then(|free| free.get_mut(..length))
            .ok_or(Full)?;
        (record[0], record[1]) = (key.len() as u32, value.len() as u32);
        let (key_words, values) = record[HEADER..].split_at_mut(key.len().div_ceil(4));
        for (word, bytes) in key_words.iter_mut().zip(key.chunks(4)) {
            *word = word_of(bytes);
        }
        values.copy_from_slice(value);
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::Release);
        half[0] = (used + length) as u32;
        Ok(())
    }

    /// Copies the valid records and the new value to the other half, then makes that the current
    /// one.
    fn renew(&mut self, key: &[u8], value: &[u32]) -> Result<(), Full> {
        let size = self.half_size();
        let from = self.current();
        let (first, second) = self.words[1..].split_at_mut(size);
        let (old, new) = if from == 0 {
            (&*first, second)
        } else {
            (&second[..size], first)
        };
        let mut used = 0;
        for (position, record) in Self::records(old) {
            let newer = Self::records(old).any(|(other, later)| other > position && same_key(later, record));
            if !newer && !has_key(record, key) {
                new[1 + used..1 + used + record.len()].copy_from_slice(record);
                used += record.len();
            }
        }
        new[0] = used as u32;
        self.append(1 - from, key, value)?;
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::Release);
        self.words[0] = 1 - from as u32;
        Ok(())
    }
}

fn record_words(key: u32, values: u32) -> usize {
    (HEADER + key.div_ceil(4) as usize).saturating_add(values as usize)
}

fn word_of(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(word)
}

fn has_key(record: &[u32], key: &[u8]) -> bool {
    record[0] as usize == key.len()
        && key
            .chunks(4)
            .zip(&record[HEADER..])
            .all(|(bytes, &word)| word_of(bytes) == word)
}

fn same_key(one: &[u32], other: &[u32]) -> bool {
    let words = HEADER + one[0].div_ceil(4) as usize;
    one[0] == other[0] && one[HEADER..words] == other[HEADER..words]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replaced_values_free_their_memory() {
        let mut words = vec![0xffff_ffff; 41];
        let mut cache = Cache::new(&mut words);
        assert_eq!(cache.get(b"a"), None);
        for round in 0..20 {
            cache.put(b"key", &[round; 10]).unwrap();
        }
        assert_eq!(cache.get(b"key"), Some(&[19; 10][..]));
        cache.put(b"", &[]).unwrap();
        assert_eq!(cache.get(b""), Some(&[][..]));
        assert_eq!(cache.put(b"long", &[0; 30]), Err(Full));
        assert_eq!(cache.get(b"key"), Some(&[19; 10][..]));
    }

    proptest! {
        #[test]
        fn cache_behaves_as_a_map(steps in prop::collection::vec(("[ab]{0,5}", prop::collection::vec(any::<u32>(), 0..8)), 1..60)) {
            let mut words = vec![0xdead_beef; 301];
            let _ = Cache::new(&mut words);
            let mut model = HashMap::new();
            for (key, value) in steps {
                // Attached again, as after a restart.
                let mut cache = Cache::attach(&mut words);
                if cache.put(key.as_bytes(), &value).is_ok() {
                    model.insert(key, value);
                }
                for (key, value) in &model {
                    prop_assert_eq!(cache.get(key.as_bytes()), Some(&value[..]));
                }
            }
        }
    }
}
