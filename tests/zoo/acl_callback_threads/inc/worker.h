// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_H
#define WORKER_H
#include <atomic>
#include <mutex>
#include <queue>
#include <thread>
#include "acl/acl.h"

// a thread that runs the callbacks of streams
class CallbackThread {
public:
    explicit CallbackThread(aclrtContext context);
    void Serve(aclrtStream stream);
    void Stop();
    void CloseStream(aclrtStream stream);

private:
    void Loop();
    aclrtContext context_;
    std::atomic<bool> exit_;
    std::atomic<uint64_t> threadId_;
    std::thread thread_;
};

struct Frame {
    int number;
    int *device;
    int host;
    class Collector *owner;
};

class Collector {
public:
    void Add(const Frame &frame);
    static void OnFrame(void *userData);
    size_t Count();
    bool InOrder();

private:
    std::mutex mutex_;
    std::queue<int> numbers_;
    int sum_ = 0;
};
#endif
