// rocBLAS's sgemm against a sum on the host. Elements are small integers, so every sum is exact and the order of
// additions does not matter. A line for each size: "right", or how many elements of the result are wrong and the
// first of them.
#include <hip/hip_runtime.h>
#include <rocblas/rocblas.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                           \
  do {                                                        \
    int status = static_cast<int>(call);                      \
    if (status != 0) {                                        \
      printf("%s: status %d\n", #call, status);               \
      exit(1);                                                \
    }                                                         \
  } while (0)

// C = A * B, column-major, A of m x k, B of k x n. Returns whether all of it is right.
static bool multiply(rocblas_handle handle, int m, int n, int k) {
  std::vector<float> a(static_cast<size_t>(m) * k), b(static_cast<size_t>(k) * n), c(static_cast<size_t>(m) * n);
  for (size_t i = 0; i < a.size(); i++) a[i] = static_cast<float>(i * 7 % 11) - 5;
  for (size_t i = 0; i < b.size(); i++) b[i] = static_cast<float>(i * 5 % 13) - 6;
  float *da, *db, *dc;
  CHECK(hipMalloc(reinterpret_cast<void**>(&da), a.size() * sizeof(float)));
  CHECK(hipMalloc(reinterpret_cast<void**>(&db), b.size() * sizeof(float)));
  CHECK(hipMalloc(reinterpret_cast<void**>(&dc), c.size() * sizeof(float)));
  CHECK(hipMemcpy(da, a.data(), a.size() * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(db, b.data(), b.size() * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemset(dc, 0xff, c.size() * sizeof(float)));
  float alpha = 1, beta = 0;
  CHECK(rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, m, n, k, &alpha, da, m, db, k, &beta,
                      dc, m));
  CHECK(hipMemcpy(c.data(), dc, c.size() * sizeof(float), hipMemcpyDeviceToHost));
  CHECK(hipFree(da));
  CHECK(hipFree(db));
  CHECK(hipFree(dc));
  size_t wrong = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      float sum = 0;
      for (int l = 0; l < k; l++) sum += a[i + static_cast<size_t>(l) * m] * b[l + static_cast<size_t>(j) * k];
      float found = c[i + static_cast<size_t>(j) * m];
      if (!(found == sum) && wrong++ == 0) printf("  C[%d,%d] is %g, not %g\n", i, j, found, sum);
    }
  if (wrong == 0)
    printf("sgemm %d %d %d right\n", m, n, k);
  else
    printf("sgemm %d %d %d: %zu of %zu elements wrong\n", m, n, k, wrong, c.size());
  return wrong == 0;
}

int main(int count, char** arguments) {
  rocblas_handle handle;
  CHECK(rocblas_create_handle(&handle));
  bool right = true;
  if (count == 4) {
    right = multiply(handle, atoi(arguments[1]), atoi(arguments[2]), atoi(arguments[3]));
  } else {
    const int sizes[][3] = {{96, 64, 32}, {256, 256, 256}, {200, 300, 100}, {1024, 1024, 16}, {2048, 2048, 8}};
    for (const auto& size : sizes) right &= multiply(handle, size[0], size[1], size[2]);
  }
  CHECK(rocblas_destroy_handle(handle));
  return right ? 0 : 1;
}
