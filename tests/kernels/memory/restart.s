// Waves that run where others ran before: each kernel shows what its registers are at the start, then leaves others
// behind. No metadata: the kernarg segment is +0 u64 out. s[0:1] kernarg, s2 workgroup.
// Workgroups have 128 work-items; dword `work-item` of out becomes 0 when the registers are those of a new wave, and
// v0 says where that is.

.include "target.inc"

.macro put
  store v3, v[4:5], s[24:27]
.endm

.macro begin name
  code \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b32 s6, 0
  .irp n, 7, 8, 9, 10, 11, 12, 20, 30, 31, 60, 101
  s_or_b32 s6, s6, s\n
  .endr
  s_or_b32 s6, s6, vcc_lo
  s_or_b32 s6, s6, vcc_hi
  s_or_b32 s6, s6, m0
  v_mov_b32 v3, s6
  v_or_b32 v3, v3, v1
  v_or_b32 v3, v3, v2
  v_or_b32 v3, v3, v14
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v4, 2, v0
  s_lshl_b32 s6, s2, 9
  add_carry v4, s6, v4
  v_mov_b32 v5, s5
  add_carry v4, s4, v4
  addc v5, 0, v5
  all_memory 24
  put
.endm

.macro end name
  s_endpgm
  code_end \name
  .amdhsa_kernel \name
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_user_sgpr_count 2
    .amdhsa_kernarg_size 8
    .amdhsa_next_free_vgpr 16
    .amdhsa_next_free_sgpr 64
    .amdhsa_reserve_vcc 0
  .end_amdhsa_kernel
  .text
.endm

.macro leave
  .irp n, 0, 1, 2, 7, 8, 9, 10, 11, 12, 20, 30, 31, 60, 101
  s_mov_b32 s\n, -1
  .endr
  s_mov_b64 vcc, -1
  s_mov_b32 m0, -1
  v_mov_b32 v0, 77
  v_mov_b32 v1, 78
  v_mov_b32 v2, 79
  v_mov_b32 v14, -1
.endm

// Nothing of it is wanted before the end.
  begin at_end
  leave
  end at_end

// The wave leaves with all of it, and comes back.
  begin behind_barrier
  leave
  s_barrier
  v_xor_b32 v0, 1, v0
  end behind_barrier

// Blocks behind the one that changes the ids read them.
  begin before_branch
  v_mul_u32_u24 v0, 3, v0
  s_bitcmp1_b32 s2, 0
  s_cbranch_scc1 odd
  v_xor_b32 v6, 1, v0
  v_and_b32 v3, v3, v6
  put
  s_endpgm
odd:
  v_xor_b32 v6, 2, v0
  v_and_b32 v3, v3, v6
  put
  end before_branch

// The work-item ids are changed in a loop, whose lanes leave one after the other.
  begin in_loop
  v_and_b32 v15, 7, v0
  s_mov_b64 s[40:41], exec
turn:
  v_mul_u32_u24 v0, 3, v0
  v_mul_u32_u24 v1, v0, v0
  v_cmp_ne_u32 vcc, 0, v15
  s_and_b64 exec, exec, vcc
  v_lshrrev_b32 v15, 1, v15
  s_cbranch_execnz turn
  s_mov_b64 exec, s[40:41]
  end in_loop

// Registers that M0 names.
  begin by_number
  s_mov_b32 m0, 3
  s_movreld_b32 s28, -1
  s_mov_b32 m0, 0
  s_movreld_b32 s60, -1
  end by_number

.if .amdgcn.gfx_generation_number < 9
  begin lanes_by_number
  s_mov_b32 m0, 0
  v_movreld_b32 v0, 9
  s_mov_b32 m0, 2
  v_movreld_b32 v0, 9
  end lanes_by_number
.else
  begin lanes_by_number
  s_mov_b32 s7, 0
  s_set_gpr_idx_on s7, 8
  v_mov_b32 v0, 9
  s_set_gpr_idx_idx s8
  v_mov_b32 v2, 9
  s_set_gpr_idx_off
  end lanes_by_number
.endif

// One lane changes them.
  begin in_one_lane
  s_mov_b64 exec, 4
  leave
  s_cbranch_vccz 1f
  v_mov_b32 v0, 5
1:
  end in_one_lane
