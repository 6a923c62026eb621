// SPDX-License-Identifier: Apache-2.0
#include "worker.h"
#include <cstdio>
#include <pthread.h>

CallbackThread::CallbackThread(aclrtContext context) : context_(context), exit_(false), threadId_(0), thread_(&CallbackThread::Loop, this)
{
    while (threadId_.load() == 0) {
        std::this_thread::yield();
    }
}

void CallbackThread::Loop()
{
    (void)aclrtSetCurrentContext(context_);
    threadId_ = static_cast<uint64_t>(pthread_self());
    while (!exit_.load()) {
        // returns after 100 ms when there is nothing to do
        (void)aclrtProcessReport(100);
    }
}

void CallbackThread::Serve(aclrtStream stream)
{
    aclError ret = aclrtSubscribeReport(threadId_.load(), stream);
    if (ret != ACL_SUCCESS) {
        printf("[ERROR] subscribe %d\n", ret);
    }
}

void CallbackThread::CloseStream(aclrtStream stream)
{
    aclError ret = aclrtUnSubscribeReport(threadId_.load(), stream);
    if (ret != ACL_SUCCESS) {
        printf("[ERROR] unsubscribe %d\n", ret);
    }
}

void CallbackThread::Stop()
{
    exit_ = true;
    thread_.join();
}

void Collector::OnFrame(void *userData)
{
    Frame *frame = static_cast<Frame *>(userData);
    frame->owner->Add(*frame);
}

void Collector::Add(const Frame &frame)
{
    std::lock_guard<std::mutex> lock(mutex_);
    // what the copy in front of the callback brought must be here
    numbers_.push(frame.host == frame.number * 3 ? frame.number : -1);
}

size_t Collector::Count()
{
    std::lock_guard<std::mutex> lock(mutex_);
    return numbers_.size();
}

bool Collector::InOrder()
{
    std::lock_guard<std::mutex> lock(mutex_);
    for (int expected = 0; !numbers_.empty(); ++expected) {
        if (numbers_.front() != expected) {
            return false;
        }
        numbers_.pop();
    }
    return true;
}
