//! Functions that the firmware provides to kernels.
//!
//! Generated from `src/contracts/kernel_symbols.toml` by `src/contracts/generate.py`: do not edit.

/// Calls the macro `$table` with `name = function;` for each function of `src/kernel`.
#[macro_export]
macro_rules! kernel_symbols {
    ($table:ident) => {
        $table! {
            // time: the time cursor
            "now_mu" = cursor::now_mu;
            "at_mu" = cursor::at_mu;
            "delay_mu" = cursor::delay_mu;
            "rtio_cursor" = cursor::CURSOR;
            // rpc: remote procedure calls to the host
            "rpc_send" = rpc::rpc_send;
            "rpc_send_async" = rpc::rpc_send_async;
            "rpc_recv" = rpc::rpc_recv;
            // rtio: events
            "rtio_init" = rtio::rtio_init;
            "rtio_get_destination_status" = rtio::rtio_get_destination_status;
            "rtio_get_counter" = rtio::rtio_get_counter;
            "rtio_wait_until_mu" = rtio::rtio_wait_until_mu;
            "rtio_output" = rtio::rtio_output;
            "rtio_output_wide" = rtio::rtio_output_wide;
            "rtio_input_timestamp" = rtio::rtio_input_timestamp;
            "rtio_input_data" = rtio::rtio_input_data;
            "rtio_input_timestamped_data" = rtio::rtio_input_timestamped_data;
            "rtio_batch_start" = rtio::rtio_batch_start;
            "rtio_batch_end" = rtio::rtio_batch_end;
            "rtio_post_2" = rtio::POST;
            // log: text
            "core_log" = log::core_log;
            "rtio_log" = rtio::rtio_log;
            // dma: recorded sequences
            "dma_record_start" = dma::dma_record_start;
            "dma_record_stop" = dma::dma_record_stop;
            "dma_erase" = dma::dma_erase;
            "dma_retrieve" = dma::dma_retrieve;
            "dma_playback" = dma::dma_playback;
            // pulse: the pulse core
            "pulse_update" = pulse::pulse_update;
            "pulse_update_all" = pulse::pulse_update_all;
            "pulse_make" = pulse::pulse_make;
            "pulse_store" = pulse::pulse_store;
            "pulse_change" = pulse::pulse_change;
            "pulse_stream" = pulse::pulse_stream;
            "pulse_note" = pulse::pulse_note;
            "pulse_noted" = pulse::pulse_noted;
            // cache: values kept between kernels
            "cache_get" = cache::cache_get;
            "cache_put" = cache::cache_put;
            // i2c: the board's I2C bus
            "i2c_start" = i2c::i2c_start;
            "i2c_restart" = i2c::i2c_restart;
            "i2c_stop" = i2c::i2c_stop;
            "i2c_write" = i2c::i2c_write;
            "i2c_read" = i2c::i2c_read;
            "i2c_switch_select" = i2c::i2c_switch_select;
            // linalg: linear algebra of small dense matrices
            "np_linalg_cholesky" = linalg::np_linalg_cholesky;
            "np_linalg_inv" = linalg::np_linalg_inv;
            "np_linalg_pinv" = linalg::np_linalg_pinv;
            "np_linalg_det" = linalg::np_linalg_det;
            "np_linalg_qr" = linalg::np_linalg_qr;
            "np_linalg_svd" = linalg::np_linalg_svd;
            "np_linalg_matrix_power" = linalg::np_linalg_matrix_power;
            "sp_linalg_lu" = linalg::sp_linalg_lu;
            "sp_linalg_schur" = linalg::sp_linalg_schur;
            "sp_linalg_hessenberg" = linalg::sp_linalg_hessenberg;
            "kairos_linalg_solve" = linalg::kairos_linalg_solve;
            // spi: SPI outside of RTIO: always raises
            "spi_set_config" = unavailable::spi;
            "spi_write" = unavailable::spi;
            "spi_read" = unavailable::spi;
            // subkernels: kernels on satellites
            "subkernel_load_run" = subkernel::subkernel_load_run;
            "subkernel_await_finish" = subkernel::subkernel_await_finish;
            "subkernel_send_message" = subkernel::subkernel_send_message;
            "subkernel_await_message" = subkernel::subkernel_await_message;
            // remote: memory of other boards
            "remote_pointer" = remote::remote_pointer;
            "remote_load" = remote::remote_load;
            "remote_store" = remote::remote_store;
            "remote_read" = remote::remote_read;
            "remote_export" = remote::remote_export;
            "remote_copy" = remote::remote_copy;
            "remote_copy_pieces" = remote::remote_copy_pieces;
            "remote_write" = remote::remote_write;
            "remote_post" = remote::remote_post;
            "remote_wait" = remote::remote_wait;
            "remote_bridge" = remote::remote_bridge;
            // coaxpress: CoaXPress cameras: always raise
            "cxp_download_xml_file" = unavailable::cxp;
            "cxp_read32" = unavailable::cxp;
            "cxp_write32" = unavailable::cxp;
            "cxp_start_roi_viewer" = unavailable::cxp;
            "cxp_download_roi_viewer_frame" = unavailable::cxp_frame;
            // exceptions: raising and unwinding
            "__artiq_personality" = raise::artiq_personality;
            "__artiq_raise" = raise::artiq_raise;
            "__artiq_resume" = raise::artiq_resume;
            "__artiq_end_catch" = raise::artiq_end_catch;
            "__kairos_in_flight" = raise::kairos_in_flight;
            "__kairos_end_catch" = raise::kairos_end_catch;
            "__nac3_personality" = raise::artiq_personality;
            "__nac3_raise" = raise::artiq_raise;
            "__nac3_resume" = raise::artiq_resume;
            "__nac3_end_catch" = raise::artiq_end_catch;
            "_Unwind_Resume" = raise::artiq_resume;
            "__aeabi_unwind_cpp_pr0" = raise::artiq_personality;
            "__aeabi_unwind_cpp_pr1" = raise::artiq_personality;
            "__aeabi_unwind_cpp_pr2" = raise::artiq_personality;
            "test_exception_id_sync" = unavailable::test_exception_id_sync;
            // c: C and LLVM
            "sincos" = math::sincos;
            "__aeabi_idiv" = math::idiv;
            "__aeabi_idivmod" = math::idivmod;
            "__powidf2" = math::powidf2;
            "strlen" = math::strlen;
        }
    };
}

