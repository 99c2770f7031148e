#include "problem/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

namespace kw {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeader = 100'000'000;  // the format's own limit
constexpr std::string_view kHint = "the file is damaged or is no safetensors file: have it written again";

struct FormatName {
  std::string_view name;
  DType dtype;
};
constexpr std::array<FormatName, 10> kNames{{{"F32", DType::f32},
                                             {"F64", DType::f64},
                                             {"F16", DType::f16},
                                             {"BF16", DType::bf16},
                                             {"I8", DType::i8},
                                             {"I16", DType::i16},
                                             {"I32", DType::i32},
                                             {"I64", DType::i64},
                                             {"U8", DType::u8},
                                             {"BOOL", DType::boolean}}};

Result<DType> dtype_from_format_name(const std::string& name) {
  for (const auto& row : kNames)
    if (row.name == name) return row.dtype;
  return bad_input("unsupported dtype '" + name + "'");
}

std::string_view format_name(DType dtype) {
  for (const auto& row : kNames)
    if (row.dtype == dtype) return row.name;
  return "F32";
}

// The JSON library keeps the last of two equal keys, which would hide a tensor: look for them by themselves.
std::optional<std::string> repeated_key(std::string_view text) {
  std::vector<std::set<std::string>> seen;
  std::optional<std::string> repeated;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    const auto level = static_cast<std::size_t>(depth < 0 ? 0 : depth);
    if (seen.size() < level + 2) seen.resize(level + 2);
    if (event == Json::parse_event_t::object_start) seen[level + 1].clear();
    if (event == Json::parse_event_t::key && !seen[level].insert(parsed.get<std::string>()).second && !repeated)
      repeated = parsed.get<std::string>();
    return true;
  };
  const auto discarded = Json::parse(text, watch, /*allow_exceptions=*/false);
  (void)discarded;
  return repeated;
}

// The size in bytes, or nothing when a dimension is negative or the product does not fit.
std::optional<std::uint64_t> size_in_bytes(const std::vector<std::int64_t>& shape, DType dtype) {
  if (std::any_of(shape.begin(), shape.end(), [](auto extent) { return extent < 0; })) return std::nullopt;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = size_of(dtype);
  for (const auto extent : shape) {
    if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / static_cast<std::uint64_t>(extent))
      return std::nullopt;
    bytes *= static_cast<std::uint64_t>(extent);
  }
  return bytes;
}

std::vector<std::int64_t> read_shape(const Json& json) {
  std::vector<std::int64_t> shape;
  for (const auto& extent : json.at("shape").get_ref<const Json::array_t&>()) {
    // A float, or an unsigned number beyond int64, would be converted without a word.
    const bool fits = extent.is_number_unsigned() && extent.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
    if (!fits) throw Json::other_error::create(505, "shape holds " + extent.dump() + ", which is no size", nullptr);
    shape.push_back(extent.get<std::int64_t>());
  }
  return shape;
}

struct Entry {
  NamedTensor tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Entry read_entry(const std::string& name, const Json& json) {
  Entry entry;
  entry.tensor.name = name;
  auto dtype = dtype_from_format_name(json.at("dtype").get_ref<const std::string&>());
  if (!dtype) throw Json::other_error::create(506, dtype.error().message, nullptr);
  entry.tensor.dtype = *dtype;
  entry.tensor.shape = read_shape(json);
  const auto& offsets = json.at("data_offsets").get_ref<const Json::array_t&>();
  if (offsets.size() != 2 || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
    throw Json::other_error::create(507, "data_offsets is not a pair of sizes", nullptr);
  entry.begin = offsets[0].get<std::uint64_t>();
  entry.end = offsets[1].get<std::uint64_t>();
  return entry;
}

Status check_size(const Entry& entry, std::uint64_t data_size, const std::string& where) {
  if (entry.begin > entry.end || entry.end > data_size)
    return bad_input(where + ": its offsets " + std::to_string(entry.begin) + ".." + std::to_string(entry.end) +
                         " are outside the " + std::to_string(data_size) + " bytes of data",
                     std::string(kHint));
  const auto size = size_in_bytes(entry.tensor.shape, entry.tensor.dtype);
  if (!size) return bad_input(where + ": its shape is larger than any memory", std::string(kHint));
  if (*size != entry.end - entry.begin)
    return bad_input(where + ": its shape and dtype need " + std::to_string(*size) + " bytes but its offsets span " +
                         std::to_string(entry.end - entry.begin),
                     std::string(kHint));
  return {};
}

}  // namespace

std::int64_t NamedTensor::numel() const { return static_cast<std::int64_t>(bytes.size() / size_of(dtype)); }

Result<std::vector<NamedTensor>> parse_safetensors(std::span<const std::byte> data, std::string_view what) {
  const std::string source(what);
  if (data.size() < kLengthBytes)
    return bad_input(source + ": " + std::to_string(data.size()) + " bytes are too few for a header", std::string(kHint));
  std::uint64_t header_size = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) header_size = header_size << 8 | std::to_integer<std::uint64_t>(data[i]);
  if (header_size > kMostHeader || header_size > data.size() - kLengthBytes)
    return bad_input(source + ": says that its header has " + std::to_string(header_size) + " bytes, of a file of " +
                         std::to_string(data.size()),
                     std::string(kHint));
  const std::string_view header(reinterpret_cast<const char*>(data.data()) + kLengthBytes, header_size);
  const auto body = data.subspan(kLengthBytes + header_size);

