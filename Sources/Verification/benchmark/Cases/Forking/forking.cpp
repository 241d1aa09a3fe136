// The forking cases with a C++ library, which the benchmark compiles and runs: forking CASE N
//
// Compiled with USE_TBB or USE_TASKFLOW. Solves the problem of size N twice, and prints the nanoseconds of the second
// time and the result.

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#ifdef USE_TBB

#include <oneapi/tbb/task_group.h>

template <class Work> void fork(int width, const Work &work) {
  tbb::task_group group;
  for (int part = 1; part < width; part++) group.run([&work, part] { work(part); });
  group.run_and_wait([&] { work(0); });
}

template <class Work> long run(const Work &work) { return work(); }

#else

#include <taskflow/taskflow.hpp>

static tf::Executor executor;

template <class Work> void fork(int width, const Work &work) {
  tf::TaskGroup group = executor.task_group();
  for (int part = 1; part < width; part++) group.silent_async([&work, part] { work(part); });
  work(0);
  group.corun();
}

template <class Work> long run(const Work &work) { return executor.async(work).get(); }

#endif

// The problems are explained at their Swift counterparts in Divisible.swift.

/// Returns the sum of the results of all parts, which are solved at once.
template <class Solve> long sum(int width, const Solve &solve) {
  long results[32];
  fork(width, [&](int part) { results[part] = solve(part); });
  return std::accumulate(results, results + width, 0L);
}

long fibonacci(int n) {
  if (n < 2) return n;
  return sum(2, [=](int part) { return fibonacci(n - 1 - part); });
}

long skynet(long first, long count) {
  if (count == 1) return first;
  return sum(10, [=](int part) { return skynet(first + part * (count / 10), count / 10); });
}

long queens(unsigned all, unsigned columns, unsigned left, unsigned right) {
  const unsigned open = all & ~(columns | left | right);
  if (open == 0) return columns == all;
  return sum(std::popcount(open), [=](int part) {
    unsigned rest = open;
    while (part-- > 0) rest &= rest - 1;
    const unsigned queen = rest & -rest;
    return queens(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  });
}

void multiply(const int *a, const int *b, int *c, int size, int rows) {
  if (size <= 32) {
    for (int i = 0; i < size; i++)
      for (int k = 0; k < size; k++)
        for (int j = 0; j < size; j++) c[i * rows + j] += a[i * rows + k] * b[k * rows + j];
    return;
  }
  const int half = size / 2;
  for (int inner = 0; inner < size; inner += half)
    fork(4, [=](int part) {
      const int row = part / 2 * half, column = part % 2 * half;
      multiply(a + row * rows + inner, b + inner * rows + column, c + row * rows + column, half, rows);
    });
}

struct Product {
  int rows;
  std::vector<int> a, b, c;

  explicit Product(int n) : rows(1 << n), a(rows * rows, 1), b(a), c(rows * rows, 0) {}
};

long solve(const std::string &name, int n, Product &product) {
  if (name == "fib") return fibonacci(n);
  if (name == "skynet") return skynet(0, std::lround(std::pow(10, n)));
  if (name == "nqueens") return queens((1u << n) - 1, 0, 0, 0);
  multiply(product.a.data(), product.b.data(), product.c.data(), product.rows, product.rows);
  return 0;
}

int main(int count, char **arguments) {
  using namespace std::chrono;
  if (count != 3) return 2;
  const std::string name = arguments[1];
  const int n = std::atoi(arguments[2]);
  for (bool isWarm : {false, true}) {
    Product product(name == "matmul" ? n : 0);
    const auto start = steady_clock::now();
    long result = run([&] { return solve(name, n, product); });
    const auto elapsed = duration_cast<nanoseconds>(steady_clock::now() - start);
    if (name == "matmul") result = std::count(product.c.begin(), product.c.end(), product.rows);
    if (isWarm) std::printf("%lld %ld\n", static_cast<long long>(elapsed.count()), result);
  }
}
