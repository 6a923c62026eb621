/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "normalize.h"
void report(const char* name, double worst, int ok)
{
    printf("%-12s worst difference %.3g %s\n", name, worst, ok ? "OK" : "NOT OK");
}
