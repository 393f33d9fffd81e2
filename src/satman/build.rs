//! Linker placement of the image. The embedded kernel core image has its own section, which a scan
//! for instructions skips.

fn main() {
    kairos_intercore::linker::comms_core().link();
}
