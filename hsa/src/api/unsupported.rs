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

// The system says that it has no shared virtual memory of that kind.
functions!(ERROR: hsa_amd_svm_attributes_set hsa_amd_svm_attributes_get hsa_amd_svm_prefetch_async);

// Manual address space, counters, and the like.
functions!(ERROR:
    hsa_amd_memory_migrate hsa_amd_vmem_address_reserve hsa_amd_vmem_address_reserve_align
    hsa_amd_vmem_address_free
    hsa_amd_vmem_handle_create hsa_amd_vmem_handle_release hsa_amd_vmem_map hsa_amd_vmem_unmap
    hsa_amd_vmem_set_access hsa_amd_vmem_get_access hsa_amd_vmem_export_shareable_handle
    hsa_amd_vmem_import_shareable_handle hsa_amd_vmem_retain_alloc_handle
    hsa_amd_vmem_get_alloc_properties_from_handle hsa_amd_spm_acquire hsa_amd_spm_release
    hsa_amd_spm_set_dest_buffer hsa_amd_agent_set_async_scratch_limit hsa_amd_queue_get_info
    hsa_amd_enable_logging);

// The finalizer and older ways of inspecting code objects.
functions!(ERROR:
    hsa_ext_program_create hsa_ext_program_destroy hsa_ext_program_add_module
    hsa_ext_program_iterate_modules hsa_ext_program_get_info hsa_ext_program_finalize
    hsa_code_object_serialize hsa_code_object_get_info hsa_code_object_get_symbol
    hsa_code_object_get_symbol_from_name hsa_code_object_iterate_symbols hsa_code_symbol_get_info
    hsa_executable_load_program_code_object hsa_soft_queue_create hsa_cache_get_info
    hsa_agent_get_exception_policies hsa_isa_get_exception_policies hsa_isa_get_round_method
    hsa_signal_group_create hsa_signal_group_destroy hsa_signal_group_wait_any_scacquire
    hsa_signal_group_wait_any_relaxed);
