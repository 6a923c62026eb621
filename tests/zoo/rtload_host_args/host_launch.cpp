// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "acl/acl.h"

#define OK(call)                                                          \
    if (aclError e = (call)) {                                            \
        std::printf("%s = %d (line %d)\n", #call, (int)e, __LINE__);      \
        return 1;                                                         \
    }

struct Table {
    uint32_t rows, width;
};

// what the kernel gets, and behind it the things its pointers point to
struct Args {
    void* table;
    void* out;
    Table* shape;
    int32_t* index;
    int32_t count;
    int32_t pad;
    // --- in place ---
    Table shapeData;
    int32_t indexData[32];
};

int main(int argc, char** argv)
{
    if (argc < 2) return std::printf("usage: %s kernel.o\n", argv[0]), 2;
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<char> image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::printf("%s: %zu bytes\n", argv[1], image.size());

    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    aclrtStream stream;
    OK(aclrtCreateStream(&stream));
    aclrtBinaryLoadOption opt;
    opt.type = ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC;
    opt.value.magic = ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
    aclrtBinaryLoadOptions opts = {&opt, 1};
    aclrtBinHandle bin;
    OK(aclrtBinaryLoadFromData(image.data(), image.size(), &opts, &bin));
    std::memset(image.data(), 0, image.size());  // the runtime has its own copy
    aclrtFuncHandle func;
    OK(aclrtBinaryGetFunction(bin, "gather_rows", &func));
    char name[64];
    size_t params = 0;
    OK(aclrtGetFunctionName(func, sizeof(name), name));
    OK(aclrtFunctionGetParamCount(func, &params));
    std::printf("kernel %s, %zu parameters\n", name, params);

    const Table shape = {100, 64};
    std::vector<float> table(shape.rows * shape.width), out(32 * shape.width);
    for (size_t i = 0; i < table.size(); ++i) table[i] = i * 0.5f;
    void *tableDev, *outDev;
    OK(aclrtMalloc(&tableDev, table.size() * 4, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMalloc(&outDev, out.size() * 4, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMemcpy(tableDev, table.size() * 4, table.data(), table.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE));

    int errors = 0;
    for (int round = 0; round < 3; ++round) {
        Args args = {};
        args.table = tableDev;
        args.out = outDev;
        args.count = 32 - round;
        args.shapeData = shape;
        for (int i = 0; i < 32; ++i) args.indexData[i] = (i * 37 + round * 11) % shape.rows;
        aclrtPlaceHolderInfo holders[] = {
            {offsetof(Args, shape), offsetof(Args, shapeData)},
            {offsetof(Args, index), offsetof(Args, indexData)},
        };
        OK(aclrtLaunchKernelWithHostArgs(func, 4, stream, nullptr, &args, sizeof(args), holders, 2));
        std::vector<int32_t> index(args.indexData, args.indexData + args.count);
        std::memset(&args, 0xee, sizeof(args));  // free to change after the launch
        OK(aclrtSynchronizeStream(stream));
        OK(aclrtMemcpy(out.data(), out.size() * 4, outDev, out.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST));
        for (size_t i = 0; i < index.size(); ++i)
            errors += std::memcmp(&out[i * shape.width], &table[index[i] * shape.width], shape.width * 4) != 0;
    }
    OK(aclrtBinaryUnLoad(bin));
    OK(aclrtFree(tableDev));
    OK(aclrtFree(outDev));
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    std::printf("gather of 3 rounds: %s, %d rows differ\n", errors ? "FAIL" : "PASS", errors);
    return errors != 0;
}
