//! Where the image lies. That of the kernel core, which it has in itself, is in a section of its
//! own, which a scan for instructions leaves out.

fn main() {
    kairos_layout::comms_core().link();
}
