"""PyOpenCL on the ROCm ICD: arrays, a reduction, a scan, LDS, atomics, printf and an image. The arguments are
build options. Each check prints its name and True or False."""

import sys

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.scan import GenericScanKernel

SOURCE = r"""
#define TILE 16

__kernel void matmul(__global const float *a, __global const float *b, __global float *c, int n) {
  __local float of_a[TILE][TILE], of_b[TILE][TILE];
  int x = get_local_id(0), y = get_local_id(1);
  int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int at = 0; at < n; at += TILE) {
    of_a[y][x] = a[row * n + at + x];
    of_b[y][x] = b[(at + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++) sum += of_a[y][k] * of_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

__kernel void count(__global int *counter) {
  atomic_inc(counter);
  if (get_global_id(0) == 5) printf("item %d\n", 5);
}

__kernel void texels(read_only image2d_t image, __global float4 *out) {
  const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
  int x = get_global_id(0), y = get_global_id(1);
  out[y * get_global_size(0) + x] = read_imagef(image, nearest, (int2)(x, y));
}
"""


def say(name, right):
    print(name, bool(right), flush=True)


context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
flags = cl.mem_flags
random = np.random.default_rng(1)


def constant(values):
    return cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=values)


a, b = (random.random(1 << 20).astype(np.float32) for _ in range(2))
on_gpu = [pyopencl.array.to_device(queue, values) for values in (a, b)]
say("array", np.allclose((on_gpu[0] * 2 + on_gpu[1]).get(), a * 2 + b))
total = float(pyopencl.array.sum(on_gpu[0]).get())
say("sum", np.isclose(total, a.sum(dtype=np.float64), rtol=1e-4))

numbers = np.arange(100_000, dtype=np.int32)
scanned = pyopencl.array.to_device(queue, numbers)
scan = GenericScanKernel(context, np.int32, arguments="__global int *v", input_expr="v[i]", scan_expr="a + b",
                         neutral="0", output_statement="v[i] = item;")
scan(scanned)
say("scan", np.array_equal(scanned.get(), np.cumsum(numbers, dtype=np.int32)))

program = cl.Program(context, SOURCE).build(sys.argv[1:])
n = 128
left, right = (random.random((n, n)).astype(np.float32) for _ in range(2))
product = np.empty_like(left)
out = cl.Buffer(context, flags.WRITE_ONLY, product.nbytes)
program.matmul(queue, (n, n), (16, 16), constant(left), constant(right), out, np.int32(n))
cl.enqueue_copy(queue, product, out)
say("matmul", np.allclose(product, left @ right, rtol=1e-4))

counter = np.zeros(1, np.int32)
cell = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=counter)
program.count(queue, (1024,), (64,), cell)
cl.enqueue_copy(queue, counter, cell)
say("atomic", counter[0] == 1024)

texels = random.random((64, 64, 4)).astype(np.float32)
read = np.empty_like(texels)
out = cl.Buffer(context, flags.WRITE_ONLY, texels.nbytes)
program.texels(queue, (64, 64), None, cl.image_from_array(context, texels, 4), out)
cl.enqueue_copy(queue, read, out)
say("image", np.array_equal(read, texels))
