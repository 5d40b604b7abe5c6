// Pointers in constant memory: the linker leaves R_AMDGPU_RELATIVE64 relocations.
constant int odd[2] = {1, 3};
constant int even[3] = {2, 4, 6};
constant int *constant rows[2] = {odd, even + 1};

kernel void pick(global int *out, int row, int column) { out[0] = rows[row][column]; }
