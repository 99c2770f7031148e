// What the writers of products know of one: its dimensions, how its operands lie in memory, and which parts of it are zero by
// construction. It writes no text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "playbook/band.h"
#include "playbook/emit.h"
#include "playbook/stage.h"

namespace kw {

// How an operand is read for packing: vectors along its outer dimension (rows of the left, columns of the right), vectors along the
// inner one that are turned over, or one by one.
enum class PackOrder { along, turned, single };

// An operand that can be read where it is: pointer[batch * batches + outer * outers + inner * inners + offset].
struct DirectOperand {
  std::string pointer;
  std::int64_t batch = 0;
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  std::int64_t offset = 0;
};

struct ProductOperand {
  ValueId value = -1;
  std::int64_t extent = 0;  // of its outer dimension
  PackOrder order = PackOrder::single;
  std::int64_t group = 0;  // the order is that of so many inner positions at a time, as those that share a scale; 0: of all
  std::optional<DirectOperand> direct;
  bool computed = false;         // there is arithmetic between it and memory
  bool from_parameters = false;  // it can be packed once for all calls
  bool narrow = false;           // ... but is read as it lies in memory, in few bytes
  bool shared = false;           // all batches have the same
};

struct ProductFacts {
  ValueId product = -1;
  std::int64_t batches = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t depth = 1;
  bool swapped = false;  // the transposed product is written: its left operand is the graph's right one
  ProductOperand left;
  ProductOperand right;
  std::optional<Band> left_band;    // of the left operand (rows, inner)
  std::optional<Band> right_band;   // of the right operand (inner, columns)
  std::optional<Band> result_band;  // of what is stored: the root is zero elsewhere

  // Indices of the graph's values.
  [[nodiscard]] Index left_index(const Affine& batch, const Affine& row, const Affine& inner) const;
  [[nodiscard]] Index right_index(const Affine& batch, const Affine& inner, const Affine& column) const;
  [[nodiscard]] Index product_index(const Affine& batch, const Affine& row, const Affine& column) const;
  [[nodiscard]] double multiplications() const;
  // Blocks of the inner dimension are multiples of it.
  [[nodiscard]] std::int64_t group() const;
};

ProductFacts product_facts(const StageWriter& writer, const Stage& stage, bool swapped);

// The index of a stage's root that belongs to an index of its product.
Index root_index(Emitter& emitter, const Graph& graph, const ProductFacts& facts, const Index& product_index, ValueId root);

// Opens loops over the inner positions from `first` to `end` (texts, multiples of the operand's group where it has one), `step` at
// a time; `vector`: vectors of them. The position, as the operand is read best.
Affine open_inner_loops(Emitter& emitter, const ProductOperand& operand, std::int64_t depth, const std::string& first,
                        const std::string& end, const std::string& step, bool vector);
void close_inner_loops(Emitter& emitter, const ProductOperand& operand);

// Names of local variables in raw text: every $word becomes an identifier that nothing else in the kernel has.
class LocalNames {
 public:
  explicit LocalNames(Emitter& emitter) : emitter_(emitter) {}
  std::string say(const std::string& text);

 private:
  Emitter& emitter_;
  std::map<std::string, std::string> names_;
};

// The writers; each leaves the emitter where it was. `vector_packs` and `vector_finish`: with vectors, where there may be trouble.
void write_dense_product(StageWriter& writer, const Stage& stage, const ProductFacts& facts, bool vector_packs, bool vector_finish);
void write_dot_rows(StageWriter& writer, const Stage& stage, const ProductFacts& facts);
void write_diagonal_product(StageWriter& writer, const Stage& stage, const ProductFacts& facts, bool vector);
void write_plain_product(StageWriter& writer, const Stage& stage, const ProductFacts& facts);

}  // namespace kw
