#!/bin/sh
# Assembles the kernel that exports. Needs clang-19 and lld-19.
set -e
cd "$(dirname "$0")"
for target in gfx600 gfx803 gfx906; do
    sed "s/TARGET/amdgcn-amd-amdhsa--$target/" exports.s |
        clang-19 --target=amdgcn-amd-amdhsa -mcpu=$target -mcode-object-version=4 -x assembler - -o exports.$target.co
    chmod 644 exports.$target.co
done
