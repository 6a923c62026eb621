// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/fingerprint.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <stdlib.h>
#include <sys/stat.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace canopy {
namespace {

constexpr unsigned processor_leaves[] = {0u, 1u, 7u, 0x80000001u};

}  // namespace

struct Fingerprint::State {
    XXH3_state_t hash;
};

Fingerprint::Fingerprint() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->hash); }
Fingerprint::~Fingerprint() = default;

void Fingerprint::add(std::span<const std::byte> bytes) {
    const std::size_t size = bytes.size();
    XXH3_128bits_update(&state_->hash, &size, sizeof size);
    XXH3_128bits_update(&state_->hash, bytes.data(), size);
}

void Fingerprint::add_processor() {
#if defined(__x86_64__)
    for (const unsigned leaf : processor_leaves) {
        unsigned registers[4] = {};
        __get_cpuid_count(leaf, 0, &registers[0], &registers[1], &registers[2], &registers[3]);
        if (leaf == 1) registers[1] = 0;  // APIC id of the current core
        if (leaf == 1) registers[2] &= ~(1u << 27);
        add(std::as_bytes(std::span(registers)));
    }
#endif
}

void Fingerprint::add_file(const std::string& path) {
    struct stat facts {};
    stat(path.c_str(), &facts);
    add(fmt::format("{} {} {}.{:09}", path, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec));
}

void Fingerprint::add_compiler(const std::string& path) {
    add_file(path);
    if (const char* clang = getenv("CANOPY_CLANG")) add(std::string_view(clang));
}

void Fingerprint::add_runtime() {
    Dl_info where{};
    if (dladdr(processor_leaves, &where) != 0 && where.dli_fname) add_file(where.dli_fname);
}

std::string Fingerprint::name() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace canopy
