#!/bin/sh
# Remakes the code objects of this folder. Debian packages: clang-19 lld-19 llvm-19 rocm-device-libs
set -e
cd "$(dirname "$0")"
bitcode=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode

cl() { # source, target, denormals of f32, more flags
    source=$1 target=$2 denormals=$3
    shift 3
    daz=off
    [ "$denormals" = ieee ] || daz=on
    libs=
    for name in opencl ocml ockl oclc_daz_opt_$daz oclc_unsafe_math_off oclc_finite_only_off \
        oclc_correctly_rounded_sqrt_on oclc_wavefrontsize64_on oclc_isa_version_${target#gfx} oclc_abi_version_400; do
        libs="$libs -Xclang -mlink-builtin-bitcode -Xclang $bitcode/$name.bc"
    done
    # shellcheck disable=SC2086
    clang-19 -x cl -cl-std=CL2.0 -O2 -Wall --target=amdgcn-amd-amdhsa -mcpu="$target" -mcode-object-version=4 \
        -nogpulib $libs -ffp-contract=off -cl-fp32-correctly-rounded-divide-sqrt \
        -Xclang -fdenormal-fp-math-f32="$denormals" "$@" "$source.cl" -o "$source.$target.co"
    llvm-strip-19 "$source.$target.co"
    chmod 644 "$source.$target.co"
}

for target in ${TARGETS:-gfx600 gfx700 gfx803 gfx900 gfx906}; do
    for source in ${SOURCES:-integer floats convert half vector}; do
        cl "$source" "$target" ieee
    done
    cl flush "$target" preserve-sign
    cl control "$target" ieee -Xclang -cl-ext=+__cl_clang_function_pointers -mllvm -amdgpu-atomic-optimizer-strategy=DPP
done
ls -l ./*.co
