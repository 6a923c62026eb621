// SPDX-License-Identifier: Apache-2.0
// Notifies between processes: export and import.
#include "core/stream/notify.h"

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/process/context.h"
#include "core/stream/shared_notify.h"

namespace canopy {

Result<std::string> export_notify(Notify& notify, Importers importers) {
    static Mutex exporting;
    MutexLock guard(exporting);
    if (notify.shared.load(std::memory_order_acquire))
        return fail(code::runtime_internal, "the notify is exported already, or belongs to another process");
    Result<std::shared_ptr<SharedSignal>> signal = SharedSignal::create(SharedNotify::page_bytes, slot_of(notify.self));
    if (!signal.ok()) return signal.status();
    (*signal)->set_device(notify.record->physical);
    const auto shared = std::make_shared<SharedNotify>(*signal, notify.fence);
    Result<SharedKey> key = (*signal)->share_page(SharedKind::notify, importers);
    if (!key.ok()) return key.status();
    notify.shared.store(shared->keep(), std::memory_order_release);
    return key->text();
}

Status allow_notify_import(Notify& notify, std::span<const std::int32_t> processes) {
    CANOPY_TRY(require_context());
    const SharedNotify* shared = notify.shared.load(std::memory_order_acquire);
    if (shared == nullptr || !shared->signal()->owned())
        return fail(code::param_invalid, "the notify has not been exported by this process");
    const SharedKey key = shared->signal()->key();
    if (anybody_may_import(key)) return {};
    return allow_import(key, processes);
}

Result<Handle> import_notify(std::string_view text, bool peer_access) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    const std::optional<SharedKey> key = SharedKey::from_text(text);
    if (!key || key->kind != SharedKind::notify)
        return fail(code::invalid_handle, "\"{}\" is not the key of a notify", text.substr(0, SharedKey::text_size));
    Result<std::shared_ptr<SharedSignal>> signal = SharedSignal::open(*key, SharedNotify::page_bytes);
    if (!signal.ok()) return signal.status();
    if (peer_access) (*context)->record->enable_peer((*signal)->device());
    Result<Fence*> fence = (*context)->device->create_fence();
    if (!fence.ok()) return fence.status();
    return open_notify(std::make_shared<SharedNotify>(std::move(*signal), *fence), *fence);
}

}  // namespace canopy
