// Boosting of many classifiers in parallel: part of boosting.hpp.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "boosting.hpp"

namespace smt::bitree {
namespace {

// The incidence lists of a problem, shared by its classifiers: built by the first, released by the last.
class Shared {
 public:
  std::shared_ptr<const Incidence> get(const BoostProblem& problem) {
    const std::scoped_lock lock(mutex_);
    if (!made_) made_ = std::make_shared<const Incidence>(problem.rows);
    if (++asked_ == problem.count) return std::move(made_);
    return made_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const Incidence> made_;
  std::size_t asked_ = 0;
};

struct Job {
  std::size_t problem, which;
};

TreeStore boost_one(const BoostProblem& problem, std::size_t which, Shared& shared, const BoostOptions& options,
                    double least, double ratio) {
  std::vector<std::int8_t> labels;
  labels.reserve(problem.classes.size());
  for (const std::int32_t label : problem.classes) {
    labels.push_back(label == static_cast<std::int32_t>(which) ? 1 : -1);
  }
  Boosting boosting(shared.get(problem), std::move(labels), {});
  boosting.advance(std::max(least, ratio * boosting.first_lambda(options.eta)), options);
  return boosting.take_trees();
}

}  // namespace

std::vector<TreeStore> boost(std::span<const BoostProblem> problems, const BoostOptions& options, double least,
                             double ratio, std::size_t threads) {
  std::vector<Job> jobs;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    for (std::size_t k = 0; k < problems[p].count; ++k) jobs.push_back({p, k});
  }
  // Large problems first, for load balance; the classifiers of a problem in sequence.
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return problems[jobs[a].problem].rows.ids.size() > problems[jobs[b].problem].rows.ids.size();
  });
  std::vector<TreeStore> trees(jobs.size());
  std::vector<Shared> shared(problems.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::size_t k = next++; k < order.size(); k = next++) {
        const Job job = jobs[order[k]];
        trees[order[k]] = boost_one(problems[job.problem], job.which, shared[job.problem], options, least, ratio);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex);
      failure = std::current_exception();
      next = order.size();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t k = 1; k < std::min(threads, order.size()); ++k) others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return trees;
}

}  // namespace smt::bitree
