// SPDX-License-Identifier: Apache-2.0
// A program that prints the chip. The test prepends an include of a header of the lower interface.
#include <stdio.h>

int main(void) {
    char_t chip[64] = "";
    int32_t device = -1;
    if (rtSetDevice(0) != RT_ERROR_NONE || rtGetDevice(&device) != RT_ERROR_NONE || device != 0) return 1;
    if (rtGetSocVersion(chip, sizeof(chip)) != RT_ERROR_NONE || rtDeviceReset(0) != RT_ERROR_NONE) return 1;
    return puts(chip) < 0;
}
