#include "problem/tensor_sets.h"

#include <algorithm>
#include <charconv>
#include <random>

#include <fmt/format.h>

namespace kw {
namespace {

std::string_view weights_of(const SetKind& kind) { return kind.seeded_weights ? "seeded" : kind.fresh_weights ? "fresh" : "given"; }

std::string folder_name(const SetKind& kind) { return fmt::format("{}-{}-{}", kind.distribution, weights_of(kind), kind.variant); }

// SplitMix64: far apart seeds for the sets of one draw. Kept below 2^53 so that they survive JSON in any language.
std::uint64_t derive_seed(std::uint64_t draw, std::uint64_t salt) {
  std::uint64_t z = draw + (salt + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (z ^ (z >> 31)) >> 11;
}

std::uint64_t salt_of(const SetKind& kind) {
  // Nudged inputs are the given ones but for a few values, so they come from the same seed.
  const std::string& drawn_as = kind.distribution == "nudged" ? verification_kinds().front().distribution : kind.distribution;
  std::uint64_t salt = static_cast<std::uint64_t>(kind.variant) * 1000;
  for (const char c : drawn_as) salt = salt * 31 + static_cast<unsigned char>(c);
  return salt;
}

// Fresh weights differ from set to set. Large ones take longer to draw than all the rest of a set: there half of the kinds share
// theirs, in the order in which a verification asks for them.
constexpr double kLargeWeights = 32e6;

std::uint64_t salt_of_weights(const SetKind& kind, const ProblemDescription& problem) {
  if (!kind.fresh_weights) return 7;
  double bytes = 0;
  for (const TensorSpec& tensor : problem.parameters) bytes += static_cast<double>(tensor.span_bytes());
  if (bytes < kLargeWeights) return salt_of(kind) + 7;
  const auto& kinds = verification_kinds();
  const auto place = std::find_if(kinds.begin(), kinds.end(), [&](const SetKind& other) {
    return other.fresh_weights && other.distribution == kind.distribution;
  });
  return place - kinds.begin() < std::ssize(kinds) / 2 + 1 ? 8 : 9;
}

Result<TensorSet> open_set(const fs::path& folder) {
  KW_TRY(const std::string text, read_file(folder / "set.json"));
  KW_TRY(const Json json, parse_json(text, (folder / "set.json").string()));
  KW_TRY(SafetensorsFile inputs, SafetensorsFile::open(folder / "inputs.safetensors"));
  KW_TRY(SafetensorsFile weights, SafetensorsFile::open(folder / "weights.safetensors"));
  KW_TRY(SafetensorsFile reference, SafetensorsFile::open(folder / "reference.safetensors"));
  KW_TRY(SafetensorsFile eager, SafetensorsFile::open(folder / "eager.safetensors"));
  TensorSet set{"", 0, false, folder, std::move(inputs), std::move(weights), std::move(reference), std::move(eager)};
  bool ties_are_there = false, flushed_is_there = false;
  KW_TRY(const bool read, read_fields((folder / "set.json").string(), [&] {
           set.distribution = json.at("distribution_used").get<std::string>();
           set.notes = json.at("notes").get<std::vector<std::string>>();
           set.nonfinite = json.at("nonfinite").get<double>();
           set.eager_seconds = json.value("eager_seconds", 0.0);
           set.weights_seed = json.value("weights_seed", std::uint64_t{0});
           set.known_weights = json.value("known_weights", std::vector<std::string>{});
           for (const auto& [name, value] : json.at("scalars").items())
             set.scalars[name] = value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>();
           ties_are_there = json.value("ties", false);
           flushed_is_there = json.value("flushed", false);
           return true;
         }));
  (void)read;
  if (flushed_is_there) {
    KW_TRY(set.flushed, SafetensorsFile::open(folder / "flushed.safetensors"));
  }
  if (ties_are_there) {
    KW_TRY(set.ties, SafetensorsFile::open(folder / "ties.safetensors"));
  }
  return set;
}

// Other processes make and remove sets while these folders are read: what vanishes on the way is passed over.
std::vector<fs::path> folders_in(const fs::path& parent) {
  std::vector<fs::path> all;
  std::error_code gone;
  for (const auto& entry : entries_of(parent))
    if (entry.is_directory(gone)) all.push_back(entry.path());
  return all;
}

}  // namespace

std::string_view weights_of(const TensorSet& set) {
  return weights_of(SetKind{set.distribution, set.fresh_weights, 0, set.seeded_weights});
}

const std::vector<SetKind>& verification_kinds() {
  static const std::vector<SetKind> kinds{{"given", false, 0}, {"nudged", false, 0},  {"given", true, 0},
                                          {"mixed", true, 0},  {"outlier", true, 0},  {"scaled", true, 0},
                                          {"zeros", true, 0},  {"shifted", true, 0},  {"positional", true, 0},
                                          {"equal", true, 0},  {"subnormal", true, 0}};
  return kinds;
}

std::uint64_t TensorStore::pick_draw(bool fresh) const {
  std::random_device entropy;
  if (!fresh) {
    std::vector<std::uint64_t> seeds;
    for (const auto& folder : folders_in(source_.cache_folder)) {
      const std::string name = folder.filename().string();
      const std::string suffix = "-" + precision_;
      if (name.size() <= suffix.size() || name.substr(name.size() - suffix.size()) != suffix) continue;
      std::uint64_t seed = 0;
      const char* end = name.data() + name.size() - suffix.size();
      if (std::from_chars(name.data(), end, seed).ptr == end) seeds.push_back(seed);
    }
    if (!seeds.empty()) return seeds[std::uniform_int_distribution<std::size_t>(0, seeds.size() - 1)(entropy)];
  }
  return std::uniform_int_distribution<std::uint64_t>(1, 999'999'999)(entropy);
}

Result<TensorSet> TensorStore::get(std::uint64_t draw, const SetKind& kind, OracleClient& oracle) const {
  const fs::path draw_folder = source_.cache_folder / fmt::format("{}-{}", draw, precision_);
  const fs::path folder = draw_folder / folder_name(kind);
  const std::uint64_t seed = derive_seed(draw, salt_of(kind));
  const CacheLease lease = use_cached(draw_folder, Missing::make);
  const auto finished = [&](TensorSet set) {
    set.lease = lease;
    set.seed = seed;
    set.fresh_weights = kind.fresh_weights;
    set.seeded_weights = kind.seeded_weights;
    return set;
  };
  std::error_code ignored;
  if (fs::exists(folder, ignored)) {
    if (auto set = open_set(folder)) return finished(std::move(*set));
    fs::remove_all(folder, ignored);
  }
  shrink_cache(cache_limit());
  // Made aside and moved into place whole: another process may want, or be making, the same set of the same draw.
  KW_CHECK(make_folders(draw_folder));
  KW_TRY(const CacheWorkFolder aside, CacheWorkFolder::make_in(draw_folder));
  auto made = oracle.ask("materialise", {{"problem", source_.description.file},
                                         {"seed", seed},
                                         {"distribution", kind.distribution},
                                         {"weights", weights_of(kind)},
                                         {"weights_seed", derive_seed(draw, salt_of_weights(kind, source_.description))},
                                         {"folder", aside.path().string()},
                                         {"precision", precision_}});
  if (!made) return made.error();
  fs::rename(aside.path(), folder, ignored);  // fails where another process was first: its set is the same
  KW_TRY(TensorSet set, open_set(folder));
  return finished(std::move(set));
}

Result<SafetensorsFile> TensorStore::nearby_noise(const TensorSet& set, OracleClient& oracle) const {
  const fs::path file = set.folder / "nearby.safetensors";
  std::error_code unreachable;
  if (fs::exists(file, unreachable))
    if (auto opened = SafetensorsFile::open(file)) return opened;
  KW_TRY(const Json answer,
         oracle.ask("nearby", {{"problem", source_.description.file}, {"folder", set.folder.string()}, {"precision", precision_}}));
  (void)answer;
  return SafetensorsFile::open(file);
}

}  // namespace kw
