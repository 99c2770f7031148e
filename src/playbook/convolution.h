// What the writers of convolutions know of one: its dimensions, and how taps and outputs meet in a copy of the input that has the
// padding in it. It writes no text.
#pragma once

#include <vector>

#include "playbook/stage.h"

namespace kw {

inline std::int64_t divided_down(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
inline std::int64_t divided_up(std::int64_t a, std::int64_t b) { return -divided_down(-a, b); }

// A position of the window. Its input is at (q + shift) * stride + slots[slot] for the outputs q * up + phase, q = 0, 1, ...
struct ConvolutionTap {
  std::int64_t phase = 0;
  std::int64_t slot = 0;
  std::int64_t shift = 0;
};

// One spatial dimension. Outputs of one phase are `up` apart and have the same taps: those of an ordinary convolution have one
// phase, those of a transposed one as many as its stride. Inputs that are `stride` apart lie next to each other in a slot of the
// copy, so that the tap of neighbouring outputs is always at neighbouring places.
struct ConvolutionDim {
  std::int64_t inputs = 1;
  std::int64_t outputs = 1;
  std::int64_t stride = 1;
  std::int64_t up = 1;
  std::int64_t positions = 1;          // of q: outputs of the first phase
  std::int64_t reach = 0;              // the greatest shift
  std::vector<std::int64_t> slots{0};  // the input that is first in each
  std::vector<ConvolutionTap> taps{ConvolutionTap{}};

  [[nodiscard]] bool stays_inside() const;  // what is first in a slot is never padding; of one whose shifts are 0: nothing is

  // The positions whose input of a tap is there, and no padding.
  struct Span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] Span inside(const ConvolutionTap& tap) const;
};

// A position of the whole window, with the phase of outputs that it belongs to, mixed over all dimensions.
struct WindowTap {
  std::int64_t phase = 0;
  std::vector<std::int64_t> at;  // its position in each dimension
};

struct ConvolutionFacts {
  ValueId value = -1;
  ValueId input = -1;
  ValueId weight = -1;
  std::int64_t batches = 1;
  std::int64_t groups = 1;
  std::int64_t channels = 1;          // of the input, in a group
  std::int64_t features = 1;          // of the output, in a group
  std::vector<ConvolutionDim> outer;  // all but the last two; each of their inputs that is needed has a slot of its own
  ConvolutionDim row;                 // a convolution of one dimension has a single row
  ConvolutionDim column;
  std::size_t rank = 2;  // spatial dimensions that the graph's value has

  [[nodiscard]] std::vector<const ConvolutionDim*> dims() const;  // those of the graph's value
  [[nodiscard]] std::vector<WindowTap> taps() const;              // by phase
  [[nodiscard]] std::int64_t phases() const;
  [[nodiscard]] std::int64_t slots() const;   // planes that the copy of a channel has
  [[nodiscard]] std::int64_t images() const;  // planes of outputs, of all features of a group at once
  [[nodiscard]] double multiplications() const;
};

ConvolutionFacts convolution_facts(const Graph& graph, ValueId convolution);

// Whether kw_prepare can put its weights into the order of use.
bool convolution_weights_known(const StageWriter& writer, const ConvolutionFacts& facts);

// The function of a block of the tiled form alone, in the innermost scope; its name. For weights that are known, and features that
// are divided into so many shares.
std::string write_tiled_block(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors,
                              std::int64_t shares);

// The writers; each leaves the emitter where it was. `vectors`: what surrounds the tiles with vectors too, where there may be
// trouble.
bool suits_winograd(const StageWriter& writer, const ConvolutionFacts& facts);
void write_winograd_convolution(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors);
void write_tiled_convolution(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors);
void write_plain_convolution(StageWriter& writer, const Stage& stage);

}  // namespace kw
