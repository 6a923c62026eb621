// SPDX-License-Identifier: Apache-2.0
#include "core/memory/shared_memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/memory/memory.h"
#include "core/memory/memory_pool.h"
#include "core/memory/shared_blocks.h"
#include "core/memory/virtual_memory.h"
#include "core/process/context.h"
#include "core/process/runtime.h"
#include "core/share/fork.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

// What an importer is told with the descriptor of the file.
struct MemoryAnswer {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t device = 0;  // physical number
    std::int32_t attribute = 0;
    std::uint32_t location = 0;
    std::uint32_t unused = 0;
};

std::span<const std::byte> bytes_of(const MemoryAnswer& answer) { return std::as_bytes(std::span(&answer, 1)); }

void fill_in(SharedAnswer& answer, const MemoryAnswer& facts, int descriptor) {
    const auto bytes = bytes_of(facts);
    answer.bytes.assign(bytes.begin(), bytes.end());
    answer.descriptors.assign(1, descriptor);
}

// Opens an object of another process and closes it when destroyed.
class Import {
public:
    Import(std::shared_ptr<Connection> connection, const SharedKey& key) noexcept
        : connection_(std::move(connection)), key_(key) {}
    ~Import() { connection_->close(key_); }
    Import(const Import&) = delete;
    Import& operator=(const Import&) = delete;

private:
    std::shared_ptr<Connection> connection_;
    SharedKey key_;
};

struct Opened {
    std::shared_ptr<Import> import;
    SharedReply reply;
    MemoryAnswer facts;
};

Result<Opened> open_memory(const SharedKey& key) {
    Result<std::shared_ptr<Connection>> connection = connect(key);
    if (!connection.ok()) return connection.status();
    Result<SharedReply> reply = (*connection)->ask(key, shared_operation::open);
    if (!reply.ok()) {
        if (reply.status().code() != code::lost_heartbeat) return reply.status();
        return fail(code::invalid_handle, "process {}, which exported the memory, has ended", key.owner.process);
    }
    Opened opened{std::make_shared<Import>(std::move(*connection), key), std::move(*reply), {}};
    if (opened.reply.bytes.size() != sizeof opened.facts || opened.reply.descriptors[0] < 0)
        return fail(code::resource_alloc, "process {} could not hand its memory over: no descriptor is left",
                    key.owner.process);
    std::memcpy(&opened.facts, opened.reply.bytes.data(), sizeof opened.facts);
    return opened;
}

// ---- blocks ---------------------------------------------------------------------------------------------------------

class ExportedBlock final : public SharedObject {
public:
    ExportedBlock(std::shared_ptr<SharedBlock> block, std::size_t size) noexcept
        : block_(std::move(block)), size_(size) {}

    void open(const SharedPeer& peer, SharedQuestion&, SharedAnswer& answer) override {
        SharedMemory& memory = SharedMemory::instance();
        MutexLock guard(memory.mutex);
        if (block_->freed) {
            answer.code = code::invalid_handle;
            return;
        }
        const SharedFile& file = *block_->record->opened()->abilities().shared_file;
        MemoryAnswer facts;
        facts.offset = block_->address - file.range.base;
        facts.size = size_;
        facts.device = block_->record->physical;
        fill_in(answer, facts, file.descriptor);
        if (openers_.insert(peer.connection).second) ++block_->holders[peer.connection];
    }

    void closed(const SharedPeer& peer) noexcept override {
        SharedMemory& memory = SharedMemory::instance();
        MutexLock guard(memory.mutex);
        openers_.erase(peer.connection);
        const auto holder = block_->holders.find(peer.connection);
        if (--holder->second == 0) block_->holders.erase(holder);
        settle(memory, block_);
    }

private:
    const std::shared_ptr<SharedBlock> block_;
    const std::size_t size_;
    std::set<std::uint64_t> openers_;  // connections; under the mutex
};

