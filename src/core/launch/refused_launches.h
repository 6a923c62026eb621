// SPDX-License-Identifier: Apache-2.0
// Launches by <<<>>> that were refused. Such a launch has a value, but programs do not look at it; so a refused one is
// said on the standard error, and the next synchronisation returns its code as it does for a task that failed.
//
// Threads: any.
#pragma once

namespace canopy {

// Called by the thread whose launch failed with `code`, right after it. `stream` is what the program named; the refusal
// goes to the stream's capture or building when there is one, and to the default stream of the thread's context when
// the stream cannot report it.
void report_refused_launch(const char* kernel, const void* stream, int code) noexcept;

}  // namespace canopy
