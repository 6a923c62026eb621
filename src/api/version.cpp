// SPDX-License-Identifier: Apache-2.0
// Versions, attributes of the software, sizes of data types and the half-precision helpers.
#include <array>
#include <cstdio>
#include <string>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/memory/float16.h"
#include "core/process/version.h"

using namespace canopy;

namespace {

constexpr aclCannAttr attributes[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE};

// Indexed by aclCANNPackageName; selects the version file.
constexpr std::array package_names = {"cann", "runtime", "compiler", "hccl", "toolkit", "opp", "opp_kernel", "driver"};

template <std::size_t Size>
void copy_text(char (&field)[Size], const std::string& text) {
    std::snprintf(field, Size, "%s", text.c_str());
}

// "8.5.0.1" -> 8, 5, 0, 1; missing parts stay empty.
void split_version(const std::string& text, aclCANNPackageVersion& version) {
    std::array<std::string, 4> parts;
    std::size_t part = 0;
    for (const char letter : text) {
        if (letter == '.' && part + 1 < parts.size())
            ++part;
        else
            parts[part] += letter;
    }
    copy_text(version.version, text);
    copy_text(version.majorVersion, parts[0]);
    copy_text(version.minorVersion, parts[1]);
    copy_text(version.releaseVersion, parts[2]);
    copy_text(version.patchVersion, parts[3]);
}

}  // namespace

extern "C" {

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
    return api([&]() -> Status {
        CANOPY_TRY(required(majorVersion, "majorVersion"));
        CANOPY_TRY(required(minorVersion, "minorVersion"));
        CANOPY_TRY(required(patchVersion, "patchVersion"));
        *majorVersion = ACL_MAJOR_VERSION;
        *minorVersion = ACL_MINOR_VERSION;
        *patchVersion = ACL_PATCH_VERSION;
        return {};
    });
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
    return api([&]() -> Status {
        CANOPY_TRY(required(pkgName, "pkgName"));
        CANOPY_TRY(required(versionStr, "versionStr"));
        const auto version = package_version(pkgName);
        if (!version.ok()) return version.status();
        std::snprintf(versionStr, ACL_PKG_VERSION_MAX_SIZE, "%s", version.value().c_str());
        return {};
    });
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum) {
    return api([&]() -> Status {
        CANOPY_TRY(required(pkgName, "pkgName"));
        CANOPY_TRY(required(versionNum, "versionNum"));
        const auto version = package_version(pkgName);
        if (!version.ok()) return version.status();
        const auto number = version_number(version.value());
        if (!number.ok()) return number.status();
        *versionNum = number.value();
        return {};
    });
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
    return api([&]() -> Status {
        CANOPY_TRY(required(version, "version"));
        const auto index = static_cast<std::int64_t>(name);
        if (index < 0 || index >= static_cast<std::int64_t>(package_names.size()))
            return fail(code::invalid_parameter, "name {} is not a package", index);
        const auto text = package_version(package_names[static_cast<std::size_t>(index)]);
        if (!text.ok()) return text.status();
        *version = {};
        split_version(text.value(), *version);
        return {};
    });
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
    return api([&]() -> Status {
        CANOPY_TRY(required(cannAttrList, "cannAttrList"));
        CANOPY_TRY(required(num, "num"));
        *cannAttrList = attributes;
        *num = std::size(attributes);
        return {};
    });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        switch (cannAttr) {
            case ACL_CANN_ATTR_INF_NAN:
            case ACL_CANN_ATTR_BF16:
                *value = 1;
                return {};
            case ACL_CANN_ATTR_JIT_COMPILE:
                *value = 0;
                return {};
            default:
                break;
        }
        return fail(code::invalid_parameter, "cannAttr {} is not an attribute", static_cast<int>(cannAttr));
    });
}

size_t aclDataTypeSize(aclDataType dataType) {
    switch (dataType) {
        case ACL_STRING:
        case ACL_DT_UNDEFINED:
            return 0;
        case ACL_BOOL:
        case ACL_INT8:
        case ACL_UINT8:
        case ACL_INT4:
        case ACL_UINT1:
        case ACL_HIFLOAT8:
        case ACL_FLOAT8_E5M2:
        case ACL_FLOAT8_E4M3FN:
        case ACL_FLOAT8_E8M0:
            return 1;
        case ACL_FLOAT16:
        case ACL_BF16:
        case ACL_INT16:
        case ACL_UINT16:
            return 2;
        case ACL_FLOAT:
        case ACL_INT32:
        case ACL_UINT32:
        case ACL_COMPLEX32:
            return 4;
        case ACL_COMPLEX128:
            return 16;
        default:
            return 8;  // 64-bit types, and packed or unknown types, which have no fixed size
    }
}

float aclFloat16ToFloat(aclFloat16 value) { return half_to_float(value); }

aclFloat16 aclFloatToFloat16(float value) { return float_to_half(value); }

}  // extern "C"
