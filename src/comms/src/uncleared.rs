//! Large buffers that are not cleared at boot, which would take longer than the rest of it.

use core::cell::UnsafeCell;

/// Memory of a buffer, which [`uncleared`] takes. Aligned to a cache line.
#[repr(C, align(32))]
pub struct Memory<const BYTES: usize>(UnsafeCell<[u8; BYTES]>);

// SAFETY: nothing refers to the inside but what `take` gives, which is given once.
unsafe impl<const BYTES: usize> Sync for Memory<BYTES> {}

impl<const BYTES: usize> Memory<BYTES> {
    pub const fn uncleared() -> Self {
        Self(UnsafeCell::new([0; BYTES]))
    }

    /// The memory, with whatever is in it.
    ///
    /// # Safety
    /// To be called once.
    #[allow(clippy::mut_from_ref, reason = "given once")]
    pub unsafe fn take(&'static self) -> &'static mut [u8; BYTES] {
        // SAFETY: by this function's condition the only reference; any bytes are valid.
        unsafe { &mut *self.0.get() }
    }
}

/// A buffer of so many bytes for whoever asks here first, which is to be at boot.
///
/// # Panics
/// The second time.
#[macro_export]
macro_rules! uncleared {
    ($bytes:expr) => {{
        #[link_section = ".uninit"]
        static MEMORY: $crate::uncleared::Memory<{ $bytes }> = $crate::uncleared::Memory::uncleared();
        // In memory that is cleared.
        static TAKEN: $crate::uncleared::StaticCell<()> = $crate::uncleared::StaticCell::new();
        TAKEN.init(());
        // SAFETY: nobody else can name this memory, and `TAKEN` lets one pass.
        unsafe { MEMORY.take() }
    }};
}
#[doc(hidden)]
pub use static_cell::StaticCell;

pub use crate::uncleared;