/// Calls the macro `$table` with the names of the run-time library.
#[macro_export]
macro_rules! runtime_symbols {
    ($table:ident) => {
        $table! {
            __aeabi_dadd __aeabi_ddiv __aeabi_dmul __aeabi_dsub __aeabi_dcmpeq __aeabi_dcmplt __aeabi_dcmple
            __aeabi_dcmpge __aeabi_dcmpgt __aeabi_dcmpun __aeabi_fadd __aeabi_fdiv __aeabi_fmul __aeabi_fsub
            __aeabi_fcmpeq __aeabi_fcmplt __aeabi_fcmple __aeabi_fcmpge __aeabi_fcmpgt __aeabi_fcmpun __aeabi_d2iz
            __aeabi_d2uiz __aeabi_d2lz __aeabi_d2ulz __aeabi_f2iz __aeabi_f2uiz __aeabi_f2lz __aeabi_f2ulz __aeabi_f2d
            __aeabi_d2f __aeabi_i2d __aeabi_ui2d __aeabi_l2d __aeabi_ul2d __aeabi_i2f __aeabi_ui2f __aeabi_l2f
            __aeabi_ul2f __aeabi_lmul __aeabi_llsl __aeabi_llsr __aeabi_lasr __aeabi_ldivmod __aeabi_uidiv
            __aeabi_uidivmod __aeabi_uldivmod __aeabi_memcpy __aeabi_memcpy4 __aeabi_memcpy8 __aeabi_memmove
            __aeabi_memmove4 __aeabi_memmove8 __aeabi_memset __aeabi_memset4 __aeabi_memset8 __aeabi_memclr
            __aeabi_memclr4 __aeabi_memclr8 memcpy memmove memset memcmp bcmp
        }
    };
}