  KW_TRY(const Json json, parse_json(header, source + ": its header"));
  if (!json.is_object()) return bad_input(source + ": its header is no JSON object", std::string(kHint));
  if (const auto key = repeated_key(header)) return bad_input(source + ": holds '" + *key + "' twice", std::string(kHint));

  std::vector<Entry> entries;
  for (const auto& [name, fields] : json.items()) {
    if (name == "__metadata__") continue;
    const std::string where = source + ": tensor '" + name + "'";
    KW_TRY(auto entry, read_fields(where, [&, &name = name, &fields = fields] { return read_entry(name, fields); }));
    KW_CHECK(check_size(entry, body.size(), where));
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  });

  std::vector<NamedTensor> tensors;
  std::uint64_t covered = 0;
  for (auto& entry : entries) {
    if (entry.begin != covered)
      return bad_input(source + ": the data of tensor '" + entry.tensor.name + "' starts at " + std::to_string(entry.begin) +
                           (entry.begin < covered ? ", inside" : ", past") + " the end of the one before it, " +
                           std::to_string(covered),
                       std::string(kHint));
    covered = entry.end;
    entry.tensor.bytes = body.subspan(entry.begin, entry.end - entry.begin);
    tensors.push_back(std::move(entry.tensor));
  }
  if (covered != body.size())
    return bad_input(
        source + ": its tensors cover " + std::to_string(covered) + " of " + std::to_string(body.size()) + " bytes of data",
        std::string(kHint));
  return tensors;
}

class SafetensorsFile::Mapping {
 public:
  static Result<std::shared_ptr<const Mapping>> open(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return bad_input("cannot open " + path.string() + ": " + std::strerror(errno));
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
      ::close(descriptor);
      return bad_input(path.string() + " is empty or no regular file", std::string(kHint));
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    const int error = errno;
    ::close(descriptor);
    if (address == MAP_FAILED) return internal_error("cannot map " + path.string() + ": " + std::strerror(error));
    return std::shared_ptr<const Mapping>(new Mapping(address, size));
  }
  ~Mapping() { ::munmap(address_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(address_), size_}; }

 private:
  Mapping(void* address, std::size_t size) : address_(address), size_(size) {}
  void* address_;
  std::size_t size_;
};

SafetensorsFile::SafetensorsFile(fs::path path, std::shared_ptr<const Mapping> mapping, std::vector<NamedTensor> tensors)
    : path_(std::move(path)), mapping_(std::move(mapping)), tensors_(std::move(tensors)) {
  for (auto& tensor : tensors_) {
    if (reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % size_of(tensor.dtype) == 0) continue;
    const std::shared_ptr<std::byte[]> copy(new std::byte[tensor.bytes.size()]);
    std::memcpy(copy.get(), tensor.bytes.data(), tensor.bytes.size());
    tensor.bytes = {copy.get(), tensor.bytes.size()};
    realigned_.push_back(copy);
  }
}

Result<SafetensorsFile> SafetensorsFile::open(const fs::path& path) {
  KW_TRY(auto mapping, Mapping::open(path));
  KW_TRY(auto tensors, parse_safetensors(mapping->bytes(), path.string()));
  return SafetensorsFile(path, std::move(mapping), std::move(tensors));
}

const NamedTensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(), [&](const auto& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

Result<NamedTensor> SafetensorsFile::at(std::string_view name) const {
  if (const auto* tensor = find(name)) return *tensor;
  std::string names;
  for (const auto& tensor : tensors_) names += (names.empty() ? "'" : ", '") + tensor.name + "'";
  return bad_input(path_.string() + " has no tensor '" + std::string(name) + "'",
                   names.empty() ? "it holds none" : "it holds " + names);
}

Result<std::string> format_safetensors(std::span<const NamedTensor> tensors) {
  std::vector<const NamedTensor*> ordered;
  for (const auto& tensor : tensors) ordered.push_back(&tensor);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto* a, const auto* b) { return size_of(a->dtype) > size_of(b->dtype); });
  Json header = Json::object();
  std::uint64_t offset = 0;
  for (const auto* tensor : ordered) {
    if (size_in_bytes(tensor->shape, tensor->dtype) != tensor->bytes.size())
      return internal_error("tensor '" + tensor->name + "' has " + std::to_string(tensor->bytes.size()) +
                            " bytes, which its shape and dtype do not give");
    if (tensor->name == "__metadata__" || header.contains(tensor->name))
      return internal_error("tensor name '" + tensor->name + "' is reserved or used twice");
    header[tensor->name] = {
        {"dtype", format_name(tensor->dtype)}, {"shape", tensor->shape}, {"data_offsets", {offset, offset + tensor->bytes.size()}}};
    offset += tensor->bytes.size();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& e) {
    return internal_error(std::string("a tensor's name is not UTF-8: ") + e.what());
  }
  text.append((8 - text.size() % 8) % 8, ' ');

  std::string file;
  file.reserve(kLengthBytes + text.size() + offset);
  for (std::size_t i = 0; i < kLengthBytes; ++i) file.push_back(static_cast<char>(text.size() >> (8 * i) & 0xff));
  file += text;
  for (const auto* tensor : ordered) file.append(reinterpret_cast<const char*>(tensor->bytes.data()), tensor->bytes.size());
  return file;
}

Status write_safetensors(const fs::path& path, std::span<const NamedTensor> tensors) {
  KW_TRY(const auto file, format_safetensors(tensors));
  return write_file_atomically(path, file);
}

}  // namespace kw
