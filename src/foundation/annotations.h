// SPDX-License-Identifier: Apache-2.0
// Attributes for clang's thread-safety analysis; empty for other compilers.
#pragma once

#if defined(__clang__)
#define CANOPY_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define CANOPY_THREAD_ATTRIBUTE(x)
#endif

#define CANOPY_CAPABILITY(x) CANOPY_THREAD_ATTRIBUTE(capability(x))
#define CANOPY_SCOPED_CAPABILITY CANOPY_THREAD_ATTRIBUTE(scoped_lockable)
#define CANOPY_GUARDED_BY(x) CANOPY_THREAD_ATTRIBUTE(guarded_by(x))
#define CANOPY_POINTEE_GUARDED_BY(x) CANOPY_THREAD_ATTRIBUTE(pt_guarded_by(x))
#define CANOPY_REQUIRES(...) CANOPY_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define CANOPY_REQUIRES_SHARED(...) CANOPY_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define CANOPY_EXCLUDES(...) CANOPY_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define CANOPY_ACQUIRE(...) CANOPY_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define CANOPY_ACQUIRE_SHARED(...) CANOPY_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define CANOPY_RELEASE(...) CANOPY_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define CANOPY_RELEASE_SHARED(...) CANOPY_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define CANOPY_RELEASE_GENERIC(...) CANOPY_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define CANOPY_TRY_ACQUIRE(...) CANOPY_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
// For functions always called with the lock held where the analysis cannot see it, such as callbacks.
#define CANOPY_ASSERT_HELD(...) CANOPY_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))
#define CANOPY_RETURN_CAPABILITY(x) CANOPY_THREAD_ATTRIBUTE(lock_returned(x))
#define CANOPY_NO_THREAD_SAFETY_ANALYSIS CANOPY_THREAD_ATTRIBUTE(no_thread_safety_analysis)
