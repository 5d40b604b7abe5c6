#!/bin/sh
# Remakes the code objects of this folder. Debian packages: clang-15 lld-15 clang-19 lld-19 clang-tools-19 llvm-19 rocm-device-libs
set -e
cd "$(dirname "$0")"
libs=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cl() { # compiler, target, code object version, source, output
    "clang-$1" -x cl -cl-std=CL2.0 -O2 --target=amdgcn-amd-amdhsa -mcpu="$2" -mcode-object-version="$3" \
        --rocm-device-lib-path=$libs "$4" -o "$5"
}

cl 19 gfx600 5 args.cl args.v5.gfx600.co
cl 19 gfx700 5 args.cl args.v5.gfx700.co
cl 15 gfx803 3 args.cl args.v3.gfx803.co
cl 19 gfx900 4 args.cl args.v4.gfx900.co
cl 19 gfx906:sramecc-:xnack- 5 args.cl args.v5.gfx906.co

# The device libraries do not know version 6: it has the hidden arguments of version 5.
set --
for name in opencl ocml ockl oclc_daz_opt_off oclc_unsafe_math_off oclc_finite_only_off oclc_correctly_rounded_sqrt_on \
    oclc_wavefrontsize64_on oclc_isa_version_900 oclc_abi_version_500; do
    set -- "$@" -Xclang -mlink-builtin-bitcode -Xclang "$libs/$name.bc"
done
clang-19 -x cl -cl-std=CL2.0 -O2 --target=amdgcn-amd-amdhsa -mcpu=gfx900 -mcode-object-version=6 -nogpulib "$@" args.cl \
    -o args.v6.gfx900.co

cl 19 gfx900 5 globals.cl globals.gfx900.co
cl 19 gfx900 5 relocs.cl relocs.gfx900.co

llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=gfx900 -mattr=-xnack -filetype=obj symbols.s -o "$work/symbols.o"
ld.lld-19 -shared "$work/symbols.o" -o symbols.gfx900.co

cl 19 gfx803 4 empty.cl "$work/a.co"
cl 19 gfx900:xnack- 4 empty.cl "$work/b.co"
: > "$work/host"
clang-offload-bundler-19 -type=o -bundle-align=1024 \
    -targets=host-x86_64-unknown-linux,hipv4-amdgcn-amd-amdhsa--gfx803,hipv4-amdgcn-amd-amdhsa--gfx900:xnack- \
    -input="$work/host" -input="$work/a.co" -input="$work/b.co" -output=empty.hipfb
clang-19 --target=x86_64-linux-gnu -c host.s -o "$work/host.o"
ld.lld-19 -shared -s -z noseparate-code "$work/host.o" -o host.so
ls -l ./*.co ./*.hipfb ./*.so
