/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include "acl/acl.h"

#define INFO_LOG(fmt, ...) fprintf(stdout, "[INFO]  " fmt "\n", ##__VA_ARGS__)
#define WARN_LOG(fmt, ...) fprintf(stdout, "[WARN]  " fmt "\n", ##__VA_ARGS__)
#define ERROR_LOG(fmt, ...) fprintf(stderr, "[ERROR]  " fmt "\n", ##__VA_ARGS__)

typedef enum Result {
    SUCCESS = 0,
    FAILED = 1
} Result;

class Utils {
public:
    // names of the modes that the command line knows
    static const char *KindName(aclrtMemcpyKind kind);
    static bool Same(const void *left, const void *right, size_t size);
    static void Fill(void *buffer, size_t size, uint32_t seed);
};
