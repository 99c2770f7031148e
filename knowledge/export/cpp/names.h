// The kernel's entry points under names of their own, so that a program may have several kernels.
#pragma once
#define kw_kernel @name@_kw_kernel
#define kw_prepare @name@_kw_prepare
#define kw_release @name@_kw_release
#define kw_call @name@_kw_call
#define kw_call_prepare @name@_kw_call_prepare
