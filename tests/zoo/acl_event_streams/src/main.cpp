// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <numeric>
#include "pipeline.h"

int main()
{
    if (!Ok(aclInit(""), "aclInit") || !Ok(aclrtSetDevice(0), "aclrtSetDevice")) {
        return 1;
    }
    int failed = 0;
    {
        const int chunks = 16;
        const size_t chunkSize = 4096;
        Pipeline pipeline(chunks, chunkSize);
        std::vector<char> in(chunks * chunkSize), out(chunks * chunkSize);
        for (int round = 0; round < 3; ++round) {
            std::iota(in.begin(), in.end(), round);
            std::fill(out.begin(), out.end(), 0);
            if (!pipeline.Run(in, out)) {
                ++failed;
                break;
            }
            for (int i = 0; i < chunks; ++i) {
                if (!std::equal(in.begin() + i * chunkSize, in.begin() + (i + 1) * chunkSize, out.begin() + (chunks - 1 - i) * chunkSize)) {
                    ++failed;
                }
            }
        }
        if (pipeline.Recorded() != chunks || pipeline.UploadMilliseconds() < 0) {
            ++failed;
        }
    }
    Ok(aclrtResetDevice(0), "aclrtResetDevice");
    Ok(aclFinalize(), "aclFinalize");
    std::cout << "pipeline of three streams: " << (failed == 0 ? "[SUCCESS]" : "[FAILED]") << std::endl;
    return failed;
}
