// SPDX-License-Identifier: Apache-2.0
// libc_sec: the functions of securec.h. Each checks its destination first, then does what the C library does.
// Used by programs only, never by the runtime. No state; any thread.
#include <securec.h>

#include <algorithm>
#include <cstdint>

namespace {

constexpr size_t longest = SECUREC_MEM_MAX_LEN;

bool is_size(size_t size) { return size != 0 && size <= longest; }

bool overlap(const void* a, const void* b, size_t bytes) {
    const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
    return first < second ? second - first < bytes : first - second < bytes;
}

// Checks shared by memcpy_s and memmove_s; EOK if the copy is allowed.
errno_t check_copy(void* destination, size_t capacity, const void* source, size_t bytes) {
    if (!is_size(capacity)) return ERANGE;
    if (destination == nullptr) return EINVAL;
    if (source == nullptr) {
        memset(destination, 0, capacity);
        return EINVAL_AND_RESET;
    }
    if (bytes <= capacity) return EOK;
    memset(destination, 0, capacity);
    return ERANGE_AND_RESET;
}

template <class Character>
errno_t check_strings(Character* destination, size_t capacity, const Character* source) {
    if (!is_size(capacity)) return ERANGE;
    if (destination == nullptr) return EINVAL;
    if (source != nullptr) return EOK;
    destination[0] = 0;
    return EINVAL_AND_RESET;
}

// Appends `length` characters and a terminator to the `used` ones of a destination.
template <class Character>
errno_t append(Character* destination, size_t capacity, size_t used, const Character* source, size_t length) {
    if (used >= capacity || length >= capacity - used) {
        destination[0] = 0;
        return ERANGE_AND_RESET;
    }
    if (overlap(destination, source, (used + length + 1) * sizeof(Character))) {
        if (used == 0 && destination == source) return EOK;
        destination[0] = 0;
        return EOVERLAP_AND_RESET;
    }
    std::copy_n(source, length, destination + used);
    destination[used + length] = 0;
    return EOK;
}

// The characters that the C library wants to write, or a negative number; -1 and "" for invalid arguments.
int print(char* destination, size_t capacity, const char* format, va_list arguments) {
    if (destination == nullptr || !is_size(capacity)) return -1;
    destination[0] = '\0';
    return format == nullptr ? -1 : vsnprintf(destination, capacity, format, arguments);
}

}  // namespace

errno_t memset_s(void* dest, size_t destMax, int c, size_t count) {
    if (!is_size(destMax)) return ERANGE;
    if (dest == nullptr) return EINVAL;
    memset(dest, c, std::min(count, destMax));
    return count <= destMax ? EOK : ERANGE_AND_RESET;
}

errno_t memcpy_s(void* dest, size_t destMax, const void* src, size_t count) {
    if (const errno_t code = check_copy(dest, destMax, src, count); code != EOK) return code;
    if (dest == src || count == 0) return EOK;
    if (overlap(dest, src, count)) {
        memset(dest, 0, destMax);
        return EOVERLAP_AND_RESET;
    }
    memcpy(dest, src, count);
    return EOK;
}

errno_t memmove_s(void* dest, size_t destMax, const void* src, size_t count) {
    if (const errno_t code = check_copy(dest, destMax, src, count); code != EOK) return code;
    memmove(dest, src, count);
    return EOK;
}

errno_t strcpy_s(char* strDest, size_t destMax, const char* strSrc) {
    if (const errno_t code = check_strings(strDest, destMax, strSrc); code != EOK) return code;
    return append(strDest, destMax, 0, strSrc, strnlen(strSrc, destMax));
}

errno_t strncpy_s(char* strDest, size_t destMax, const char* strSrc, size_t count) {
    if (const errno_t code = check_strings(strDest, destMax, strSrc); code != EOK) return code;
    return append(strDest, destMax, 0, strSrc, strnlen(strSrc, std::min(count, destMax)));
}

errno_t strcat_s(char* strDest, size_t destMax, const char* strSrc) {
    if (const errno_t code = check_strings(strDest, destMax, strSrc); code != EOK) return code;
    return append(strDest, destMax, strnlen(strDest, destMax), strSrc, strnlen(strSrc, destMax));
}

errno_t strncat_s(char* strDest, size_t destMax, const char* strSrc, size_t count) {
    if (const errno_t code = check_strings(strDest, destMax, strSrc); code != EOK) return code;
    return append(strDest, destMax, strnlen(strDest, destMax), strSrc, strnlen(strSrc, std::min(count, destMax)));
}

char* strtok_s(char* strToken, const char* strDelimit, char** context) {
    if (strDelimit == nullptr || context == nullptr || (strToken == nullptr && *context == nullptr)) return nullptr;
    return strtok_r(strToken, strDelimit, context);
}

int vsprintf_s(char* strDest, size_t destMax, const char* format, va_list argList) {
    const int length = print(strDest, destMax, format, argList);
    if (length >= 0 && static_cast<size_t>(length) < destMax) return length;
    if (strDest != nullptr && is_size(destMax)) strDest[0] = '\0';
    return -1;
}

int sprintf_s(char* strDest, size_t destMax, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsprintf_s(strDest, destMax, format, arguments);
    va_end(arguments);
    return length;
}

int vsnprintf_s(char* strDest, size_t destMax, size_t count, const char* format, va_list argList) {
    if (count >= destMax) {
        // Text that does not fit the destination is refused; text longer than requested is truncated.
        return vsprintf_s(strDest, destMax, format, argList);
    }
    const int length = print(strDest, count + 1, format, argList);
    return length >= 0 && static_cast<size_t>(length) <= count ? length : -1;
}

int snprintf_s(char* strDest, size_t destMax, size_t count, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf_s(strDest, destMax, count, format, arguments);
    va_end(arguments);
    return length;
}

int vsnprintf_truncated_s(char* strDest, size_t destMax, const char* format, va_list argList) {
    const int length = print(strDest, destMax, format, argList);
    return length < 0 ? -1 : static_cast<int>(std::min(static_cast<size_t>(length), destMax - 1));
}

int snprintf_truncated_s(char* strDest, size_t destMax, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf_truncated_s(strDest, destMax, format, arguments);
    va_end(arguments);
    return length;
}

errno_t wmemcpy_s(wchar_t* dest, size_t destMax, const wchar_t* src, size_t count) {
    if (destMax > longest / sizeof(wchar_t) || count > longest / sizeof(wchar_t)) return ERANGE;
    return memcpy_s(dest, destMax * sizeof(wchar_t), src, count * sizeof(wchar_t));
}

errno_t wcscpy_s(wchar_t* strDest, size_t destMax, const wchar_t* strSrc) {
    if (const errno_t code = check_strings(strDest, destMax, strSrc); code != EOK) return code;
    return append(strDest, destMax, 0, strSrc, wcsnlen(strSrc, destMax));
}
