// SPDX-License-Identifier: Apache-2.0
// The tracing variant of the kernel language. canopy-cc compiles device code twice: as it is, and with the constant
// below set to true. In the tracing variant, copies and operations on elements report to the tracer instead of
// accessing memory (canopy/kernel_trace.h). Any other access uses memory as usual and ends the trace, because a tracer
// gives kernels inaccessible addresses.
#ifndef CANOPY_KERNEL_TRACING_H
#define CANOPY_KERNEL_TRACING_H

#include <canopy/kernel_trace.h>

#include "canopy_kernel/target/types.h"

extern "C" __attribute__((visibility("protected"))) const CanopyTracer* canopy_image_tracer;

namespace canopy::kernel {

inline constexpr bool is_tracing_variant = false;

// Computes one element: `Rule::element(const Object&, const A*, const B*, const C*, zero)` returns it. Bits are
// elements of type bool; `zero` is an opaque_zero().
template <class T>
inline constexpr uint8_t traced_size = is_same<T, bool> ? 0 : sizeof(T);

struct NoElement {};

template <class Rule, class Object, class D, class A, class B, class C>
void traced_element(void* d, const void* object, const void* a, const void* b, const void* c, uint32_t zero) {
    *static_cast<D*>(d) = Rule::element(*static_cast<const Object*>(object), static_cast<const A*>(a),
                                        static_cast<const B*>(b), static_cast<const C*>(c), zero);
}

template <class Rule, class Object, class D, class A, class B, class C>
inline constexpr CanopyTraceOperation traced_operation = {&traced_element<Rule, Object, D, A, B, C>,
                                                          __is_empty(Object) ? 0 : sizeof(Object),
                                                          traced_size<D>,
                                                          static_cast<uint8_t>(is_same<A, NoElement>   ? 0
                                                                               : is_same<B, NoElement> ? 1
                                                                               : is_same<C, NoElement> ? 2
                                                                                                       : 3),
                                                          {traced_size<A>, traced_size<B>, traced_size<C>}};

template <class Rule, class Object, class D, class A = NoElement, class B = NoElement, class C = NoElement>
inline void trace_compute(uint64_t count, const Object& object, D* d, const A* a = nullptr, const B* b = nullptr,
                          const C* c = nullptr) {
    if (count == 0) return;
    canopy_image_tracer->compute(&traced_operation<Rule, Object, D, A, B, C>, &object, count, d, a, b, c);
}

inline void trace_copy(void* to, const void* from, uint64_t bytes) {
    if (bytes != 0) canopy_image_tracer->copy(to, from, bytes);
}

inline void trace_forget(void* local, uint64_t bytes) {
    if (bytes != 0) canopy_image_tracer->forget(local, bytes);
}

inline void trace_refuse(const char* what) { canopy_image_tracer->refuse(what); }

}  // namespace canopy::kernel

#endif
