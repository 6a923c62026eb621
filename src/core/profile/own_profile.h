// SPDX-License-Identifier: Apache-2.0
// OwnProfile: a profile that the program records of itself and then reads (canopy/profile.h). A process that ends while
// it records completes the file first. Any thread; calls about one profile one after the other.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/profile/tables.h"
#include "foundation/files.h"
#include "foundation/mutex.h"
#include "record/recorder.h"

namespace canopy {

class OwnProfile {
public:
    Mutex mutex;

    // path: empty: a temporary file.
    Status start(const std::string& path, std::uint32_t wanted) CANOPY_REQUIRES(mutex);
    Status stop() CANOPY_REQUIRES(mutex);
    Status open(const std::string& path) CANOPY_REQUIRES(mutex);
    Status write_to(const std::string& path) CANOPY_REQUIRES(mutex);
    // Reads the tables on the first call. 500005 while it is recorded.
    Result<const ProfileTables*> tables() CANOPY_REQUIRES(mutex);
    Result<profile::ProfileFile*> file() CANOPY_REQUIRES(mutex);

    void recycle() noexcept;

private:
    static void end_all() noexcept;
    void end() noexcept CANOPY_REQUIRES(mutex);

    std::atomic<pid_t> recorder_{0};  // the process that started it
    std::unique_ptr<record::Recording> recording_ CANOPY_GUARDED_BY(mutex);
    std::optional<TemporaryFolder> temporary_ CANOPY_GUARDED_BY(mutex);
    std::string path_ CANOPY_GUARDED_BY(mutex);
    std::optional<profile::ProfileFile> file_ CANOPY_GUARDED_BY(mutex);
    std::optional<ProfileTables> tables_ CANOPY_GUARDED_BY(mutex);
};

HandleTable<OwnProfile>& own_profiles();

}  // namespace canopy
