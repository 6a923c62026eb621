// SPDX-License-Identifier: Apache-2.0
// What is dumped: the configuration of aclInit's file or of aclmdlSetDump, ASCEND_DUMP_SCENE, and the folders that
// follow from them. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/process/dump_configuration.h"
#include "foundation/mutex.h"

namespace canopy {

// One configuration from its beginning to its end.
class DumpSession {
public:
    explicit DumpSession(DumpConfiguration configuration);
    const DumpConfiguration configuration;
    const std::string folder;  // {dump_path}/{time}; made with the first file

    // True if the next launch of the kernel is dumped.
    bool takes_launch(const std::string& kernel);

private:
    [[nodiscard]] bool lists(const std::string& kernel) const;

    Mutex mutex_;
    std::map<std::string, std::uint64_t> launches_ CANOPY_GUARDED_BY(mutex_);  // so far, by kernel
};

// aclInit and aclFinalize.
void begin_dump(const std::optional<DumpConfiguration>& configuration);
void end_dump() noexcept;
// aclmdlInitDump, aclmdlSetDump, aclmdlFinalizeDump.
Status init_dump();
Status set_dump(const char* path);
Status finalise_dump();

std::shared_ptr<DumpSession> dump_session() noexcept;
// none, or what is written when a kernel fails.
DumpScene exception_scene();

enum class DumpKind : std::uint8_t { brief = 1, normal, detail, data, overflow };  // as in acldumpType
// The folder of a kind of dump; nullptr if it is off. The text lives as long as the process.
const char* dump_folder(DumpKind kind);
// The folder for what is written about failures on a device; empty if that is off.
std::string exception_folder(std::uint32_t device);

// aclopStartDumpArgs and aclopStopDumpArgs.
Status start_argument_dump(const char* path);
Status stop_argument_dump();

}  // namespace canopy
