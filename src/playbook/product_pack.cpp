#include "playbook/product_pack.h"

#include <fmt/format.h>

namespace kw {
namespace {

struct PackNames {
  std::string first;
  std::string steps;
  std::string panel;
  std::string packed;
};

class PackWriter {
 public:
  PackWriter(Emitter& emitter, const PanelText& panel) : emitter_(emitter), text_(panel) {}

  void write(const std::string& name, bool vectors) {
    names_ = {emitter_.unique("first"), emitter_.unique("steps"), emitter_.unique("panel"), emitter_.unique("packed")};
    const std::string begin = emitter_.unique("begin");
    const std::string end = emitter_.unique("end");
    std::vector<VarId> variables;
    if (text_.batches > 1) variables.push_back(emitter_.variable("batch", text_.batches));
    batch_ = variables.empty() ? Affine(0) : Affine::variable(variables[0]);
    const std::string batch = variables.empty() ? "" : fmt::format("std::int64_t {}, ", emitter_.name(variables[0]));
    emitter_.open(
        fmt::format("const auto {} = [&]({}std::int64_t {}, std::int64_t {}, std::int64_t {}, std::int64_t {}, float* {}) {{", name,
                    batch, names_.first, names_.steps, begin, end, names_.packed),
        variables);
    emitter_.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; {0} += {3}, {4} += {3} * {5}) {{", names_.panel, begin, end,
                              text_.width, names_.packed, names_.steps));
    const PackOrder order = vectors ? text_.operand.order : PackOrder::single;
    emitter_.need("least");
    if (order != PackOrder::single) emitter_.need("store");
    if (order == PackOrder::turned) emitter_.need("transpose");
    switch (order) {
      case PackOrder::along:
        write_along();
        break;
      case PackOrder::turned:
        write_turned();
        break;
      case PackOrder::single:
        write_single(names_.first);
        break;
    }
    emitter_.close();
    emitter_.close("};");
  }

 private:
  Expr element(const Affine& outer, const Affine& inner) {
    return emitter_.emit(text_.operand.value, text_.index(batch_, outer, inner));
  }

  void write_along() {
    emitter_.open(fmt::format("if ({} + ({} + kw_lanes - 1) / kw_lanes * kw_lanes <= {}) {{", names_.panel, text_.width,
                              text_.operand.extent));
    write_vectors(false);
    emitter_.close();
    emitter_.open("else {");
    if (!emitter_.attempt([&] { write_vectors(true); })) write_single(names_.first);
    emitter_.close();
  }

  // `edge`: lanes past the operand's end are 0, and nothing is read there.
  void write_vectors(bool edge) {
    const Affine inner = open_inner_loops(emitter_, text_.operand, text_.depth, names_.first,
                                          fmt::format("{} + {}", names_.first, names_.steps), "1", false);
    const std::string k = emitter_.text(inner);
    const VarId outer = emitter_.variable(text_.outer, text_.operand.extent, true);
    const std::string x = emitter_.name(outer);
    emitter_.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {1} + {2}; {0} += kw_lanes) {{", x, names_.panel, text_.width),
                  {outer});
    if (edge) {
      emitter_.need("most");
      emitter_.part_of = outer;
      emitter_.part = emitter_.unique("left");
      emitter_.line(
          fmt::format("const int {} = int(kw_least(kw_most({} - {}, 0), kw_lanes));", emitter_.part, text_.operand.extent, x));
    }
    const Expr value = emitter_.as_vector(element(Affine::variable(outer), inner));
    const std::string to =
        fmt::format("{} + ({} - {}) * {} + ({} - {})", names_.packed, k, names_.first, text_.width, x, names_.panel);
    if (!edge) {
      emitter_.line(fmt::format("kw_store({}, {});", to, value.text));  // what it writes past the step comes again with the next
    } else {
      emitter_.need("store_part");
      emitter_.line(fmt::format("kw_store_part({}, {}, int(kw_least({} + {} - {}, kw_lanes)));", to, value.text, names_.panel,
                                text_.width, x));
      emitter_.part_of = -1;
      emitter_.part.clear();
    }
    emitter_.close();
    close_inner_loops(emitter_, text_.operand);
  }

  void write_turned() {
    const std::string whole = emitter_.unique("whole");
    const std::string groups = emitter_.unique("groups");
    const std::string tall = emitter_.unique("tall");
    const std::string block = emitter_.unique("block");
    const std::string group = emitter_.unique("group");
    const std::string lane = emitter_.unique("lane");
    emitter_.line(fmt::format("constexpr int {} = ({} + kw_lanes - 1) / kw_lanes;", groups, text_.width));
    // Narrow panels are turned over in half as many exchanges.
    emitter_.line(fmt::format("constexpr int {} = {} <= kw_lanes / 2 ? kw_lanes / 2 : kw_lanes;", tall, text_.width));
    emitter_.line(fmt::format("const std::int64_t {} = {} + {} / kw_lanes * kw_lanes;", whole, names_.first, names_.steps));
    const Affine inner = open_inner_loops(emitter_, text_.operand, text_.depth, names_.first, whole, "kw_lanes", true);
    const std::string k = emitter_.text(inner);
    emitter_.line(fmt::format("kw_vec {}[{}][{}];", block, groups, tall));
    emitter_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", group, groups));
    emitter_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", lane, tall));
    const VarId outer = clamped(fmt::format("{} * kw_lanes + {}", group, lane));
    const Expr value = emitter_.as_vector(element(Affine::variable(outer), inner));
    emitter_.line(fmt::format("{}[{}][{}] = {};", block, group, lane, value.text));
    emitter_.close();
    emitter_.line(fmt::format("kw_transpose<{}>({}[{}]);", tall, block, group));
    emitter_.close();
    emitter_.open(fmt::format("#pragma GCC unroll 16\nfor (int {0} = 0; {0} < kw_lanes; ++{0}) {{", lane));
    emitter_.line(fmt::format(
        "for (int {0} = 0; {0} < {1}; ++{0}) kw_store_column<{8}>({2} + ({3} - {4} + {5}) * {6} + {0} * kw_lanes, {7}[{0}], {5});",
        group, groups, names_.packed, k, names_.first, lane, text_.width, block, tall));
    emitter_.close();
    close_inner_loops(emitter_, text_.operand);
    if (text_.operand.group == 0) write_single(whole);
  }

  // From an inner position on.
  void write_single(const std::string& from) {
    const VarId inner = emitter_.variable("k", text_.depth);
    const std::string k = emitter_.name(inner);
    const std::string place = emitter_.unique("place");
    emitter_.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2} + {3}; ++{0}) {{", k, from, names_.first, names_.steps),
                  {inner});
    emitter_.open(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; ++{0}) {{", place, text_.width));
    const VarId outer = clamped(place);
    const Expr value = element(Affine::variable(outer), Affine::variable(inner));
    emitter_.line(fmt::format("{}[({} - {}) * {} + {}] = {};", names_.packed, k, names_.first, text_.width, place, value.text));
    emitter_.close();
    emitter_.close();
  }

  VarId clamped(const std::string& place) {
    return emitter_.define(text_.outer, fmt::format("kw_least({} + {}, {})", names_.panel, place, text_.operand.extent - 1),
                           {0, text_.operand.extent - 1});
  }

  Emitter& emitter_;
  const PanelText& text_;
  PackNames names_;
  Affine batch_;
};

}  // namespace

void write_pack_function(Emitter& emitter, const PanelText& panel, const std::string& name, bool vectors) {
  PackWriter(emitter, panel).write(name, vectors);
}

}  // namespace kw
