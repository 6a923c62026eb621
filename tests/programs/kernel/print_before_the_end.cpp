// SPDX-License-Identifier: Apache-2.0
// A kernel prints what a copy delivered, in a stream that is destroyed at once without synchronisation.
#include "check.h"

int main() {
    {
        programs::Device device;
        aclrtStream stream = programs::new_stream();
        auto* word = programs::to_device(std::vector<std::uint32_t>{123});
        {
            programs::Kernels kernels;
            CHECK(kernels.launch("print_word", 1, stream, word));
            CHECK(aclrtDestroyStreamForce(stream));
        }
        CHECK(aclrtFree(word));
    }
    std::printf("print_before_the_end: 123\n");
}
