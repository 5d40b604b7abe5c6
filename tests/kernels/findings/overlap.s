// A tile of a matrix is loaded at offsets that each lane computes, by workgroups whose tile follows from a division.
// gfx803 has no s_mul_hi_u32, so the division multiplies in two VGPRs. docs/findings.md tells of the code objects in
// which these are the VGPRs of the offsets; here are both orders.
//
//   offsets_first   offsets in v0 and v1, then the division in v0 and v1: the offsets are lost
//   division_first  the division first: right
//
// A has M rows of 4 columns, column-major, 32 bits each. A workgroup of 64 lanes loads 16 rows, lane l the element in
// row l & 15 and column l >> 4, and stores them in the order of the lanes. Blocks of 8 workgroups have their tiles in
// descending order.
//
// Arguments: +0 u64 out, +8 u64 A, +16 u32 M. At the start: s[4:5] address of the arguments, s6 workgroup,
// v0 work-item.

	.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
	.amdhsa_code_object_version 5

.macro kernel name
	.text
	.globl \name
	.p2align 8
	.type \name,@function
\name:
	s_load_dwordx4 s[8:11], s[4:5], 0x0
	s_load_dword s12, s[4:5], 0x10
	v_mov_b32 v2, v0
	s_waitcnt lgkmcnt(0)
.endm

// v0 = row, v1 = column of lane v2.
.macro offsets
	v_and_b32 v0, 15, v2
	v_lshrrev_b32 v1, 4, v2
.endm

// s14 = s6 / 8, as the product with 2^31 / 8 + 1, shifted: s[14:15] is the product.
.macro division
	s_mov_b32 s13, 0x10000001
	v_mov_b32 v0, s13
	v_mul_hi_u32 v1, v0, s6
	v_readfirstlane_b32 s15, v1
	v_mul_lo_u32 v1, v0, s6
	v_readfirstlane_b32 s14, v1
	s_lshr_b64 s[14:15], s[14:15], 31
.endm

// Loads and stores the tile, and ends.
.macro copy name
	// s7 = the first row of tile 8 * block + 7 - s6 % 8, which is 16 * block + 7 - s6.
	s_lshl_b32 s7, s14, 4
	s_add_u32 s7, s7, 7
	s_sub_u32 s7, s7, s6
	s_lshl_b32 s16, s7, 6                       // the tile's place in `out`
	s_lshl_b32 s7, s7, 4
	// Rows past the end are replaced by the last one, as in kernels for any size of the matrix.
	s_sub_u32 s17, s12, s7
	s_sub_u32 s17, s17, 1
	v_min_i32 v0, s17, v0
	v_mul_lo_u32 v3, s12, v1
	v_add_u32 v3, vcc, v3, v0
	v_add_u32 v3, vcc, s7, v3
	v_lshlrev_b32 v3, 2, v3
	// A as a buffer of M * 4 elements; offsets outside of it read 0.
	s_mov_b64 s[20:21], s[10:11]
	s_lshl_b32 s22, s12, 4
	s_mov_b32 s23, 0x20000
	buffer_load_dword v4, v3, s[20:23], 0 offen
	v_add_u32 v5, vcc, s16, v2
	v_lshlrev_b32 v5, 2, v5
	v_mov_b32 v6, s9
	v_add_u32 v5, vcc, s8, v5
	v_addc_u32 v6, vcc, 0, v6, vcc
	s_waitcnt vmcnt(0)
	flat_store_dword v[5:6], v4
	s_endpgm
.L\name\()_end:
	.size \name, .L\name\()_end-\name
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel \name
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 24
	.end_amdhsa_kernel
	.text
.endm

kernel offsets_first
	offsets
	division
	copy offsets_first

kernel division_first
	division
	offsets
	copy division_first

	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx803
amdhsa.kernels:
  - .name: offsets_first
    .symbol: offsets_first.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args:
      - { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: a, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: rows, .offset: 16, .size: 4, .value_kind: by_value }
  - .name: division_first
    .symbol: division_first.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args:
      - { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: a, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: rows, .offset: 16, .size: 4, .value_kind: by_value }
...
	.end_amdgpu_metadata
