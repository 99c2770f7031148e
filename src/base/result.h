// Result<T>: a value or an Error, for everything that is expected to fail now and then.
// Exceptions are left for what ends the run.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace kw {

// Who has to act. It decides the exit status: the user's input is 2, our own failure is 3. Work that was stopped before it had a
// result (see base/work_limit.h) is nobody's fault: 1.
enum class ErrorKind { bad_input, internal, stopped };

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  // names the file or the value
  std::string hint;     // what to do about it; may be empty
};

inline Error bad_input(std::string message, std::string hint = {}) {
  return {ErrorKind::bad_input, std::move(message), std::move(hint)};
}
inline Error internal_error(std::string message, std::string hint = {}) {
  return {ErrorKind::internal, std::move(message), std::move(hint)};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() { return std::get<1>(state_); }
  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  [[nodiscard]] bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  Error& error() { return *error_; }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace kw

// Unwraps a Result or returns its error from the enclosing function.
#define KW_CONCAT_(a, b) a##b
#define KW_CONCAT(a, b) KW_CONCAT_(a, b)
#define KW_TRY(declaration, expression)                                                            \
  auto KW_CONCAT(kw_result_, __LINE__) = (expression);                                             \
  if (!KW_CONCAT(kw_result_, __LINE__)) return std::move(KW_CONCAT(kw_result_, __LINE__).error()); \
  declaration = std::move(KW_CONCAT(kw_result_, __LINE__)).value()
#define KW_CHECK(expression)                                                               \
  do {                                                                                     \
    if (auto kw_status_ = (expression); !kw_status_) return std::move(kw_status_.error()); \
  } while (false)
