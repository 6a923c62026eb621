/* SPDX-License-Identifier: Apache-2.0 */
/* The results that the generated C and C++ checks of a public header report to table_test.cpp. Single-threaded. */
#ifndef CANOPY_TESTS_INTERFACE_TABLE_CHECK_H
#define CANOPY_TESTS_INTERFACE_TABLE_CHECK_H

#ifdef __cplusplus
extern "C" {
#endif

enum TableCheckKind { CONSTANT, OPAQUE, LAYOUT, ALIGNMENT_OF_TYPE, FIELD_OFFSET, FIELD_SIZE, FUNCTION, TYPE };

typedef void (*TableReport)(void* context, enum TableCheckKind kind, const char* item, long long expected,
                            long long actual);

/* The headers listed in the tables, by file name. */
#define CANOPY_FOR_EACH_HEADER(apply)                                                                                \
    apply(acl_base_rt) apply(acl_dump) apply(acl_platform) apply(acl_prof) apply(acl_rt) apply(acl_rt_allocator)     \
        apply(acl_rt_compile) apply(acl_rt_memory_soma) apply(acl_tdt) apply(acl_tdt_queue) apply(acl_dvpp)          \
            apply(ge_error_codes) apply(rt_error_codes) apply(rt_external_base) apply(rt_external_device)            \
                apply(rt_external_kernel) apply(rt_external_mem) apply(rt_external_model) apply(rt_external_preload) \
                    apply(rt_external_stream) apply(base) apply(config) apply(dev) apply(event) apply(kernel)        \
                        apply(mem) apply(mem_base) apply(rt_ffts) apply(rt_model) apply(stream) apply(rts_device)    \
                            apply(rts_event) apply(rts_kernel) apply(rts_model) apply(rts_stream)

#define CANOPY_DECLARE_CHECK(name)                            \
    void check_##name##_c(TableReport report, void* context); \
    void check_##name##_cpp(TableReport report, void* context);
CANOPY_FOR_EACH_HEADER(CANOPY_DECLARE_CHECK)

#ifdef __cplusplus
}
#endif

#endif