Result<SharedKey> key_of(std::string_view text) {
    if (const std::optional<SharedKey> key = SharedKey::from_text(text); key && key->kind == SharedKind::memory)
        return *key;
    return fail(code::invalid_handle, "\"{}\" is not the key of shared memory", text.substr(0, SharedKey::text_size));
}

}  // namespace

Result<std::string> export_memory(DeviceAddress address, std::size_t size, Importers importers) {
    CANOPY_TRY(require_context());
    const MemoryPlace place = classify(address);
    if (place.kind != MemoryKind::device || place.range.base != address || pool_of(address))
        return fail(code::param_invalid, "devPtr {} is not the start of a block of device memory", address);
    if (size > place.range.size)
        return fail(code::param_invalid, "size {} is larger than the block of {} bytes", size, place.range.size);
    Device& device = *place.record->opened();
    if (!device.abilities().shared_file)
        return fail(code::not_supported, "memory of a device of kind {} cannot be shared", device.info().kind);
    device.quiesce();
    SharedMemory& memory = SharedMemory::instance();
    MutexLock guard(memory.mutex);
    std::shared_ptr<SharedBlock>& block = memory.blocks[address];
    const bool fresh = !block;
    if (fresh) {
        block = std::make_shared<SharedBlock>();
        block->address = address;
        block->record = place.record;
        block->size = place.range.size;
        shared_memory_parts.fetch_add(1, std::memory_order_relaxed);
    }
    if (block->freed) return fail(code::param_invalid, "devPtr {} was freed", address);
    ++block->keys;
    Result<SharedKey> key = share(SharedKind::memory, std::make_shared<ExportedBlock>(block, size), importers);
    if (!key.ok()) {
        --block->keys;
        settle(memory, std::shared_ptr<SharedBlock>(block));
        return key.status();
    }
    block->exports.push_back(*key);
    return key->text();
}

Status allow_memory_import(std::string_view text, std::span<const std::int32_t> processes) {
    CANOPY_TRY(require_context());
    Result<SharedKey> key = key_of(text);
    if (!key.ok()) return key.status();
    if (anybody_may_import(*key)) return {};
    return allow_import(*key, processes);
}

Status choose_link(std::string_view text, std::uint64_t link) {
    Result<DeviceRecord*> record = current_device();
    if (!record.ok()) return record.status();
    if ((*record)->chip->series != "A5")
        return fail(code::not_supported, "{} has no choice of links between devices", (*record)->chip->name);
    SharedMemory& memory = SharedMemory::instance();
    MutexLock guard(memory.mutex);
    memory.links[std::string(text)] = link;
    return {};
}

Result<DeviceAddress> import_memory(std::string_view text, bool peer_access) {
    Result<DeviceRecord*> record = current_device();
    if (!record.ok()) return record.status();
    Result<SharedKey> key = key_of(text);
    if (!key.ok()) return key.status();
    Result<Device*> device = (*record)->open();
    if (!device.ok()) return device.status();
    MemoryImports* const imports = (*device)->abilities().imports;
    if (!imports)
        return fail(code::not_supported, "a device of kind {} cannot use memory of another process",
                    (*device)->info().kind);
    Result<Opened> opened = open_memory(*key);
    if (!opened.ok()) return opened.status();
    Result<DeviceAddress> address =
        imports->add({opened->reply.descriptors[0], opened->facts.offset, opened->facts.size});
    if (!address.ok()) return address.status();
    if (peer_access) (*record)->enable_peer(opened->facts.device);
    SharedMemory& memory = SharedMemory::instance();
    MutexLock guard(memory.mutex);
    memory.imports[std::string(text)].push_back({*key, *address, *record, std::move(opened->import), fork_count()});
    shared_memory_parts.fetch_add(1, std::memory_order_relaxed);
    (*device)->allocations.fetch_add(1, std::memory_order_relaxed);
    return address;
}

