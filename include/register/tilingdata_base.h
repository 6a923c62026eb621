// SPDX-License-Identifier: Apache-2.0
// Tiling data as classes: fields declared by macros, each with a setter and a getter, with the layout of a plain
// structure with the same members. Host code fills an object and copies its bytes to where the kernel reads them.
//
// Threads: an object belongs to one thread at a time.
#ifndef CANOPY_REGISTER_TILINGDATA_BASE_H
#define CANOPY_REGISTER_TILINGDATA_BASE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace optiling {

class TilingDef {
public:
    // A member as its macro declares it.
    struct Field {
        const char* type;
        const char* name;
        std::size_t count;         // elements of an array; 0: not an array
        std::ptrdiff_t structure;  // of a member that is a class: its distance from this object; 0: another member
    };

    virtual ~TilingDef() = default;

    std::size_t GetDataSize() const { return round_up(bytes_.size(), alignment_); }
    const char* GetTilingClassName() const { return name_; }

    // For the tool that writes the plain structure for kernels.
    const std::vector<Field>& canopy_fields() const { return fields_; }
    const TilingDef& canopy_structure(const Field& field) const {
        return *reinterpret_cast<const TilingDef*>(reinterpret_cast<const unsigned char*>(this) + field.structure);
    }

    // Copies the data to `data`; does nothing if `capacity` is too small.
    void SaveToBuffer(void* data, std::size_t capacity) const {
        if (data == nullptr || capacity < GetDataSize()) return;
        std::memset(data, 0, GetDataSize());
        write_to(static_cast<unsigned char*>(data));
    }

protected:
    explicit TilingDef(const char* name) : name_(name) {}
    TilingDef(const TilingDef&) = default;
    TilingDef& operator=(const TilingDef&) = default;

    // Both return the offset of the new member.
    std::size_t add_field(std::size_t size, std::size_t alignment, const Field& field) {
        fields_.push_back(field);
        return add_bytes(size, alignment);
    }
    std::size_t add_structure(const TilingDef& member, const char* type, const char* name) {
        const std::ptrdiff_t distance =
            reinterpret_cast<const unsigned char*>(&member) - reinterpret_cast<const unsigned char*>(this);
        fields_.push_back({type, name, 0, distance});
        const std::size_t offset = add_bytes(member.GetDataSize(), member.alignment_);
        structures_.push_back({offset, distance});
        return offset;
    }

    template <class T>
    void store(std::size_t offset, const T* values, std::size_t count) {
        std::memcpy(bytes_.data() + offset, values, sizeof(T) * count);
    }
    template <class T>
    T load(std::size_t offset) const {
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof(T));
        return value;
    }
    void* at(std::size_t offset) { return bytes_.data() + offset; }

private:
    struct Structure {
        std::size_t offset;       // in the data
        std::ptrdiff_t distance;  // of the member from this object
    };

    std::size_t add_bytes(std::size_t size, std::size_t alignment) {
        const std::size_t offset = round_up(bytes_.size(), alignment);
        if (alignment > alignment_) alignment_ = alignment;
        bytes_.resize(offset + size);
        return offset;
    }
    static std::size_t round_up(std::size_t size, std::size_t alignment) {
        return (size + alignment - 1) / alignment * alignment;
    }
    void write_to(unsigned char* data) const {
        if (!bytes_.empty()) std::memcpy(data, bytes_.data(), bytes_.size());
        for (const Structure& structure : structures_) {
            const auto* self = reinterpret_cast<const unsigned char*>(this);
            reinterpret_cast<const TilingDef*>(self + structure.distance)->write_to(data + structure.offset);
        }
    }

    const char* name_;
    std::size_t alignment_ = 1;
    std::vector<unsigned char> bytes_;
    std::vector<Structure> structures_;
    std::vector<Field> fields_;
};

// The tiling class of an operator; all of a program or library, for the tool that describes its operators.
struct TilingClass {
    const char* op;
    TilingDef* (*make)();
    TilingClass* next;
    static inline TilingClass* first = nullptr;

    TilingClass(const char* name, TilingDef* (*function)()) : op(name), make(function), next(first) { first = this; }
};

template <class T>
TilingDef* make_tiling() {
    return new T;
}

}  // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name)             \
    class class_name : public ::optiling::TilingDef { \
    public:                                           \
        class_name() : ::optiling::TilingDef(#class_name) {}

#define TILING_DATA_FIELD_DEF(data_type, field_name)                                                             \
public:                                                                                                          \
    void set_##field_name(data_type value) { this->store(canopy_offset_##field_name##_, &value, 1); }            \
    data_type get_##field_name() const { return this->template load<data_type>(canopy_offset_##field_name##_); } \
                                                                                                                 \
private:                                                                                                         \
    std::size_t canopy_offset_##field_name##_ =                                                                  \
        this->add_field(sizeof(data_type), alignof(data_type), {#data_type, #field_name, 0, 0});                 \
                                                                                                                 \
public:

#define TILING_DATA_FIELD_DEF_ARR(data_type, field_size, field_name)                                                   \
public:                                                                                                                \
    void set_##field_name(const data_type* values) { this->store(canopy_offset_##field_name##_, values, field_size); } \
    data_type* get_##field_name() { return static_cast<data_type*>(this->at(canopy_offset_##field_name##_)); }         \
                                                                                                                       \
private:                                                                                                               \
    std::size_t canopy_offset_##field_name##_ = this->add_field(sizeof(data_type) * (field_size), alignof(data_type),  \
                                                                {#data_type, #field_name, (field_size), 0});           \
                                                                                                                       \
public:

#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name)                                               \
public:                                                                                                     \
    struct_type field_name;                                                                                 \
                                                                                                            \
private:                                                                                                    \
    std::size_t canopy_offset_##field_name##_ = this->add_structure(field_name, #struct_type, #field_name); \
                                                                                                            \
public:

#define END_TILING_DATA_DEF \
    }                       \
    ;

// Names the tiling class of an operator: its kernel gets the plain structure with the same members.
#define CANOPY_TILING_JOIN_NAMES(left, right) left##right
#define CANOPY_TILING_JOIN(left, right) CANOPY_TILING_JOIN_NAMES(left, right)
#if defined(CANOPY_KERNEL_ENTRY_H) && !defined(CANOPY_KERNEL_HOST_H)  // canopy-cc compiles kernels
#define REGISTER_TILING_DATA_CLASS(operator_name, class_name) \
    using CANOPY_TILING_JOIN(canopy_tiling_class_, __COUNTER__) = class_name;
#else
#define REGISTER_TILING_DATA_CLASS(operator_name, class_name)                                                    \
    [[maybe_unused]] static const ::optiling::TilingClass CANOPY_TILING_JOIN(canopy_tiling_class_, __COUNTER__)( \
        #operator_name, &::optiling::make_tiling<class_name>);
#endif

#endif
