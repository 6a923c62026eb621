/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_UTILS_H
#define DATA_UTILS_H
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#define INFO_LOG(fmt, args...) fprintf(stdout, "[INFO] " fmt "\n", ##args)
#define ERROR_LOG(fmt, args...) fprintf(stderr, "[ERROR] " fmt "\n", ##args)
#define CHECK_ACL(expr)                                                               \
    do {                                                                              \
        aclError _err = (expr);                                                       \
        if (_err != ACL_ERROR_NONE) {                                                 \
            ERROR_LOG("%s line %d: %s returned %d", __FILE__, __LINE__, #expr, _err); \
        }                                                                             \
    } while (0)

inline bool ReadFile(const std::string &path, size_t &fileSize, void *buffer, size_t bufferSize)
{
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) {
        ERROR_LOG("cannot open %s", path.c_str());
        return false;
    }
    fileSize = static_cast<size_t>(in.tellg());
    if (fileSize > bufferSize) {
        ERROR_LOG("%s has %zu bytes, only %zu fit", path.c_str(), fileSize, bufferSize);
        return false;
    }
    in.seekg(0);
    in.read(static_cast<char *>(buffer), fileSize);
    return in.good();
}

inline bool WriteFile(const std::string &path, const void *buffer, size_t size)
{
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char *>(buffer), size);
    if (!out) {
        ERROR_LOG("cannot write %s", path.c_str());
        return false;
    }
    return true;
}
#endif
