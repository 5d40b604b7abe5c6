# What a HIP program carries: a wrapper that points at the fat binary, and the fat binary.
    .section .hipFatBinSegment, "aw", @progbits
    .p2align 3
    .globl  __hip_fatbin_wrapper
__hip_fatbin_wrapper:
    .long   0x48495046
    .long   1
    .quad   __hip_fatbin
    .quad   0

    .section .hip_fatbin, "a", @progbits
    .p2align 10
    .globl  __hip_fatbin
__hip_fatbin:
    .incbin "empty.hipfb"
    .p2align 10
    .incbin "empty.hipfb"

    .text
    .globl  main
main:
    ret
