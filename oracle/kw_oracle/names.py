"""What a tensor is called in kernels: one name for every language, so that a problem's header, module or export can be written in any of
them. Words of a language and macros of its headers are no names; variables of a kernel's own text are for who writes it."""

import keyword
import re

# C++, CUDA-C and the kernel's own contract.
_CPP = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do
    double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
    new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict
    return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try
    typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq main std state stream
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t half bfloat16"""
_OPENCL = """kernel global local constant private generic half uchar ushort uint ulong read_only write_only read_write pipe event_t
    sampler_t vec_step uniform quad complex imaginary"""
# Macros that are no name of a family.
_MACROS = """NULL EOF NAN INFINITY MAXFLOAT NZERO BUFSIZ BYTE_ORDER FD_SETSIZE NFDBITS PIPE_BUF EXIT_FAILURE EXIT_SUCCESS
    CLOCKS_PER_SEC CUDARTAPI MAX_CANON MAX_INPUT L_ctermid L_cuserid L_tmpnam P_tmpdir WCONTINUED WEXITED WNOHANG WNOWAIT WSTOPPED
    WUNTRACED assert errno offsetof math_errhandling
    stdin stdout stderr linux unix i386"""
_WORDS = {*_CPP.split(), *_OPENCL.split(), *_MACROS.split(), *keyword.kwlist}
_FAMILIES = re.compile(
    r"(ADJ|AIO|ATOMIC|BC|CLK|CL|CLOCK|CUDA\w*|CU|DBL|FLT|FP|HALF|HUGE|MATH|MOD|M|NV|PTHREAD|RENAME|SEEK|SIG|STA|TIMER|TIME)_[A-Za-z0-9]\w*"
    r"|[A-Z0-9_]+_(MAX|MIN|WIDTH|BIT|ENDIAN|RADIX|DIM)|(LINE|NL|XATTR)\w*MAX|SNAN\w*|cuda[A-Z]\w*|(cl|cles|cute|cutlass)_\w+|cu[A-Z]\w+")
# What problem.h says of a tensor, behind its name.
_CONSTANT = re.compile(r"(.+)_(shape|strides|numel|span|dim\d+|stride\d+)")


def _is_taken(name: str, taken: set[str]) -> bool:
    constant = _CONSTANT.fullmatch(name)
    if name in taken or (constant and constant[1] in taken):
        return True
    return any(each.startswith(name) and (other := _CONSTANT.fullmatch(each)) and other[1] == name for each in taken)


def c_identifier(name: str, taken: set[str]) -> str:
    """An identifier like `name` in C++, CUDA-C, OpenCL C and Python that is not in `taken`; it is added there."""
    ident = re.sub(r"_+", "_", re.sub(r"[^0-9A-Za-z_]", "_", name)).strip("_") or "arg"
    if ident[0].isdigit() or ident.lower().startswith("kw_"):
        ident = "v_" + ident
    if ident in _WORDS or _FAMILIES.fullmatch(ident):
        ident += "_"
    unique, number = ident, 2
    while _is_taken(unique, taken):
        unique, number = f"{ident}_{number}".replace("__", "_"), number + 1
    taken.add(unique)
    return unique
