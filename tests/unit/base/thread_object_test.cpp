// SPDX-License-Identifier: Apache-2.0
#include "base/thread_object.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/error_text.h"
#include "canopy/kernel_image.h"
#include "device/execution/executor.h"
#include "device/soft/product/product.h"

using namespace canopy;

namespace {

struct Counted {
    static inline std::atomic<int> alive{0};
    int value = 0;
    Counted() { ++alive; }
    ~Counted() { --alive; }
};

TEST(ThreadObject, EachThreadHasOneUntilItEnds) {
    std::vector<std::thread> threads;
    for (int i = 1; i <= 8; ++i)
        threads.emplace_back([i] {
            ThreadObject<Counted>::get()->value += i;
            EXPECT_EQ(ThreadObject<Counted>::get()->value, i);
            EXPECT_EQ(ThreadObject<Counted>::get(), ThreadObject<Counted>::get());
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Counted::alive.load(), 0);
}

// What a worker and its kernels need first.
void* first_steps(void* done) {
    if (Executor::current() == nullptr) return nullptr;
    float a[4] = {1, 2, 3, 4}, b[4] = {1, 0, 0, 1}, c[4] = {};
    CanopyProduct product{};
    product.a_type = product.b_type = product.c_type = CANOPY_ELEMENT_FLOAT;
    product.m = product.n = product.k = 2;
    product.a = a;
    product.b = b;
    product.c = c;
    product.a_row_stride = product.b_row_stride = product.c_row_stride = 2;
    product.a_column_stride = product.b_column_stride = product.c_column_stride = 1;
    multiply_at_level(product, 2);
    if (c[3] != 4) return nullptr;
    static_cast<void>(fail(107000, "a message of a new thread"));
    if (newest_error_text() != "a message of a new thread") return nullptr;
    *static_cast<bool*>(done) = true;
    return nullptr;
}

// The thread starts while the dynamic loader's lock is held, and the holder waits for it.
TEST(ThreadObject, NewThreadsWorkWhileALibraryIsUnloaded) {
    static bool done;
    static int status;
    done = false;
    status = -1;
    void* library = dlopen(UNLOADED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    auto call_at_unload = reinterpret_cast<void (*)(void (*)())>(dlsym(library, "call_at_unload"));
    ASSERT_NE(call_at_unload, nullptr);
    call_at_unload([] {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, first_steps, &done) != 0) return;
        timespec deadline;
        clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_sec += 60;
        status = pthread_timedjoin_np(thread, nullptr, &deadline);
    });
    EXPECT_EQ(dlclose(library), 0);
    EXPECT_EQ(status, 0) << "the thread waits for the loader";
    EXPECT_TRUE(done);
}

}  // namespace
