// SPDX-License-Identifier: Apache-2.0
// Refused <<<>>> launches. Such a launch has a return value, but programs do not check it; so a refusal is printed on
// standard error, and the next synchronisation returns its code, as for a failed task.
//
// Threads: any thread.
#pragma once

namespace canopy {

// Called by the thread whose launch failed with `code`, right after it. `stream` is what the program passed. The
// refusal goes to the stream's recorder (capture or graph building) if it has one, and to the default stream of the
// thread's context if the stream cannot report it.
void report_refused_launch(const char* kernel, const void* stream, int code) noexcept;

}  // namespace canopy
