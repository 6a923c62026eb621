/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of ms_tools_ext.h, which includes this file: finding the tool, and passing the calls on. One table for
 * the whole program or shared object, shared by all files that include the header.
 */
#ifndef CANOPY_MSTX_MS_TOOLS_EXT_IMPL_H
#define CANOPY_MSTX_MS_TOOLS_EXT_IMPL_H

enum { CANOPY_MSTX_MODULES = 4, CANOPY_MSTX_FUNCTIONS = 6 };

typedef struct canopyMstxTable {
    mstxFuncPointer functions[CANOPY_MSTX_MODULES][CANOPY_MSTX_FUNCTIONS];
    mstxFuncPointer* addresses[CANOPY_MSTX_MODULES][CANOPY_MSTX_FUNCTIONS];
    int found;          /* a tool has stored its functions */
    int searching;      /* a thread looks for one */
    unsigned int calls; /* so far, without a tool */
} canopyMstxTable;

__attribute__((weak, visibility("hidden"))) canopyMstxTable canopy_mstx_table;

static inline int canopy_mstx_get_table(int module, mstxFuncTable* outTable, unsigned int* outSize) {
    static const unsigned int sizes[CANOPY_MSTX_MODULES] = {0, MSTX_API_CORE_SIZE, MSTX_API_CORE2_SIZE,
                                                            MSTX_API_CORE_MEM_SIZE};
    unsigned int index;
    if (module <= MSTX_API_MODULE_INVALID || module >= CANOPY_MSTX_MODULES) return MSTX_FAIL;
    if (outTable == NULL || outSize == NULL) return MSTX_FAIL;
    for (index = 0; index < sizes[module]; ++index)
        canopy_mstx_table.addresses[module][index] = &canopy_mstx_table.functions[module][index];
    *outTable = canopy_mstx_table.addresses[module];
    *outSize = sizes[module];
    return MSTX_SUCCESS;
}

/* The library that the user names; else one that shows the function to everybody; else the runtime, however it was
   opened. Nothing is loaded that the user has not named. */
static inline mstxInitInjectionFunc canopy_mstx_find_tool(void) {
    const char* const path = getenv("MSTX_INJECTION_PATH");
    const int named = path != NULL && *path != '\0';
    mstxInitInjectionFunc start = NULL;
    void* library = named ? dlopen(path, RTLD_LAZY) : NULL;
    void* found = NULL;
    if (!named) found = dlsym(NULL, "InitInjectionMstx"); /* null is RTLD_DEFAULT, which not every C mode defines */
    if (!named && found == NULL) library = dlopen("libascendcl.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) found = dlsym(library, "InitInjectionMstx");
    *(void**)(&start) = found;
    return start;
}

static inline void canopy_mstx_search(void) {
    mstxInitInjectionFunc start;
    if (__atomic_exchange_n(&canopy_mstx_table.searching, 1, __ATOMIC_ACQUIRE) != 0) return;
    if (__atomic_load_n(&canopy_mstx_table.found, __ATOMIC_ACQUIRE) == 0) {
        start = canopy_mstx_find_tool();
        if (start != NULL && start(&canopy_mstx_get_table) == MSTX_SUCCESS)
            __atomic_store_n(&canopy_mstx_table.found, 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&canopy_mstx_table.searching, 0, __ATOMIC_RELEASE);
}

/* The tool's function; null without one. The tool may come late: it is looked for at the first call, and then at the
   2nd, 4th, 8th and so on. */
static inline mstxFuncPointer canopy_mstx_function(int module, int number) {
    if (__atomic_load_n(&canopy_mstx_table.found, __ATOMIC_ACQUIRE) == 0) {
        const unsigned int call = __atomic_add_fetch(&canopy_mstx_table.calls, 1, __ATOMIC_RELAXED);
        if ((call & (call - 1)) == 0) canopy_mstx_search();
        if (__atomic_load_n(&canopy_mstx_table.found, __ATOMIC_ACQUIRE) == 0) return NULL;
    }
    return canopy_mstx_table.functions[module][number];
}

static inline void mstxMarkA(const char* message, aclrtStream stream) {
    typedef void (*Function)(const char*, aclrtStream);
    const Function function = (Function)canopy_mstx_function(MSTX_API_MODULE_CORE, MSTX_API_CORE_MARK_A);
    if (function != NULL) function(message, stream);
}

static inline mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream) {
    typedef mstxRangeId (*Function)(const char*, aclrtStream);
    const Function function = (Function)canopy_mstx_function(MSTX_API_MODULE_CORE, MSTX_API_CORE_RANGE_START_A);
    return function == NULL ? MSTX_INVALID_RANGE_ID : function(message, stream);
}

static inline void mstxRangeEnd(mstxRangeId id) {
    typedef void (*Function)(mstxRangeId);
    const Function function = (Function)canopy_mstx_function(MSTX_API_MODULE_CORE, MSTX_API_CORE_RANGE_END);
    if (function != NULL) function(id);
}

static inline void mstxGetToolId(uint64_t* id) {
    typedef void (*Function)(uint64_t*);
    const Function function = (Function)canopy_mstx_function(MSTX_API_MODULE_CORE, MSTX_API_CORE_GET_TOOL_ID);
    if (function != NULL)
        function(id);
    else if (id != NULL)
        *id = MSTX_TOOL_INVALID_ID;
}

static inline mstxDomainHandle_t mstxDomainCreateA(const char* name) {
    typedef mstxDomainHandle_t (*Function)(const char*);
    const Function function =
        (Function)canopy_mstx_function(MSTX_API_MODULE_CORE_DOMAIN, MSTX_API_CORE2_DOMAIN_CREATE_A);
    return function == NULL ? NULL : function(name);
}

static inline void mstxDomainDestroy(mstxDomainHandle_t domain) {
    typedef void (*Function)(mstxDomainHandle_t);
    const Function function =
        (Function)canopy_mstx_function(MSTX_API_MODULE_CORE_DOMAIN, MSTX_API_CORE2_DOMAIN_DESTROY);
    if (function != NULL) function(domain);
}

static inline void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
    typedef void (*Function)(mstxDomainHandle_t, const char*, aclrtStream);
    const Function function = (Function)canopy_mstx_function(MSTX_API_MODULE_CORE_DOMAIN, MSTX_API_CORE2_DOMAIN_MARK_A);
    if (function != NULL) function(domain, message, stream);
}

static inline mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
    typedef mstxRangeId (*Function)(mstxDomainHandle_t, const char*, aclrtStream);
    const Function function =
        (Function)canopy_mstx_function(MSTX_API_MODULE_CORE_DOMAIN, MSTX_API_CORE2_DOMAIN_RANGE_START_A);
    return function == NULL ? MSTX_INVALID_RANGE_ID : function(domain, message, stream);
}

static inline void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) {
    typedef void (*Function)(mstxDomainHandle_t, mstxRangeId);
    const Function function =
        (Function)canopy_mstx_function(MSTX_API_MODULE_CORE_DOMAIN, MSTX_API_CORE2_DOMAIN_RANGE_END);
    if (function != NULL) function(domain, id);
}

#endif
