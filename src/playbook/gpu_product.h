// What the families of products on a GPU share: how operands lie in memory, how tiles of them get to shared memory, and the frame
// of a kernel that goes over the inner dimension tile by tile.
#pragma once

#include <functional>
#include <string>

#include "playbook/gpu_stage.h"

namespace kw {

// One operand of a product: rows (of the left operand) or columns (of the right one) by depth.
struct GpuOperand {
  ValueId value = -1;
  bool left = true;
  std::int64_t extent = 1;    // rows of the left, columns of the right
  bool along_depth = true;    // neighbours in memory are neighbours in depth
  bool direct = false;        // it is in memory as it is
  DType memory = DType::f32;  // ... with this type
  [[nodiscard]] Index index(const Affine& batch, const Affine& outer, const Affine& depth) const {
    return left ? Index{batch, outer, depth} : Index{batch, depth, outer};
  }
};

struct GpuProduct {
  ValueId value = -1;
  DType factors = DType::f32;  // as tensor cores may take them
  std::int64_t batches = 1, rows = 1, columns = 1, depth = 1;
  GpuOperand left, right;
  // Whether pieces of `lanes` elements of an operand never reach over an edge.
  [[nodiscard]] bool whole_pieces(const GpuOperand& operand, std::int64_t lanes) const {
    return (operand.along_depth ? depth : operand.extent) % lanes == 0;
  }
  [[nodiscard]] std::int64_t tiles(std::int64_t side) const {
    return batches * ((rows + side - 1) / side) * ((columns + side - 1) / side);
  }
};

GpuProduct gpu_product(GpuWriter& writer, const Stage& stage);

// The elements of a tile: what they are in shared memory, and how many are 16 bytes.
struct TileElement {
  std::string name = "float";  // or kw_f16, kw_bf16
  std::int64_t bytes = 4;
  [[nodiscard]] std::int64_t lanes() const { return 16 / bytes; }
  // Whether bytes of the operand can be copied as they are.
  [[nodiscard]] bool is_in_memory(const GpuOperand& operand) const { return operand.direct && c_type(operand.memory) == name; }
};

// How a tile is copied: its numbers of rows and of depth (texts over knobs), the threads that share the work.
struct TileCopy {
  std::string outer;  // "KW_BM"
  std::string depth;  // "KW_BK"
  std::string threads;
  TileElement element;
  bool vector = false;  // 16 bytes at a time
  bool async = false;   // without registers, if the operand is in memory as it is
  std::string place;    // how a row of the tile {0} and a position in it {1} become an offset
};

// const auto NAME = [&](ELEMENT* to, int from) {...}: copies the operand's tile at `first` (outer) and `from` (depth, less than
// `depth_end`), zeros outside. Rows of the tile lie as they do in memory.
void write_tile_copy(GpuKernel& kernel, const GpuProduct& product, const GpuOperand& operand, const TileCopy& copy,
                     const std::string& name, const std::string& first, const std::string& depth_end, const Affine& batch);

// Where elements of an operand are in memory for copies of `lanes` at once: the address's text, or trouble where these are not at
// multiples of 16 bytes.
Emitter::Place place_of_piece(Emitter& e, const GpuOperand& operand, const Affine& batch, VarId outer, VarId depth,
                              std::int64_t lanes);

// Stores what is made of an element (or vector) of the product, which is `text`.
void store_product(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const GpuProduct& product, const Index& index,
                   const std::string& text, bool vector);

struct TileForm {
  bool vector_left = false, vector_right = false, vector_out = false;
  bool async = false;
  bool stages = false;
  bool split = false;
};
// What of the wanted strategies fits the product, for elements of a type.
TileForm tile_form(const GpuWriter& writer, const GpuProduct& product, const TileElement& element);

// A kernel that brings tiles of both operands to shared memory and multiplies them there; who multiplies is the derived class's.
class ProductTiles {
 public:
  ProductTiles(GpuWriter& writer, const Stage& stage, const GpuProduct& product, const TileForm& form, TileElement element,
               const char* name)
      : writer_(writer),
        stage_(stage),
        product_(product),
        form_(form),
        element_(std::move(element)),
        kernel_(writer.kernel(name)),
        e_(kernel_.e) {}
  virtual ~ProductTiles() = default;
  ProductTiles(const ProductTiles&) = delete;
  ProductTiles& operator=(const ProductTiles&) = delete;

  bool write();

 protected:
  using StoreResult = std::function<void(const std::string& row, const std::string& column, const std::string& sum)>;

  virtual void choose_tiles() = 0;    // knobs KW_BM, KW_BN, KW_BK, the number of threads, padding, claims
  virtual void open_sums() = 0;       // who a thread is, and its part of the result
  virtual void write_multiply() = 0;  // const auto multiply = [&](const ELEMENT* left, const ELEMENT* right) {...};
  // Loops over the results of a thread that are inside, as at_row and at_column.
  virtual void each_result(const StoreResult& store) = 0;
  // How a row and a position in it become an offset in an operand's tile, with {0} and {1}.
  [[nodiscard]] virtual std::string place(const GpuOperand& operand) const;

  [[nodiscard]] static std::string row_length(const GpuOperand& operand);  // of a tile, without padding
  void pad_rows(const char* knob, std::int64_t standard, const std::vector<std::int64_t>& values);
  // if (at_row and at_column are inside) {
  void open_inside();

  GpuWriter& writer_;
  const Stage& stage_;
  const GpuProduct& product_;
  TileForm form_;
  TileElement element_;
  GpuKernel kernel_;
  Emitter& e_;
  Affine batch_;
  std::string pad_ = "0";  // elements between the rows of a tile

 private:
  void frame();
  void opening();
  void copies();
  void loops();
  void results();
  void partial_results();
  bool add_up();
  [[nodiscard]] std::string tile_text(const GpuOperand& operand) const;

  std::string partial_;
};

}  // namespace kw
