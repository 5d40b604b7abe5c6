; Pointers to preemptible symbols: the linker leaves R_AMDGPU_ABS64 relocations with a symbol.
    .amdgcn_target "amdgcn-amd-amdhsa--gfx900:xnack-"
    .amdhsa_code_object_version 5
    .text
    .globl  nop
    .p2align 8
    .type   nop,@function
nop:
    s_endpgm
    .size   nop, . - nop

    .rodata
    .p2align 6
    .amdhsa_kernel nop
        .amdhsa_next_free_vgpr 1
        .amdhsa_next_free_sgpr 1
        .amdhsa_reserve_xnack_mask 0
    .end_amdhsa_kernel

    .data
    .globl  value
    .type   value,@object
    .p2align 3
value:
    .quad   0x1122334455667788
    .size   value, 8

    .globl  pointers
    .type   pointers,@object
pointers:
    .quad   value + 4
    .quad   pointers
    .size   pointers, 16
