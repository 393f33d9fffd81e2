//! Functions for hardware that this device does not have. Each raises an exception that a kernel
//! can catch, with the text of the kernel ABI, section 4.4, and the missing hardware.

use kairos_proto::exception::{Id, NAMES};

use crate::raise;

extern "C" fn raise_spi() {
    raise::firmware(
        Id::SpiError,
        "SPI bus could not be accessed: this device has no SPI outside of RTIO",
        [0; 3],
    );
}

fn no_grabber(destination: u32) {
    let message = "CXP Grabber is not available on destination {0}";
    raise::firmware(Id::CxpError, message, [i64::from(destination), 0, 0]);
}

extern "C" fn raise_cxp(destination: u32) {
    no_grabber(destination);
}

/// For the function whose first argument is the address of its result.
extern "C" fn raise_cxp_frame(_: u32, destination: u32) {
    no_grabber(destination);
}

extern "C" fn raise_id(id: u32) {
    let message = NAMES
        .get(id as usize)
        .copied()
        .unwrap_or("unallocated internal exception id");
    let mut record = kairos_kernel::exceptions::firmware_record(Id::RuntimeError, message, [0; 3]);
    (record.id, record.line, record.column) = (id, 0, 0);
    raise::record(record);
}

raise::raising! {
    spi => raise_spi;
    cxp => raise_cxp;
    cxp_frame => raise_cxp_frame;
    test_exception_id_sync => raise_id;
}
