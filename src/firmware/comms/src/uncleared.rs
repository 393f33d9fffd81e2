//! Large buffers that are not cleared at boot, as that would take longer than the rest of it.

use core::cell::UnsafeCell;

/// Storage of a buffer made by [`uncleared`]. Aligned to a cache line.
#[repr(C, align(32))]
pub struct Memory<const BYTES: usize>(UnsafeCell<[u8; BYTES]>);

// SAFETY: the only reference to the contents is the one that `take` returns, once.
unsafe impl<const BYTES: usize> Sync for Memory<BYTES> {}

impl<const BYTES: usize> Memory<BYTES> {
    pub const fn uncleared() -> Self {
        Self(UnsafeCell::new([0; BYTES]))
    }

    /// Returns the memory with its present contents.
    ///
    /// # Safety
    /// Must be called at most once.
    #[allow(clippy::mut_from_ref, reason = "given once")]
    pub unsafe fn take(&'static self) -> &'static mut [u8; BYTES] {
        // SAFETY: the only reference, by this function's contract; any bytes are valid.
        unsafe { &mut *self.0.get() }
    }
}

/// Returns an uncleared buffer of `$bytes` bytes. Each use may run once only, at boot.
///
/// # Panics
/// If it runs a second time.
#[macro_export]
macro_rules! uncleared {
    ($bytes:expr) => {{
        #[link_section = ".uninit"]
        static MEMORY: $crate::uncleared::Memory<{ $bytes }> = $crate::uncleared::Memory::uncleared();
        // In memory that is cleared at boot.
        static TAKEN: $crate::uncleared::StaticCell<()> = $crate::uncleared::StaticCell::new();
        TAKEN.init(());
        // SAFETY: no other code can name this memory, and `TAKEN` lets only the first caller pass.
        unsafe { MEMORY.take() }
    }};
}
#[doc(hidden)]
pub use static_cell::StaticCell;

pub use crate::uncleared;
