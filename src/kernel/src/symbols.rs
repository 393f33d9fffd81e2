//! The names by which kernels import firmware functions (kernel ABI, section 2.13).

use crate::calls::{cache, dma, i2c, log, math, rpc, unavailable};
use crate::raise;
use crate::rtio::{self, cursor};

struct Symbol {
    name: &'static str,
    address: *const (),
}

// SAFETY: addresses of functions.
unsafe impl Sync for Symbol {}

/// Address of the firmware function that kernels know by `name`.
///
/// Searched in a row: a library imports a few dozen names, once.
pub fn find(name: &[u8]) -> Option<u32> {
    TABLE
        .iter()
        .find(|symbol| symbol.name.as_bytes() == name)
        .map(|symbol| symbol.address as u32)
}

macro_rules! own {
    ($($name:literal = $function:path),* $(,)?) => { &[$(Symbol { name: $name, address: $function as *const () }),*] };
}

/// Functions of the compiler's run-time library, exported under their own names.
macro_rules! runtime {
    ($($name:ident)*) => {{
        extern "C" { $(fn $name();)* }
        &[$(Symbol { name: stringify!($name), address: $name as *const () }),*]
    }};
}

macro_rules! mathematics {
    ($($name:ident)*) => { &[$(Symbol { name: stringify!($name), address: math::$name as *const () }),*] };
}

const FIRMWARE: &[Symbol] = own![
    "now_mu" = cursor::now_mu,
    "at_mu" = cursor::at_mu,
    "delay_mu" = cursor::delay_mu,
    "rtio_cursor" = cursor::CURSOR,
    "rpc_send" = rpc::rpc_send,
    "rpc_send_async" = rpc::rpc_send_async,
    "rpc_recv" = rpc::rpc_recv,
    "rtio_init" = rtio::rtio_init,
    "rtio_get_destination_status" = rtio::rtio_get_destination_status,
    "rtio_get_counter" = rtio::rtio_get_counter,
    "rtio_wait_until_mu" = rtio::rtio_wait_until_mu,
    "rtio_output" = rtio::rtio_output,
    "rtio_output_wide" = rtio::rtio_output_wide,
    "rtio_input_timestamp" = rtio::rtio_input_timestamp,
    "rtio_input_data" = rtio::rtio_input_data,
    "rtio_input_timestamped_data" = rtio::rtio_input_timestamped_data,
    "rtio_batch_start" = rtio::rtio_batch_start,
    "rtio_batch_end" = rtio::rtio_batch_end,
    "rtio_log" = rtio::rtio_log,
    "core_log" = log::core_log,
    "dma_record_start" = dma::dma_record_start,
    "dma_record_stop" = dma::dma_record_stop,
    "dma_erase" = dma::dma_erase,
    "dma_retrieve" = dma::dma_retrieve,
    "dma_playback" = dma::dma_playback,
    "cache_get" = cache::cache_get,
    "cache_put" = cache::cache_put,
    "i2c_start" = i2c::i2c_start,
    "i2c_restart" = i2c::i2c_restart,
    "i2c_stop" = i2c::i2c_stop,
    "i2c_write" = i2c::i2c_write,
    "i2c_read" = i2c::i2c_read,
    "i2c_switch_select" = i2c::i2c_switch_select,
    "spi_set_config" = unavailable::spi,
    "spi_write" = unavailable::spi,
    "spi_read" = unavailable::spi,
    "subkernel_load_run" = unavailable::subkernel,
    "subkernel_await_finish" = unavailable::subkernel,
    "subkernel_send_message" = unavailable::subkernel,
    "subkernel_await_message" = unavailable::subkernel,
    "cxp_download_xml_file" = unavailable::cxp,
    "cxp_read32" = unavailable::cxp,
    "cxp_write32" = unavailable::cxp,
    "cxp_start_roi_viewer" = unavailable::cxp,
    "cxp_download_roi_viewer_frame" = unavailable::cxp_frame,
    "__artiq_personality" = raise::artiq_personality,
    "__artiq_raise" = raise::artiq_raise,
    "__artiq_resume" = raise::artiq_resume,
    "__artiq_end_catch" = raise::artiq_end_catch,
    "__kairos_in_flight" = raise::kairos_in_flight,
    "__kairos_end_catch" = raise::kairos_end_catch,
    "__nac3_personality" = raise::artiq_personality,
    "__nac3_raise" = raise::artiq_raise,
    "__nac3_resume" = raise::artiq_resume,
    "__nac3_end_catch" = raise::artiq_end_catch,
    "_Unwind_Resume" = raise::artiq_resume,
    // Named by functions that have unwind tables but no personality of their own.
    "__aeabi_unwind_cpp_pr0" = raise::artiq_personality,
    "__aeabi_unwind_cpp_pr1" = raise::artiq_personality,
    "__aeabi_unwind_cpp_pr2" = raise::artiq_personality,
    "test_exception_id_sync" = unavailable::test_exception_id_sync,
    "sincos" = math::sincos,
    "__powidf2" = math::powidf2,
    "strlen" = math::strlen,
];

const MATHEMATICS: &[Symbol] = mathematics![
    acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 exp10 expm1 fabs floor j0 j1 lgamma log log2
    log10 log1p round rint sin sinh sqrt tan tanh tgamma trunc y0 y1 atan2 copysign fmax fmin fmod hypot nextafter pow
    fma jn yn ldexp
];

const RUNTIME: &[Symbol] = runtime![
    __aeabi_dadd __aeabi_ddiv __aeabi_dmul __aeabi_dsub __aeabi_dcmpeq __aeabi_dcmplt __aeabi_dcmple __aeabi_dcmpge
    __aeabi_dcmpgt __aeabi_dcmpun __aeabi_fadd __aeabi_fdiv __aeabi_fmul __aeabi_fsub __aeabi_fcmpeq __aeabi_fcmplt
    __aeabi_fcmple __aeabi_fcmpge __aeabi_fcmpgt __aeabi_fcmpun __aeabi_d2iz __aeabi_d2uiz __aeabi_d2lz __aeabi_d2ulz
    __aeabi_f2iz __aeabi_f2uiz __aeabi_f2lz __aeabi_f2ulz __aeabi_f2d __aeabi_d2f __aeabi_i2d __aeabi_ui2d
    __aeabi_l2d __aeabi_ul2d __aeabi_i2f __aeabi_ui2f __aeabi_l2f __aeabi_ul2f __aeabi_lmul __aeabi_llsl __aeabi_llsr
    __aeabi_lasr __aeabi_idiv __aeabi_ldivmod __aeabi_idivmod __aeabi_uidiv __aeabi_uidivmod __aeabi_uldivmod
    __aeabi_memcpy __aeabi_memcpy4 __aeabi_memcpy8 __aeabi_memmove __aeabi_memmove4 __aeabi_memmove8 __aeabi_memset
    __aeabi_memset4 __aeabi_memset8 __aeabi_memclr __aeabi_memclr4 __aeabi_memclr8 memcpy memmove memset memcmp bcmp
];

struct Table;

impl Table {
    fn iter(&self) -> impl Iterator<Item = &'static Symbol> {
        FIRMWARE.iter().chain(RUNTIME).chain(MATHEMATICS)
    }
}

const TABLE: Table = Table;
