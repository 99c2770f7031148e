// What every form of a convolution in blocks of rows has: a copy of a block's input with the padding in it, what becomes of the
// sums, and who does which block. How the sums come about is the form's own.
#pragma once

#include <string>
#include <vector>

#include "playbook/convolution.h"
#include "playbook/product.h"

namespace kw {

inline constexpr std::int64_t kLongestChain = 256;  // products of a sum: longer ones are sums of sums, for their precision

class ConvolutionBlock {
 public:
  ConvolutionBlock(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors);
  virtual ~ConvolutionBlock() = default;
  ConvolutionBlock(const ConvolutionBlock&) = delete;
  ConvolutionBlock& operator=(const ConvolutionBlock&) = delete;

 protected:
  // In the function of a block, after the names $rows and $columns, the block's own: calls write_copy() and what follows.
  virtual void write_body() = 0;
  // Where the copy of a channel begins, in the loop over channels; and what is done with it when it is there.
  virtual std::string copy_address(VarId channel) = 0;
  virtual void write_copied(VarId) {}

  void line(const std::string& text) { emitter_.line(names_.say(text)); }
  void open(const std::string& header, const std::vector<VarId>& variables = {}) { emitter_.open(names_.say(header), variables); }
  [[nodiscard]] std::string constant(const std::string& name) const { return constants_ + "::" + name; }
  [[nodiscard]] bool one_row() const { return facts_.row.positions == 1; }

  // Claims of what surrounds the sums.
  void claim_fusion();
  // As many channels of the output at a time as leave few over.
  [[nodiscard]] std::int64_t tile_rows(std::int64_t registers) const;

  // Into how many shares the features of a group are divided, so that so many blocks leave work for all threads. Each share copies
  // the block's input anew.
  [[nodiscard]] std::int64_t shares_of_features(std::int64_t blocks, std::int64_t tile_rows) const;

  // const auto NAME = [&](...) { ... };
  void write_block();
  // The rows of $copied_rows, of every slot of every channel.
  void write_copy();
  // The loop over tiles of the share's channels; the first channel of the tile. With $weights of each:
  VarId open_features();
  VarId open_tiles();
  // Where weights are in no order of use (weights_ is empty): those of the tile, as $weights.
  virtual void unpack_weights(VarId first_feature) { emitter_.set_trouble("weights of channel " + emitter_.name(first_feature)); }
  // Every row of a tile of channels from `$line`, which is at `line_of` for channel $r of the tile and row $y.
  void write_finish(VarId first_feature, const std::vector<Affine>& phases, const std::string& line_of);
  void write_calls();

  StageWriter& writer_;
  Emitter& emitter_;
  const Stage& stage_;
  const ConvolutionFacts& facts_;
  LocalNames names_;
  bool vectors_;
  ConvolutionDim column_;  // how columns lie in the copy

  std::string constants_;               // the type whose members are the text's numbers
  std::string padded_;                  // the copy's memory
  std::string weights_;                 // in the order of use
  std::string convolve_;                // the function of a block
  std::string together_;                // memory for phases of columns put together
  std::vector<std::string> arguments_;  // of that function, by name
  Affine batch_;
  Affine group_;
  std::vector<Affine> outer_;
  Affine first_row_;
  Affine first_column_;
  std::int64_t shares_ = 1;  // of the features of a group

 private:
  [[nodiscard]] bool is_in_memory(ValueId id) const;
  Affine open_slots(const ConvolutionDim& dim, int& opened);
  std::string check_of(const Affine& position, const ConvolutionDim& dim);
  void write_copied_row(const Index& row, const Affine& slot);
  void write_columns(const Index& row, const Affine& slot);
  Affine output(const ConvolutionDim& dim, const Affine& position, const Affine& phase);
  void write_finished_row(const Index& row);
};

}  // namespace kw
