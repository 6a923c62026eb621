// SPDX-License-Identifier: Apache-2.0
// Files on which this process holds record locks of the kernel. The kernel drops these locks when the process closes
// any descriptor of the file. So descriptors that came from elsewhere, and may be of such a file, are closed here: they
// stay open until the lock is not needed any more.
//
// Threads: any.
#pragma once

namespace canopy {

// The process has a lock on the file from now on; once for each `close_locked`.
void remember_locked(int descriptor) noexcept;
// Closes a descriptor whose file was remembered, as soon as nobody else in this process needs the lock.
void close_locked(int descriptor) noexcept;
// Closes a descriptor of any file; that of a locked one when the lock is not needed any more.
void close_received(int descriptor) noexcept;

}  // namespace canopy
