// SPDX-License-Identifier: Apache-2.0
// The chip that a kernel is compiled for. canopy-cc defines __NPU_ARCH__; older sources test the names derived here.
#ifndef CANOPY_KERNEL_ARCHITECTURE_H
#define CANOPY_KERNEL_ARCHITECTURE_H

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif

#ifndef __CCE_AICORE__
#if __NPU_ARCH__ == 1001
#define __CCE_AICORE__ 100
#define __DAV_C100__ 1
#elif __NPU_ARCH__ == 2002
#define __CCE_AICORE__ 200
#define __DAV_M200__ 1
#elif __NPU_ARCH__ == 2201
#define __CCE_AICORE__ 220
#define __DAV_C220__ 1
#elif __NPU_ARCH__ == 3002
#define __CCE_AICORE__ 300
#define __DAV_M300__ 1
#else
#define __CCE_AICORE__ 310
#define __DAV_C310__ 1
#endif
#endif

#endif
