/* SPDX-License-Identifier: Apache-2.0 */
#include "utils.h"
#include <cstring>

const char *Utils::KindName(aclrtMemcpyKind kind)
{
    switch (kind) {
        case ACL_MEMCPY_HOST_TO_HOST: return "host -> host";
        case ACL_MEMCPY_HOST_TO_DEVICE: return "host -> device";
        case ACL_MEMCPY_DEVICE_TO_HOST: return "device -> host";
        case ACL_MEMCPY_DEVICE_TO_DEVICE: return "device -> device";
        default: return "?";
    }
}

bool Utils::Same(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) == 0;
}

void Utils::Fill(void *buffer, size_t size, uint32_t seed)
{
    uint8_t *bytes = reinterpret_cast<uint8_t *>(buffer);
    for (size_t i = 0; i < size; ++i) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = static_cast<uint8_t>(seed >> 24);
    }
}
