//! Functions that this firmware does not have yet, or not without hardware that is not there: each raises its exception,
//! so that a kernel can catch it, with the text of the kernel ABI, section 4.4.

use kairos_proto::exception::{Id, NAMES};

use crate::raise;

macro_rules! unavailable {
    ($($name:ident, $raise:ident: $id:ident, $message:literal;)*) => {
        $(
            extern "C" fn $raise() {
                raise::firmware(Id::$id, $message, [0; 3]);
            }
            raise::raising! { $name => $raise; }
        )*
    };
}

unavailable! {
    spi, raise_spi: SpiError, "SPI bus could not be accessed";
    subkernel, raise_subkernel: SubkernelError, "Error loading or running the subkernel";
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
    test_exception_id_sync => raise_id;
}
