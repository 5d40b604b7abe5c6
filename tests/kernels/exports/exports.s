// A kernel that exports, as pixel and vertex shaders do: each wave to four targets, under different
// masks. make.sh assembles it. v0 is the work-item.

	.amdgcn_target "TARGET"
	.amdhsa_code_object_version 4

	.text
	.globl exporter
	.p2align 8
	.type exporter,@function
exporter:
	v_lshlrev_b32_e32 v1, 16, v0
	v_or_b32_e32 v2, 7, v1
	v_mov_b32_e32 v3, s6
	v_not_b32_e32 v4, v0
	exp mrt0 v0, v1, v2, v3
	exp mrt5 v2, v2, v4, v4 compr
	s_mov_b64 s[0:1], exec
	s_mov_b64 exec, 0x15
	exp pos1 v3, off, off, v4 done
	s_mov_b64 exec, 0
	exp param31 off, v0, off, off
	s_mov_b64 exec, s[0:1]
	// Written after it was exported.
	v_mov_b32_e32 v0, 0
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lend
	exp null v0, off, off, off done vm
.Lend:
	s_endpgm
.Lexporter_end:
	.size exporter, .Lexporter_end-exporter
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel exporter
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [ 1, 1 ]
amdhsa.kernels:
  - .name: exporter
    .symbol: exporter.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args: []
...
	.end_amdgpu_metadata