Status close_memory(std::string_view text) {
    CANOPY_TRY(require_context());
    SharedMemory& memory = SharedMemory::instance();
    std::optional<ImportedBlock> import;
    {
        MutexLock guard(memory.mutex);
        const auto found = memory.imports.find(text);
        if (found != memory.imports.end()) {
            if (found->second.front().forks != fork_count())
                return fail(code::invalid_handle,
                            "the memory was imported by the process from which this one was forked");
            import = std::move(found->second.front());
            found->second.pop_front();
            if (found->second.empty()) {
                if (const auto link = memory.links.find(text); link != memory.links.end()) memory.links.erase(link);
                memory.imports.erase(found);
            }
        } else if (const auto link = memory.links.find(text); link != memory.links.end()) {
            memory.links.erase(link);
            return {};
        }
    }
    if (import) {
        Device& device = *import->record->opened();
        device.quiesce();  // work that is ready may use the addresses
        shared_memory_parts.fetch_sub(1, std::memory_order_relaxed);
        device.allocations.fetch_add(1, std::memory_order_relaxed);
        return device.abilities().imports->remove(import->address);
    }
    Result<SharedKey> key = key_of(text);
    if (!key.ok()) return key.status();
    if (!unshare(*key)) return fail(code::invalid_handle, "this process neither imported nor exported \"{}\"", text);
    MutexLock guard(memory.mutex);
    for (const auto& [address, block] : memory.blocks) {
        const auto found = std::find_if(block->exports.begin(), block->exports.end(),
                                        [&](const SharedKey& one) { return one.number == key->number; });
        if (found == block->exports.end()) continue;
        block->exports.erase(found);
        --block->keys;
        settle(memory, std::shared_ptr<SharedBlock>(block));
        break;
    }
    return {};
}

// ---- physical memory ------------------------------------------------------------------------------------------------

namespace {

class ExportedPhysical final : public SharedObject {
public:
    explicit ExportedPhysical(const std::shared_ptr<PhysicalBlock>& block) noexcept : block_(block) {}

    void open(const SharedPeer& peer, SharedQuestion&, SharedAnswer& answer) override {
        const std::shared_ptr<PhysicalBlock> block = block_.lock();
        const std::optional<FilePart> part = block ? block->memory.shared_part(block->physical) : std::nullopt;
        if (!part) {
            answer.code = code::invalid_handle;
            return;
        }
        fill_in(answer,
                {part->offset, part->size, block->record.physical, block->properties.memory_attribute,
                 static_cast<std::uint32_t>(block->properties.location), 0},
                part->descriptor);
        holders_[peer.connection] = block;
    }
    void closed(const SharedPeer& peer) noexcept override { holders_.erase(peer.connection); }

private:
    const std::weak_ptr<PhysicalBlock> block_;
    std::map<std::uint64_t, std::shared_ptr<PhysicalBlock>> holders_;  // the porter's thread
};

}  // namespace

Result<SharedKey> share_physical(Handle handle, Importers importers, KeyStrength strength) {
    return export_physical(handle, [&](const std::shared_ptr<PhysicalBlock>& block) -> Result<SharedKey> {
        if (!block->memory.shared_part(block->physical))
            return fail(code::not_supported, "physical memory of this kind of device cannot be shared");
        if (Device* device = block->record.opened()) device->quiesce();
        return share(SharedKind::physical, std::make_shared<ExportedPhysical>(block), importers, strength);
    });
}

Result<Handle> import_physical(const SharedKey& key, std::int64_t device) {
    Result<DeviceRecord*> record = Runtime::instance().device(device);
    if (!record.ok()) return record.status();
    CANOPY_TRY(require_context());
    if (is_shared(key)) return fail(code::param_invalid, "the memory was exported by this process");
    Result<Opened> opened = open_memory(key);
    if (!opened.ok()) return opened.status();
    PhysicalProperties properties;
    properties.memory_attribute = opened->facts.attribute;
    properties.location = static_cast<LocationKind>(opened->facts.location);
    properties.location_id = (*record)->index;
    (*record)->enable_peer(opened->facts.device);
    return adopt_physical(device, {opened->reply.descriptors[0], opened->facts.offset, opened->facts.size}, properties,
                          std::move(opened->import));
}

}  // namespace canopy
