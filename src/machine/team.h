// Runs the same work on every thread of an OpenMP team and takes its best time: what all ceilings are measured with.
// Never pins threads, and leaves OpenMP's settings as they were.
//
// Time is the slowest thread's CPU time, not the wall's: a ceiling that other processes pull down would be kept for
// long, and would make honest kernels look impossible. On a quiet machine the two clocks agree.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <limits>

#if __has_include(<omp.h>)
#include <omp.h>
#else  // clang's header comes with a runtime of its own, which its analysers do not need
extern "C" {
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_dynamic(void);
void omp_set_dynamic(int);
}
#endif

namespace kw {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Without this, OMP_DYNAMIC=true gives a smaller team than the one asked for.
class FixedTeams {
 public:
  FixedTeams() : before_(omp_get_dynamic()) { omp_set_dynamic(0); }
  ~FixedTeams() { omp_set_dynamic(before_); }
  FixedTeams(const FixedTeams&) = delete;
  FixedTeams& operator=(const FixedTeams&) = delete;

 private:
  int before_;
};

inline double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// work(thread) on each of the threads; the CPU seconds of the slowest.
template <typename Work>
double team_cpu_seconds(int threads, const Work& work) {
  double slowest = 0;
#pragma omp parallel num_threads(threads) reduction(max : slowest)
  {
    const double start = thread_cpu_seconds();
    work(omp_get_thread_num());
    slowest = thread_cpu_seconds() - start;
  }
  return slowest;
}

// The least seconds that one round takes, of repetitions of many rounds each that together fill about
// `budget_seconds`. work(thread, rounds) does the rounds.
template <typename Work>
double best_seconds_per_round(int threads, double budget_seconds, const Work& work) {
  constexpr int kRepetitions = 8;
  constexpr int kAtLeast = 3;  // also when a single round is longer than the budget
  const double target = budget_seconds / kRepetitions;
  const auto run = [&](int team, long rounds) { return team_cpu_seconds(team, [&](int thread) { work(thread, rounds); }); };
  long rounds = 1;
  for (;;) {
    // One thread finds the number of rounds. The better of two runs, or a first one with cold caches would end it.
    const double taken = std::min(run(1, rounds), run(1, rounds));
    if (taken >= target / 2) break;
    rounds = static_cast<long>(static_cast<double>(rounds) * std::clamp(target / std::max(taken, 1e-9), 2.0, 16.0));
  }
  double best = std::numeric_limits<double>::infinity();
  const auto start = std::chrono::steady_clock::now();
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    if (repetition >= kAtLeast && seconds_since(start) > budget_seconds) break;
    best = std::min(best, run(threads, rounds));
  }
  return best / static_cast<double>(rounds);
}

}  // namespace kw
