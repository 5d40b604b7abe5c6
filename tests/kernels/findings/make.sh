#!/bin/sh
# Remakes the code object and the arrays of this folder. Debian packages: clang-19 lld-19 python3
set -e
cd "$(dirname "$0")"
clang-19 --target=amdgcn-amd-amdhsa -mcpu=gfx803 -mcode-object-version=5 overlap.s -o overlap.gfx803.co
# A[row, column] = row + 256 * column: what a workgroup loads of it, tile by tile.
python3 - <<'EOF'
import array

def write(name, values):
    with open(name, "wb") as file:
        array.array("I", values).tofile(file)

rows, tiles = 256, 16
write("a.bin", range(rows * 4))
write("tiles.expected.bin", [16 * tile + lane % 16 + rows * (lane // 16) for tile in range(tiles) for lane in range(64)])
EOF
chmod 644 ./*.co ./*.bin
