#include "../check.h"

// softmax(Q K^T / sqrt(d)) V, causal, without the matrix of scores: a block has 32 queries, keys and values pass through shared memory.
template <int Depth, int Tile>
__global__ void attention(const float* q, const float* k, const float* v, float* out, int length) {
  extern __shared__ float buffer[];
  float(*ks)[Depth + 1] = reinterpret_cast<float(*)[Depth + 1]>(buffer);
  float(*vs)[Depth + 1] = reinterpret_cast<float(*)[Depth + 1]>(buffer + Tile * (Depth + 1));
  const int query = blockIdx.x * Tile + threadIdx.x;
  const size_t head = static_cast<size_t>(blockIdx.y) * length * Depth;
  float row[Depth], sum[Depth] = {}, maximum = -INFINITY, total = 0;
  for (int i = 0; i < Depth; ++i) row[i] = query < length ? q[head + query * Depth + i] * rsqrtf(Depth) : 0;
  for (int start = 0; start < length && start <= blockIdx.x * Tile + Tile - 1; start += Tile) {
    for (int i = threadIdx.x; i < Tile * Depth; i += Tile) {
      const int key = start + i / Depth;
      ks[i / Depth][i % Depth] = key < length ? k[head + key * Depth + i % Depth] : 0;
      vs[i / Depth][i % Depth] = key < length ? v[head + key * Depth + i % Depth] : 0;
    }
    __syncthreads();
    for (int j = 0; j < Tile; ++j) {
      const int key = start + j;
      if (key > query || key >= length || query >= length) continue;
      float score = 0;
      for (int i = 0; i < Depth; ++i) score += row[i] * ks[j][i];
      const float next = fmaxf(maximum, score), old = expf(maximum - next), weight = expf(score - next);
      total = total * old + weight;
      for (int i = 0; i < Depth; ++i) sum[i] = sum[i] * old + weight * vs[j][i];
      maximum = next;
    }
    __syncthreads();
  }
  if (query < length)
    for (int i = 0; i < Depth; ++i) out[head + query * Depth + i] = sum[i] / total;
}

int main() {
  constexpr int heads = 2, length = 70, depth = 16, tile = 32;
  Numbers numbers;
  auto q = numbers.floats(heads * length * depth), k = numbers.floats(q.size()), v = numbers.floats(q.size());
  std::vector<double> want(q.size(), 0);
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < length; ++i) {
      std::vector<double> p(i + 1);
      double total = 0;
      for (int j = 0; j <= i; ++j) {
        double score = 0;
        for (int d = 0; d < depth; ++d) score += static_cast<double>(q[(h * length + i) * depth + d]) * k[(h * length + j) * depth + d];
        total += p[j] = std::exp(score / std::sqrt(static_cast<double>(depth)));
      }
      for (int j = 0; j <= i; ++j)
        for (int d = 0; d < depth; ++d) want[(h * length + i) * depth + d] += p[j] / total * v[(h * length + j) * depth + d];
    }
  OnDevice<float> dq(q), dk(k), dv(v), out(q.size());
  const size_t shared = 2 * tile * (depth + 1) * sizeof(float);
  CHECK_CUDA(cudaFuncSetAttribute(attention<depth, tile>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  attention<depth, tile><<<dim3((length + tile - 1) / tile, heads), tile, shared>>>(dq.data, dk.data, dv.data, out.data, length);
  CHECK_CUDA(cudaGetLastError());
  expect_all_close(out.host(), want, 1e-5, "attention");
  return finish();
}
