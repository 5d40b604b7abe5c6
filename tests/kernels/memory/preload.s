// Kernel arguments that are loaded into registers before the wave starts (gfx90a). The record is s0 to s31
// and v0 of each lane, from where `out` says; the host writes that variable after loading.

  .data
  .p2align 3
  .globl out
  .protected out
  .type out,@object
  .size out, 8
out:
  .quad 0

.macro preload name, dispatch, size, length, first, count, items
  .text
  .p2align 8
  .globl \name
  .type \name,@function
\name:
  // Where firmware starts that knows nothing of preloading: it is not entered.
  s_trap 2
  .fill 63, 4, 0xbf800000
  s_getpc_b64 s[40:41]
  s_add_u32 s40, s40, out@rel32@lo+4
  s_addc_u32 s41, s41, out@rel32@hi+12
  s_load_dwordx2 s[40:41], s[40:41], 0x0
  v_mov_b32 v18, 0
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  v_writelane_b32 v18, s\n, \n
.endr
  v_mbcnt_lo_u32_b32 v11, -1, 0
  v_mbcnt_hi_u32_b32 v11, -1, v11
  v_lshlrev_b32 v11, 2, v11
  s_waitcnt lgkmcnt(0)
  global_store_dword v11, v18, s[40:41]
  global_store_dword v11, v0, s[40:41] offset:256
  s_endpgm
  .size \name, .-\name

  .section .rodata,"a"
  .p2align 6
  .amdhsa_kernel \name
    .amdhsa_user_sgpr_dispatch_ptr \dispatch
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_user_sgpr_private_segment_size \size
    .amdhsa_user_sgpr_kernarg_preload_length \length
    .amdhsa_user_sgpr_kernarg_preload_offset \first
    .amdhsa_user_sgpr_count \count
    .amdhsa_system_sgpr_workgroup_id_x 1
    .amdhsa_system_vgpr_workitem_id \items
    .amdhsa_kernarg_size 40
    .amdhsa_next_free_vgpr 24
    .amdhsa_next_free_sgpr 96
    .amdhsa_accum_offset 24
  .end_amdhsa_kernel
  .text
.endm

  preload preload_first, 0, 0, 4, 0, 6, 0
  preload preload_later, 1, 1, 5, 3, 10, 1
  preload preload_most, 0, 0, 10, 0, 12, 2
