// SPDX-License-Identifier: Apache-2.0
// Objects of threads that work while a library is loaded or unloaded. A `thread_local` object with a destructor needs
// the dynamic loader's lock at its first use in a thread. Programs may wait for other threads while they hold it, for
// example in a destructor that dlclose runs, and those threads would wait for ever. The destructor of a key of the
// thread library needs no such lock.
#pragma once

#include <pthread.h>

#include <new>

#include "base/process_state.h"

namespace canopy {

// One object of a type for each thread: users define their own types.
template <class T>
class ThreadObject {
public:
    // This thread's object, created at the first call and destroyed when the thread ends; null without memory. The
    // object of the main thread remains, for static destructors that still need it.
    static T* get() noexcept {
        const Key& key = process_state<Key>();
        if (!key.valid) return nullptr;
        if (void* known = pthread_getspecific(key.key)) return static_cast<T*>(known);
        T* made = new (std::nothrow) T;
        if (made && pthread_setspecific(key.key, made) != 0) {
            delete made;
            return nullptr;
        }
        return made;
    }

private:
    struct Key {
        pthread_key_t key{};
        bool valid = false;
        Key() noexcept {
            valid = pthread_key_create(&key, [](void* object) { delete static_cast<T*>(object); }) == 0;
        }
    };
};

}  // namespace canopy
