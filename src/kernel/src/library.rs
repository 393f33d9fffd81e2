//! The library in memory: running, or to be run.

use kairos_kernel::elf::Library;

use crate::enter::entered;
use crate::owned::Owned;

/// The library, once it is loaded.
static LIBRARY: Owned<Option<Library>> = Owned::new(None);
/// It has not been run yet.
static FRESH: Owned<bool> = Owned::new(false);

/// A library has been loaded, or the memory for it been written over in vain.
pub fn loaded(library: Option<Library>) {
    FRESH.set(library.is_some());
    LIBRARY.set(library);
}

/// The library in memory.
pub fn get() -> Option<Library> {
    LIBRARY.get()
}

/// The library, once, to be run.
pub fn take_fresh() -> Option<Library> {
    get().filter(|_| FRESH.replace(false))
}

/// The library whose kernel runs, if one does.
pub fn running() -> Option<Library> {
    get().filter(|_| entered())
}
