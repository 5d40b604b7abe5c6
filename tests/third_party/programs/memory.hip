// HIP 6's kinds of memory: device, pool, mapped by the program itself, managed. Each prints the sum of its elements
// after a kernel added 1.5 to each.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int N = 1 << 20;
constexpr size_t BYTES = N * sizeof(float);

#define CHECK(call)                                                                          \
  do {                                                                                       \
    hipError_t status = (call);                                                              \
    if (status != hipSuccess) {                                                              \
      printf("%s: %d %s\n", #call, static_cast<int>(status), hipGetErrorString(status));     \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)

__global__ void add(const float* from, float* to, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) to[at] += from[at];
  if (at == 7) printf("item %d\n", at);
}

void launch(const float* from, float* to, hipStream_t stream) {
  add<<<N / 256, 256, 0, stream>>>(from, to, N);
  CHECK(hipGetLastError());
}

void print_sum(const char* name, const float* memory, hipStream_t stream) {
  std::vector<float> values(N);
  CHECK(hipMemcpyAsync(values.data(), memory, BYTES, hipMemcpyDefault, stream));
  CHECK(hipStreamSynchronize(stream));
  double sum = 0;
  for (float value : values) sum += value;
  printf("%s %g\n", name, sum);
}

// Memory whose addresses the program manages.
void mapped(const float* from, hipStream_t stream) {
  hipMemAllocationProp kind = {};
  kind.type = hipMemAllocationTypePinned;
  kind.location.type = hipMemLocationTypeDevice;
  size_t granule = 0;
  CHECK(hipMemGetAllocationGranularity(&granule, &kind, hipMemAllocationGranularityRecommended));
  size_t bytes = (BYTES + granule - 1) / granule * granule;
  void* range = nullptr;
  CHECK(hipMemAddressReserve(&range, 2 * bytes, 0, nullptr, 0));
  hipMemGenericAllocationHandle_t handle;
  CHECK(hipMemCreate(&handle, bytes, &kind, 0));
  CHECK(hipMemMap(range, bytes, 0, handle, 0));
  hipMemAccessDesc access = {};
  access.location = kind.location;
  access.flags = hipMemAccessFlagsProtReadWrite;
  CHECK(hipMemSetAccess(range, bytes, &access, 1));
  CHECK(hipMemsetAsync(range, 0, bytes, stream));
  launch(from, static_cast<float*>(range), stream);
  print_sum("mapped", static_cast<float*>(range), stream);
  unsigned long long permissions = 0;
  CHECK(hipMemGetAccess(&permissions, &kind.location, range));
  printf("access %llu\n", permissions);
  CHECK(hipMemUnmap(range, bytes));
  CHECK(hipMemRelease(handle));
  CHECK(hipMemAddressFree(range, 2 * bytes));
}

int main() {
  std::vector<float> ones(N, 1.5f);
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  float *from, *to, *pooled, *managed;
  CHECK(hipMalloc(&from, BYTES));
  CHECK(hipMalloc(&to, BYTES));
  CHECK(hipMemcpy(from, ones.data(), BYTES, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(to, ones.data(), BYTES, hipMemcpyHostToDevice));
  launch(from, to, stream);
  print_sum("sum", to, stream);

  CHECK(hipMallocAsync(reinterpret_cast<void**>(&pooled), BYTES, stream));
  CHECK(hipMemsetAsync(pooled, 0, BYTES, stream));
  launch(from, pooled, stream);
  print_sum("pool", pooled, stream);
  CHECK(hipFreeAsync(pooled, stream));
  CHECK(hipStreamSynchronize(stream));
  hipMemPool_t pool;
  CHECK(hipDeviceGetDefaultMemPool(&pool, 0));
  CHECK(hipMemPoolTrimTo(pool, 0));

  mapped(from, stream);

  CHECK(hipMallocManaged(reinterpret_cast<void**>(&managed), BYTES));
  for (int at = 0; at < N; at++) managed[at] = 2;
  CHECK(hipMemAdvise(managed, BYTES, hipMemAdviseSetReadMostly, 0));
  launch(from, managed, stream);
  CHECK(hipStreamSynchronize(stream));
  printf("managed %g\n", managed[5]);

  for (float* memory : {from, to, managed}) CHECK(hipFree(memory));
  CHECK(hipStreamDestroy(stream));
  printf("end\n");
}
