// A search on one problem: what was asked, every individual that was tried, and how it ended.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/dsl_place.h"
#include "record/estimate.h"
#include "record/kernel.h"
#include "record/profile.h"
#include "record/strategy.h"
#include "record/timing.h"
#include "record/verdict.h"

namespace kw {

struct RunOptions {
  std::string search = "evolve";  // evolve, refine, generate, random
  std::uint64_t seed = 0;
  double seconds = 0;   // 0: no limit
  int evaluations = 0;  // 0: no limit
  int islands = 1;
  std::string precision = "float32";
  int threads = 0;
  std::string model;     // that takes part in the search; empty: the playbook alone
  std::string base_url;  // where it is served, if not where its provider usually does
  std::string dsl = "cpp";
  std::string machine;   // the GPU that kernels in CUDA are for, by data sheet; empty: this machine
  std::string timed_on;  // the GPU of this machine that its kernels were timed on, by name; empty: none
  std::string part_of;   // the run whose sub-problem this one searches; empty: a run of its own
  [[nodiscard]] bool is_on_gpu() const { return is_for_gpu(dsl); }
  // Kernels for a GPU that is not here are compared by estimates: nothing of such a run was timed.
  [[nodiscard]] bool is_estimated() const { return is_on_gpu() && timed_on.empty(); }
};

// How one sub-problem of a problem of many layers is computed, wherever it stands.
struct PartChoice {
  std::string part;  // its hash
  std::vector<std::string> strategies;
  KnobValues knobs;
};

// A distinct sub-problem in a run on a problem of many layers.
struct PartRecord {
  std::string part;  // its hash
  std::string operations;
  int places = 0;
  double share = 0;    // of the time of all places, by the roofline
  std::string run;     // that searched it; empty: it was not searched
  double speedup = 0;  // over eager on its own, as that run found it
};

// What a policy wants evaluated next.
struct Proposal {
  std::string origin;                   // seed, history, crossover, mutation, migration, knobs, structure, profile, random, model
  std::vector<std::string> strategies;  // ids that the kernel shall realise, sorted
  KnobValues knobs;                     // those that differ from the kernel's defaults
  std::vector<std::int64_t> parents;    // indices of individuals
  int island = 0;
  int generation = 0;
  int effort = 1;                 // how long to time it: 0 a glance, 1 as usual, 2 carefully
  std::string author;             // the model that writes it; empty: the playbook
  std::string task;               // of a model: translate, invent, cross, repair, regenerate, decide, knobs
  std::vector<PartChoice> parts;  // of a kernel that is put together from sub-problems; the strategies are theirs, all together
};

// A kernel that was tried, with all that selection may look at. Its index counts from 0 within the run.
struct Individual {
  std::int64_t index = 0;
  Proposal proposal;
  Kernel kernel;
  std::vector<AlignedStrategy> strategies;  // what the kernel really does
  Verdict verdict = Verdict::mistrusted;
  std::string diagnosis;       // one sentence; empty when passed
  double seconds = 0;          // of a call; 0 when it was not timed. Of a run that is estimated: the estimate
  double speedup = 0;          // over eager, or over the run's reference by estimates; 0 when it was not timed
  Interval interval;           // of the speedup
  std::vector<double> ratios;  // of the pairs of blocks that the speedup is the centre of; none when it was not timed
  double share_of_ceiling = 0;
  std::string assembly_hash;          // of the normalised hot code; empty when nothing was compiled
  std::int64_t duplicate_of = -1;     // an earlier individual with the same code: its timing counts for both
  std::vector<std::string> findings;  // of the profile, where one was made
  double spent_seconds = 0;           // writing, compiling, verifying and timing it
  // Of kernels that a model wrote, or was to write: then the source is empty and the diagnosis says why.
  Diagnosis details;                 // in full, where it failed
  std::vector<std::string> faults;   // of the model's answers, by name, in order; mended ones too
  std::vector<std::string> remarks;  // what else happened on the way: ideas refused, parts of a prompt left out
  std::vector<Strategy> invented;    // strategies that came with it: known to the run from then on
  std::vector<std::string> prompts;  // prompt_hash of the exchanges that led to it, in order

  [[nodiscard]] bool passed() const { return verdict == Verdict::passed; }
  // Strategies that are there for all one knows: present, added and unknown ones.
  [[nodiscard]] std::vector<std::string> real_strategies() const;
};

struct RunRecord {
  std::string id;  // short, given by the archive
  RunOptions options;
  std::string problem_file;
  std::string problem_name;
  std::string problem_hash;
  std::string torch_version;
  std::string machine_id;
  std::string zone;
  std::string workload_class;
  std::string shape;                       // of its outputs and inputs in a few words, for finding similar problems
  std::int64_t ledger_limit = 0;           // entries of the ledger up to here were known when it began
  std::int64_t lesson_limit = 0;           // and lessons
  std::string state = "running";           // running, done, stopped
  std::string ending;                      // why it ended: "the time is up", ...
  double elapsed_seconds = 0;              // over all its sessions
  std::map<std::string, double> stages;    // where the time of its trials went, in seconds: writing, compiling, ...
  std::int64_t winner = -1;                // index of an individual
  std::optional<TimingRecord> confirmed;   // the winner's fresh measurement
  std::optional<EstimateRecord> estimate;  // or, for a GPU that is not here, its fresh estimate
  std::optional<GpuCeilings> ceilings;     // of that GPU
  std::string reference;                   // what estimates are compared with, in words: "the plain kernel"
  double reference_seconds = 0;            // its estimate
  ProfileRecord profile;                   // of the winner
  std::vector<PartRecord> parts;           // of a problem of many layers, by falling share
  std::string created_at, updated_at;
};

// How much faster the confirmed kernel is than eager, or by estimates than the run's reference; nothing: it is not confirmed.
std::optional<double> confirmed_speedup(const RunRecord& run);

// What a finished run teaches: from the first kernel to the best by these strategies.
struct Lesson {
  std::string workload_class;
  std::string zone;
  std::string shape;
  Features features;
  Kernel first;
  Kernel best;
  KnobValues best_knobs;
  std::vector<std::string> strategies;
  double speedup = 0;  // the best over eager
  double gain = 0;     // the best over the first
  std::string run;
};

void to_json(Json& json, const RunOptions& options);
void from_json(const Json& json, RunOptions& options);
void to_json(Json& json, const PartRecord& part);
void from_json(const Json& json, PartRecord& part);
void to_json(Json& json, const PartChoice& choice);
void from_json(const Json& json, PartChoice& choice);
void to_json(Json& json, const Proposal& proposal);
void from_json(const Json& json, Proposal& proposal);
void to_json(Json& json, const Individual& individual);
void from_json(const Json& json, Individual& individual);
void to_json(Json& json, const RunRecord& run);
void from_json(const Json& json, RunRecord& run);
void to_json(Json& json, const Lesson& lesson);
void from_json(const Json& json, Lesson& lesson);

}  // namespace kw
