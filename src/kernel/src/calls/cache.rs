//! `cache_get` and `cache_put` (kernel ABI, section 2.5): the store in the upper half of the heap,
//! and the private copies passed to kernels, in the lower half. Copies live until the next kernel
//! starts.

use kairos_intercore::memory::KERNEL_HEAP;
use kairos_kernel::cache::Cache;
use kairos_proto::exception::Id;
use kairos_proto::rpc::Memory;

use crate::fault::broken;
use crate::memory::{words, Area, KernelMemory};
use crate::owned::{BorrowCell, Owned};
use crate::raise;

const MIDDLE: usize = KERNEL_HEAP.start + (KERNEL_HEAP.end - KERNEL_HEAP.start) / 2;
/// End of the copies; the memory from here to the middle belongs to `linalg.rs`.
const COPIES_END: usize = KERNEL_HEAP.start + (6 << 20);

/// Copies of values passed to kernels, which may change them.
static COPIES: BorrowCell<Area<{ KERNEL_HEAP.start }, COPIES_END>> = {
    // SAFETY: this part of the heap belongs to this module.
    BorrowCell::new(unsafe { Area::new() })
};
/// The stored values.
static STORE: BorrowCell<Area<MIDDLE, { KERNEL_HEAP.end }>> = {
    // SAFETY: this module owns the heap, and this is its upper half.
    BorrowCell::new(unsafe { Area::new() })
};
/// Words used in the memory of copies.
static COPIED: Owned<usize> = Owned::new(0);

/// Empties the store, at reset of the core only.
pub fn boot() {
    STORE.with(|store| {
        Cache::new(store.words());
    });
}

/// Reclaims the memory in a restart, when nobody uses it.
pub fn reclaim() {
    COPIES.reclaim();
    STORE.reclaim();
}

/// Drops the copies made for the previous kernel.
pub fn drop_copies() {
    COPIED.set(0);
}

fn key(pointer: u32, length: u32) -> &'static [u8] {
    let memory: &'static KernelMemory = &KernelMemory;
    match memory.bytes(pointer, length) {
        Ok(key) => key,
        Err(error) => broken(format_args!("key of a cache entry: {error}")),
    }
}

/// `cache_get`: returns a pointer to {elements, length}, followed by the elements.
extern "C" fn get(pointer: u32, length: u32) -> u32 {
    let key = key(pointer, length);
    let place = STORE.with(|store| {
        let cache = Cache::attach(store.words());
        COPIES.with(|copies| copy(cache.get(key).unwrap_or(&[]), copies.words()))
    });
    place.unwrap_or_else(|| {
        raise::firmware(Id::CacheError, "no memory left for values from the cache", [0; 3]);
        0
    })
}

/// Copies a value to free memory; returns the address of the kernel's list.
fn copy(value: &[u32], copies: &mut [u32]) -> Option<u32> {
    let start = COPIED.get();
    let copy = copies[start..].get_mut(..2 + value.len())?;
    copy[0] = copy[2..].as_ptr() as u32;
    copy[1] = value.len() as u32;
    copy[2..].copy_from_slice(value);
    COPIED.set(start + copy.len());
    Some(copy.as_ptr() as u32)
}

/// `cache_put`
extern "C" fn put(pointer: u32, length: u32, list: u32) {
    let key = key(pointer, length);
    match words(list) {
        Ok(value) => {
            let stored = STORE.with(|store| Cache::attach(store.words()).put(key, value));
            if stored.is_err() {
                raise::firmware(Id::CacheError, "no memory left in the cache", [0; 3]);
            }
        }
        Err(error) => broken(format_args!("value for the cache: {error}")),
    }
}

raise::raising! {
    cache_get => get;
    cache_put => put;
}
