// SPDX-License-Identifier: Apache-2.0
#ifndef PIPELINE_H
#define PIPELINE_H
#include <string>
#include <vector>
#include "acl/acl.h"

// copies in chunks: one stream uploads, the next moves on the device, the last downloads
class Pipeline {
public:
    explicit Pipeline(int chunks, size_t chunkSize);
    ~Pipeline();
    bool Run(const std::vector<char> &in, std::vector<char> &out);
    float UploadMilliseconds() const { return uploadMs_; }
    int Recorded();

private:
    int chunks_;
    size_t chunkSize_;
    aclrtStream upload_ = nullptr, move_ = nullptr, download_ = nullptr;
    std::vector<aclrtEvent> uploaded_, moved_;
    aclrtEvent begin_ = nullptr, end_ = nullptr;
    void *first_ = nullptr, *second_ = nullptr;
    float uploadMs_ = -1;
};
bool Ok(aclError code, const std::string &what);
#endif
