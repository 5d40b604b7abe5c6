#!/bin/sh
# Remakes the code objects of this folder. Debian packages: clang-19 lld-19 rocm-device-libs
set -e
cd "$(dirname "$0")"
for target in gfx600 gfx700 gfx803 gfx900 gfx906; do
    clang-19 -x cl -cl-std=CL2.0 -O2 -Wall -Wno-unused-value --target=amdgcn-amd-amdhsa -mcpu=$target -mcode-object-version=5 \
        --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode waits.cl -o waits.$target.co
done
chmod 644 ./*.co
ls -l ./*.co
