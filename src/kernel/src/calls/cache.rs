//! `cache_get` and `cache_put` (kernel ABI, section 2.5): the store in the upper half of the heap, and the private copies
//! that kernels get, in the lower half. Copies live until the next kernel starts.

use kairos_kernel::cache::Cache;
use kairos_proto::exception::Id;
use kairos_proto::rpc::{BadAddress, Memory};

use crate::fault::broken;
use crate::memory::{self, KernelMemory};
use crate::owned::Owned;
use crate::raise;

/// Words of the copies' half that are taken.
static COPIED: Owned<usize> = Owned::new(0);

/// Both halves in words: copies, store.
///
/// # Safety
/// Neither half is in use through an earlier call.
unsafe fn halves() -> (&'static mut [u32], &'static mut [u32]) {
    // SAFETY: the heap is this module's alone, and by this function's condition not in use. It is aligned to a megabyte.
    let words = unsafe {
        let heap = memory::heap();
        core::slice::from_raw_parts_mut(heap.as_mut_ptr().cast::<u32>(), heap.len() / 4)
    };
    words.split_at_mut(words.len() / 2)
}

/// Empties the store, at reset of the core only.
pub fn boot() {
    // SAFETY: no kernel runs.
    Cache::new(unsafe { halves() }.1);
}

/// Drops the copies that the kernel before has got.
pub fn forget_copies() {
    COPIED.set(0);
}

fn key(pointer: u32, length: u32) -> &'static [u8] {
    let memory: &'static KernelMemory = &KernelMemory;
    match memory.bytes(pointer, length) {
        Ok(key) => key,
        Err(error) => broken(format_args!("key of a cache entry: {error}")),
    }
}

/// `cache_get`: a pointer to {elements, length}, the elements behind it.
extern "C" fn get(pointer: u32, length: u32) -> u32 {
    // SAFETY: kernels write to copies that they got, never to what is free here; the store is not visible to them.
    let (copies, store) = unsafe { halves() };
    let cache = Cache::attach(store);
    let value = cache.get(key(pointer, length)).unwrap_or(&[]);
    let start = COPIED.get();
    let Some(copy) = copies[start..].get_mut(..2 + value.len()) else {
        raise::firmware(Id::CacheError, "no memory left for values from the cache", [0; 3]);
        return 0;
    };
    copy[0] = copy[2..].as_ptr() as u32;
    copy[1] = value.len() as u32;
    copy[2..].copy_from_slice(value);
    COPIED.set(start + 2 + value.len());
    copy.as_ptr() as u32
}

/// `cache_put`
extern "C" fn put(pointer: u32, length: u32, list: u32) {
    let key = key(pointer, length);
    match value(list) {
        Ok(value) => {
            // SAFETY: as in `get`.
            let mut cache = Cache::attach(unsafe { halves() }.1);
            if cache.put(key, value).is_err() {
                raise::firmware(Id::CacheError, "no memory left in the cache", [0; 3]);
            }
        }
        Err(error) => broken(format_args!("value for the cache: {error}")),
    }
}

fn value(list: u32) -> Result<&'static [u32], BadAddress> {
    let memory: &'static KernelMemory = &KernelMemory;
    let (elements, count) = (memory.word(list)?, memory.word(list.wrapping_add(4))?);
    if count == 0 {
        return Ok(&[]);
    }
    let length = count.checked_mul(4).ok_or(BadAddress {
        address: elements,
        length: count,
    })?;
    let bytes = memory.bytes(elements, length)?;
    // SAFETY: checked memory; lists of integers are aligned, and this core reads words at any address.
    Ok(unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast::<u32>(), count as usize) })
}

raise::raising! {
    cache_get => get;
    cache_put => put;
}
