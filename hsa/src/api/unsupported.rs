//! Exports of the real library that no known program calls: an error status, reported once.

use crate::abi::{RawStatus, Status};
use crate::guard::unsupported;

macro_rules! functions {
    ($status:ident: $($name:ident)*) => {
        $(
            /// Not supported: gives an error status.
            pub extern "C" fn $name() -> RawStatus {
                unsupported(stringify!($name), Status::$status).0
            }
        )*
    };
}

// Signals of several processes, memory for other drivers.
functions!(ERROR:
    hsa_amd_ipc_signal_create hsa_amd_ipc_signal_attach
    hsa_amd_portable_export_dmabuf hsa_amd_portable_export_dmabuf_v2
    hsa_amd_portable_close_dmabuf);

// Counters, samples, and the like.
functions!(ERROR:
    hsa_amd_memory_migrate hsa_amd_spm_acquire hsa_amd_spm_release hsa_amd_spm_set_dest_buffer
    hsa_ven_amd_pcs_iterate_configuration hsa_ven_amd_pcs_create hsa_ven_amd_pcs_create_from_id
    hsa_ven_amd_pcs_destroy hsa_ven_amd_pcs_start hsa_ven_amd_pcs_stop hsa_ven_amd_pcs_flush);

// The finalizer and older ways of inspecting code objects.
functions!(ERROR:
    hsa_ext_program_create hsa_ext_program_destroy hsa_ext_program_add_module
    hsa_ext_program_iterate_modules hsa_ext_program_get_info hsa_ext_program_finalize
    hsa_code_object_serialize hsa_code_object_get_info hsa_code_object_get_symbol
    hsa_code_object_get_symbol_from_name hsa_code_object_iterate_symbols hsa_code_symbol_get_info
    hsa_executable_load_program_code_object hsa_soft_queue_create
    hsa_signal_group_create hsa_signal_group_destroy hsa_signal_group_wait_any_scacquire
    hsa_signal_group_wait_any_relaxed);
