#!/bin/sh
# Remakes the code objects of this folder. Debian packages: clang-19 lld-19 rocm-device-libs
set -e
cd "$(dirname "$0")"
make() {
    clang-19 -x cl -cl-std=CL2.0 -O2 -Wall -Wno-unused-value -Wno-unused-variable --target=amdgcn-amd-amdhsa "-mcpu=$2" -mcode-object-version=5 \
        --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode "$1.cl" -o "$1.$2.co"
}
for target in gfx600 gfx700 gfx803 gfx900 gfx906; do
    make waits $target
done
for target in gfx700 gfx803 gfx906; do
    make grid $target
    make litmus $target
done
chmod 644 ./*.co
ls -l ./*.co
