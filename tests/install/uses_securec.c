/* SPDX-License-Identifier: Apache-2.0 */
/* Linked by the install test with libc_sec alone: output that fits is written, anything longer is refused with its
   code. Also calls mstx functions, which need no library and do nothing without one. Prints the errors and returns
   their number. */
#include <mstx/ms_tools_ext.h>
#include <securec.h>
#include <stdio.h>

static int wrong = 0;
#define EXPECT(condition)                               \
    do {                                                \
        if (!(condition)) {                             \
            fprintf(stderr, "wrong: %s\n", #condition); \
            ++wrong;                                    \
        }                                               \
    } while (0)

static void memory(void) {
    char bytes[8] = "abcdefg";
    EXPECT(memset_s(bytes, sizeof(bytes), 7, 4) == EOK && bytes[3] == 7 && bytes[4] == 'e');
    EXPECT(memset_s(bytes, 4, 1, 5) == ERANGE_AND_RESET && bytes[3] == 1 && bytes[4] == 'e');
    EXPECT(memset_s(NULL, 4, 1, 1) == EINVAL);
    EXPECT(memset_s(bytes, 0, 1, 1) == ERANGE);
    EXPECT(memcpy_s(bytes, 4, "wxyz", 4) == EOK && bytes[0] == 'w' && bytes[3] == 'z' && bytes[4] == 'e');
    EXPECT(memcpy_s(bytes, 4, "wxyzv", 5) == ERANGE_AND_RESET && bytes[0] == 0 && bytes[4] == 'e');
    EXPECT(memcpy_s(bytes, 4, NULL, 1) == EINVAL_AND_RESET);
    EXPECT(memcpy_s(bytes, 8, bytes + 2, 4) == EOVERLAP_AND_RESET);
    strcpy(bytes, "0123456");
    EXPECT(memmove_s(bytes, 8, bytes + 2, 4) == EOK && memcmp(bytes, "2345456", 8) == 0);
}

static void strings(void) {
    char text[6];
    EXPECT(strcpy_s(text, sizeof(text), "12345") == EOK && strcmp(text, "12345") == 0);
    EXPECT(strcpy_s(text, sizeof(text), "123456") == ERANGE_AND_RESET && text[0] == 0);
    EXPECT(strncpy_s(text, sizeof(text), "123456", 2) == EOK && strcmp(text, "12") == 0);
    EXPECT(strcat_s(text, sizeof(text), "345") == EOK && strcmp(text, "12345") == 0);
    EXPECT(strncat_s(text, sizeof(text), "6789", 1) == ERANGE_AND_RESET && text[0] == 0);
    char words[] = "a,b", *rest = NULL;
    EXPECT(strcmp(strtok_s(words, ",", &rest), "a") == 0 && strcmp(strtok_s(NULL, ",", &rest), "b") == 0);
    EXPECT(strtok_s(NULL, ",", &rest) == NULL);
}

static void formats(void) {
    char text[6];
    EXPECT(sprintf_s(text, sizeof(text), "%d", 12345) == 5 && strcmp(text, "12345") == 0);
    EXPECT(sprintf_s(text, sizeof(text), "%d", 123456) == -1 && text[0] == 0);
    EXPECT(snprintf_s(text, sizeof(text), 3, "%d", 123456) == -1 && strcmp(text, "123") == 0);
    EXPECT(snprintf_s(text, sizeof(text), 5, "%d", 123) == 3 && strcmp(text, "123") == 0);
    EXPECT(snprintf_truncated_s(text, sizeof(text), "%d", 1234567) == 5 && strcmp(text, "12345") == 0);
}

static void ranges(void) {
    uint64_t tool = 1;
    mstxGetToolId(&tool);
    EXPECT(tool == MSTX_TOOL_INVALID_ID);
    EXPECT(mstxRangeStartA("one", NULL) == MSTX_INVALID_RANGE_ID);
    EXPECT(mstxRangeStartA(NULL, NULL) == MSTX_INVALID_RANGE_ID);
    EXPECT(mstxDomainCreateA("domain") == NULL);
    EXPECT(mstxDomainRangeStartA(NULL, "three", NULL) == MSTX_INVALID_RANGE_ID);
    mstxMarkA("moment", NULL);
    mstxRangeEnd(1);
    mstxDomainDestroy(NULL);
}

int main(void) {
    memory();
    strings();
    formats();
    ranges();
    return wrong;
}
