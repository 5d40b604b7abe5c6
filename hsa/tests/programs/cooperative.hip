// Cooperative launches: all workgroups run at the same time, and meet at barriers of the grid.
#include "check.h"

#include <hip/hip_cooperative_groups.h>

#include <vector>

namespace cg = cooperative_groups;

// Each block adds what its right neighbour had, `rounds` times.
__global__ void neighbours(unsigned *now, unsigned *next, unsigned rounds) {
    cg::grid_group grid = cg::this_grid();
    unsigned block = blockIdx.x, blocks = gridDim.x;
    if (threadIdx.x == 0)
        now[block] = block + 1;
    for (unsigned round = 0; round < rounds; round++) {
        grid.sync();
        if (threadIdx.x == 0)
            next[block] = now[block] + now[(block + 1) % blocks];
        grid.sync();
        unsigned *other = now;
        now = next;
        next = other;
    }
}

// The same with a barrier of all devices, of which there is one.
__global__ void all_devices(unsigned *now, unsigned *next, unsigned rounds) {
    cg::multi_grid_group grid = cg::this_multi_grid();
    unsigned block = blockIdx.x, blocks = gridDim.x;
    if (threadIdx.x == 0)
        now[block] = block + 1;
    for (unsigned round = 0; round < rounds; round++) {
        grid.sync();
        if (threadIdx.x == 0)
            next[block] = now[block] + now[(block + 1) % blocks];
        grid.sync();
        unsigned *other = now;
        now = next;
        next = other;
    }
}

static std::vector<unsigned> expected(unsigned blocks, unsigned rounds) {
    std::vector<unsigned> now(blocks);
    for (unsigned block = 0; block < blocks; block++)
        now[block] = block + 1;
    for (unsigned round = 0; round < rounds; round++) {
        std::vector<unsigned> next(blocks);
        for (unsigned block = 0; block < blocks; block++)
            next[block] = now[block] + now[(block + 1) % blocks];
        now = next;
    }
    return now;
}

int main() {
    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, 0));
    EXPECT(properties.cooperativeLaunch == 1);
    const unsigned threads = 256, rounds = 4;
    int of_unit = 0;
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&of_unit, neighbours, threads, 0));
    EXPECT(of_unit > 0);
    unsigned most = of_unit * properties.multiProcessorCount;
    unsigned *now, *next;
    HIP(hipMalloc(&now, most * sizeof(unsigned)));
    HIP(hipMalloc(&next, most * sizeof(unsigned)));
    for (unsigned blocks : {1u, 40u, most}) {
        unsigned count = rounds;
        void *arguments[] = {&now, &next, &count};
        HIP(hipLaunchCooperativeKernel((void *)neighbours, dim3(blocks), dim3(threads), arguments, 0, 0));
        HIP(hipDeviceSynchronize());
        std::vector<unsigned> result(blocks);
        HIP(hipMemcpy(result.data(), now, blocks * sizeof(unsigned), hipMemcpyDeviceToHost));
        EXPECT(result == expected(blocks, rounds));
    }
    if (properties.cooperativeMultiDeviceLaunch) {
        unsigned count = rounds, blocks = 30;
        void *arguments[] = {&now, &next, &count};
        hipStream_t stream;
        HIP(hipStreamCreate(&stream));
        hipLaunchParams launch = {};
        launch.func = (void *)all_devices;
        launch.gridDim = dim3(blocks);
        launch.blockDim = dim3(threads);
        launch.args = arguments;
        launch.stream = stream;
        HIP(hipLaunchCooperativeKernelMultiDevice(&launch, 1, 0));
        HIP(hipStreamSynchronize(stream));
        std::vector<unsigned> result(blocks);
        HIP(hipMemcpy(result.data(), now, blocks * sizeof(unsigned), hipMemcpyDeviceToHost));
        EXPECT(result == expected(blocks, rounds));
        HIP(hipStreamDestroy(stream));
        puts("one device, all devices");
    }
    HIP(hipFree(now));
    HIP(hipFree(next));
    return verdict();
}
