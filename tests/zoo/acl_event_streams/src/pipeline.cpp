// SPDX-License-Identifier: Apache-2.0
#include "pipeline.h"
#include <iostream>

bool Ok(aclError code, const std::string &what)
{
    if (code == ACL_ERROR_NONE) {
        return true;
    }
    std::cerr << what << ": " << code << std::endl;
    const char *text = aclGetRecentErrMsg();
    if (text != nullptr) {
        std::cerr << text << std::endl;
    }
    return false;
}
#define OK(x) Ok((x), #x)

Pipeline::Pipeline(int chunks, size_t chunkSize) : chunks_(chunks), chunkSize_(chunkSize), uploaded_(chunks), moved_(chunks)
{
    OK(aclrtCreateStream(&upload_));
    OK(aclrtCreateStream(&move_));
    OK(aclrtCreateStream(&download_));
    OK(aclrtCreateEvent(&begin_));
    OK(aclrtCreateEventWithFlag(&end_, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    for (int i = 0; i < chunks_; ++i) {
        OK(aclrtCreateEvent(&uploaded_[i]));
        OK(aclrtCreateEventWithFlag(&moved_[i], ACL_EVENT_SYNC));
    }
    OK(aclrtMalloc(&first_, chunks * chunkSize, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&second_, chunks * chunkSize, ACL_MEM_MALLOC_HUGE_FIRST));
}

Pipeline::~Pipeline()
{
    for (int i = 0; i < chunks_; ++i) {
        OK(aclrtDestroyEvent(uploaded_[i]));
        OK(aclrtDestroyEvent(moved_[i]));
    }
    OK(aclrtDestroyEvent(begin_));
    OK(aclrtDestroyEvent(end_));
    OK(aclrtDestroyStream(upload_));
    OK(aclrtDestroyStream(move_));
    OK(aclrtDestroyStream(download_));
    OK(aclrtFree(first_));
    OK(aclrtFree(second_));
}

bool Pipeline::Run(const std::vector<char> &in, std::vector<char> &out)
{
    bool ok = OK(aclrtRecordEvent(begin_, upload_));
    for (int i = 0; i < chunks_; ++i) {
        char *one = static_cast<char *>(first_) + i * chunkSize_;
        // chunks change places on the way
        char *two = static_cast<char *>(second_) + (chunks_ - 1 - i) * chunkSize_;
        ok = OK(aclrtMemcpyAsync(one, chunkSize_, in.data() + i * chunkSize_, chunkSize_, ACL_MEMCPY_HOST_TO_DEVICE, upload_)) && ok;
        ok = OK(aclrtRecordEvent(uploaded_[i], upload_)) && ok;
        ok = OK(aclrtStreamWaitEvent(move_, uploaded_[i])) && ok;
        ok = OK(aclrtMemcpyAsync(two, chunkSize_, one, chunkSize_, ACL_MEMCPY_DEVICE_TO_DEVICE, move_)) && ok;
        ok = OK(aclrtRecordEvent(moved_[i], move_)) && ok;
    }
    ok = OK(aclrtRecordEvent(end_, upload_)) && ok;
    for (int i = chunks_ - 1; i >= 0; --i) {
        ok = OK(aclrtStreamWaitEvent(download_, moved_[i])) && ok;
        size_t at = (chunks_ - 1 - i) * chunkSize_;
        ok = OK(aclrtMemcpyAsync(&out[at], chunkSize_, static_cast<char *>(second_) + at, chunkSize_, ACL_MEMCPY_DEVICE_TO_HOST, download_)) && ok;
    }
    ok = OK(aclrtSynchronizeStreamWithTimeout(download_, 60000)) && ok;
    ok = OK(aclrtSynchronizeEvent(end_)) && ok;
    ok = OK(aclrtEventElapsedTime(&uploadMs_, begin_, end_)) && ok;
    return ok;
}

int Pipeline::Recorded()
{
    int count = 0;
    for (auto event : uploaded_) {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        OK(aclrtQueryEventStatus(event, &status));
        count += status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
    }
    return count;
}
