//! The library in memory, running or ready to run.

use kairos_kernel::elf::Library;

use crate::enter::entered;
use crate::owned::Owned;

/// The loaded library, if any.
static LIBRARY: Owned<Option<Library>> = Owned::new(None);
/// Whether it has not been run yet.
static FRESH: Owned<bool> = Owned::new(false);

/// Records that a library has been loaded, or (`None`) that its memory has been overwritten.
pub fn loaded(library: Option<Library>) {
    FRESH.set(library.is_some());
    LIBRARY.set(library);
}

/// The library in memory.
pub fn get() -> Option<Library> {
    LIBRARY.get()
}

/// Returns the library to be run, once.
pub fn take_fresh() -> Option<Library> {
    get().filter(|_| FRESH.replace(false))
}

/// The library whose kernel is running, if any.
pub fn running() -> Option<Library> {
    get().filter(|_| entered())
}
