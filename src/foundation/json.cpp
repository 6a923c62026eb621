// SPDX-License-Identifier: Apache-2.0
#include "foundation/json.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace canopy {

Json::Json(const char* text) : Json(std::string(text)) {}
Json::Json(std::string_view text) : Json(std::string(text)) {}
Json::Json(std::string text) : type_(Type::text) { value_.text = new std::string(std::move(text)); }
Json::Json(List items) : type_(Type::list) { value_.list = new List(std::move(items)); }

Json::Json(std::initializer_list<Json> items) {
    const bool object = std::all_of(items.begin(), items.end(), [](const Json& item) {
        return item.is_array() && item.size() == 2 && item.list().front().is_string();
    });
    if (!object) {
        value_.list = new List(items);
        type_ = Type::list;
        return;
    }
    Members members;
    members.reserve(items.size());
    for (const Json& item : items) members.emplace_back(item.list().front().text(), item.list().back());
    value_.members = new Members(std::move(members));
    type_ = Type::object;
}

Json::Json(const Json& other) : type_(other.type_), value_(other.value_) {
    if (type_ == Type::text) value_.text = new std::string(*other.value_.text);
    if (type_ == Type::list) value_.list = new List(*other.value_.list);
    if (type_ == Type::object) value_.members = new Members(*other.value_.members);
}

Json::Json(Json&& other) noexcept : type_(std::exchange(other.type_, Type::null)), value_(other.value_) {}

Json& Json::operator=(Json other) noexcept {
    std::swap(type_, other.type_);
    std::swap(value_, other.value_);
    return *this;
}

Json::~Json() {
    if (type_ == Type::text) delete value_.text;
    if (type_ == Type::list) delete value_.list;
    if (type_ == Type::object) delete value_.members;
}

std::size_t Json::size() const noexcept {
    if (is_array()) return value_.list->size();
    return is_object() ? value_.members->size() : 0;
}

void Json::wrong_type(const char* wanted) const {
    constexpr const char* names[] = {"null", "boolean", "number", "number", "number", "string", "array", "object"};
    throw JsonError(std::string("type must be ") + wanted + ", but is " + names[static_cast<std::size_t>(type_)]);
}

bool Json::boolean() const {
    if (!is_boolean()) wrong_type("boolean");
    return value_.boolean;
}

std::uint64_t Json::integer() const {
    if (is_integer()) return value_.natural;
    if (is_boolean()) return value_.boolean ? 1 : 0;
    if (type_ != Type::real) wrong_type("number");
    if (value_.real >= 0x1p64 || value_.real < -0x1p63 || value_.real != value_.real)
        throw JsonError("the number is too large");
    return value_.real < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value_.real))
                           : static_cast<std::uint64_t>(value_.real);
}

double Json::real() const {
    if (type_ == Type::real) return value_.real;
    if (type_ == Type::integer) return static_cast<double>(value_.integer);
    return static_cast<double>(integer());
}

const std::string& Json::text() const {
    if (!is_string()) wrong_type("string");
    return *value_.text;
}

const Json::List& Json::list() const {
    if (!is_array()) wrong_type("array");
    return *value_.list;
}

const Json::Members& Json::members() const {
    if (!is_object()) wrong_type("object");
    return *value_.members;
}

const Json* Json::find(std::string_view key) const noexcept {
    if (!is_object()) return nullptr;
    for (const auto& [name, value] : *value_.members)
        if (name == key) return &value;
    return nullptr;
}

const Json& Json::at(std::string_view key) const {
    static_cast<void>(members());
    const Json* found = find(key);
    if (!found) throw JsonError("key '" + std::string(key) + "' not found");
    return *found;
}

const Json& Json::at(std::size_t index) const {
    if (index >= list().size()) throw JsonError("array index " + std::to_string(index) + " is out of range");
    return list()[index];
}

Json& Json::operator[](std::string_view key) {
    if (is_null()) {
        value_.members = new Members();
        type_ = Type::object;
    }
    static_cast<void>(members());
    if (const Json* found = find(key)) return const_cast<Json&>(*found);
    return value_.members->emplace_back(key, Json()).second;
}

void Json::push_back(Json item) {
    if (is_null()) *this = array();
    static_cast<void>(list());
    value_.list->push_back(std::move(item));
}

void Json::sort() {
    if (is_array())
        for (Json& item : *value_.list) item.sort();
    if (!is_object()) return;
    for (auto& member : *value_.members) member.second.sort();
    std::sort(value_.members->begin(), value_.members->end(),
              [](const auto& left, const auto& right) { return left.first < right.first; });
}

bool operator==(const Json& left, const Json& right) noexcept {
    using Type = Json::Type;
    if (left.type_ != right.type_) {
        const auto number = [](const Json& value) { return value.is_integer() || value.type_ == Type::real; };
        if (!number(left) || !number(right)) return false;
        if (!left.is_integer() || !right.is_integer()) return left.real() == right.real();
        // One of the two is signed: equal numbers are not negative and have the same bits.
        return left.value_.natural == right.value_.natural && left.value_.integer >= 0;
    }
    switch (left.type_) {
        case Type::null:
            return true;
        case Type::boolean:
            return left.value_.boolean == right.value_.boolean;
        case Type::integer:
        case Type::natural:
            return left.value_.natural == right.value_.natural;
        case Type::real:
            return left.value_.real == right.value_.real;
        case Type::text:
            return *left.value_.text == *right.value_.text;
        case Type::list:
            return *left.value_.list == *right.value_.list;
        case Type::object:
            return *left.value_.members == *right.value_.members;
    }
    return false;
}

// The library's form of a value, and its parser.
using Library = nlohmann::ordered_json;

struct JsonLibrary {
    static Library value_of(const Json& json) {
        using Type = Json::Type;
        switch (json.type_) {
            case Type::null:
                return nullptr;
            case Type::boolean:
                return json.value_.boolean;
            case Type::integer:
                return json.value_.integer;
            case Type::natural:
                return json.value_.natural;
            case Type::real:
                return json.value_.real;
            case Type::text:
                return *json.value_.text;
            case Type::list: {
                Library list = Library::array();
                for (const Json& item : *json.value_.list) list.push_back(value_of(item));
                return list;
            }
            case Type::object: {
                // As its base, a vector: without a search for the name.
                Library object = Library::object();
                auto& members = object.get_ref<Library::object_t&>();
                members.reserve(json.size());
                for (const auto& [name, value] : *json.value_.members)
                    static_cast<Library::object_t::Container&>(members).emplace_back(name, value_of(value));
                return object;
            }
        }
        return nullptr;
    }

    static Json::Members* members(Json& json) { return json.value_.members; }
    static Json::List* list(Json& json) { return json.value_.list; }
};

std::string Json::dump(int indent) const {
    return JsonLibrary::value_of(*this).dump(indent, ' ', false, Library::error_handler_t::replace);
}

namespace {

// Iterates over a text and notes how far the parser has read.
class Cursor {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Cursor(std::string_view text, std::size_t at, std::size_t& position) : text_(text), at_(at), position_(&position) {}
    reference operator*() const { return text_[at_]; }
    Cursor& operator++() {
        *position_ = ++at_;
        return *this;
    }
    Cursor operator++(int) {
        Cursor before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Cursor& other) const { return at_ == other.at_; }
    bool operator!=(const Cursor& other) const { return at_ != other.at_; }

private:
    std::string_view text_;
    std::size_t at_;
    std::size_t* position_;
};

class Forwarder final : public nlohmann::json_sax<Library> {
public:
    explicit Forwarder(JsonEvents& events) : events_(events) {}
    bool null() override { return events_.scalar(nullptr); }
    bool boolean(bool value) override { return events_.scalar(value); }
    bool number_integer(number_integer_t value) override { return events_.scalar(value); }
    bool number_unsigned(number_unsigned_t value) override { return events_.scalar(value); }
    bool number_float(number_float_t value, const string_t&) override { return events_.scalar(value); }
    bool binary(binary_t&) override { return false; }
    bool string(string_t& value) override { return events_.scalar(std::move(value)); }
    bool key(string_t& name) override { return events_.key(std::move(name)); }
    bool start_object(std::size_t) override { return events_.begin_object(); }
    bool end_object() override { return events_.end_object(); }
    bool start_array(std::size_t) override { return events_.begin_array(); }
    bool end_array() override { return events_.end_array(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
        std::string_view reason = error.what();
        if (const std::size_t at = reason.find(": "); at != std::string_view::npos) reason.remove_prefix(at + 2);
        events_.bad_byte(position, reason);
        return false;
    }

private:
    JsonEvents& events_;
};

// Of members with one name, the first gives the place and the last the value. Without a search for each name: objects
// with very many members come from strangers.
void merge_members(Json::Members& members) {
    std::vector<std::size_t> order(members.size());
    for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
    std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        const int names = members[left].first.compare(members[right].first);
        return names != 0 ? names < 0 : left < right;
    });
    std::vector<bool> repeated(members.size());
    bool any = false;
    for (std::size_t index = 0, first = 0; index < order.size(); ++index) {
        if (members[order[index]].first != members[order[first]].first) first = index;
        if (index == first) continue;
        members[order[first]].second = std::move(members[order[index]].second);
        repeated[order[index]] = any = true;
    }
    if (!any) return;
    std::size_t kept = 0;
    for (std::size_t index = 0; index < members.size(); ++index)
        if (!repeated[index] && kept++ != index) members[kept - 1] = std::move(members[index]);
    members.resize(kept);
}

class Builder final : public JsonEvents {
public:
    bool scalar(Json value) override {
        add(std::move(value));
        return true;
    }
    bool key(std::string name) override {
        key_ = std::move(name);
        return true;
    }
    bool begin_object() override { return begin(std::initializer_list<Json>{}); }
    bool begin_array() override { return begin(Json::array()); }
    bool end_object() override {
        if (open_.back()->size() > 1) merge_members(*JsonLibrary::members(*open_.back()));
        open_.pop_back();
        return true;
    }
    bool end_array() override {
        open_.pop_back();
        return true;
    }
    void bad_byte(std::size_t position, std::string_view) override { bad_byte_ = position; }

    Json root;
    [[nodiscard]] std::size_t problem() const { return bad_byte_ != 0 ? bad_byte_ : position; }

private:
    Json& add(Json value) {
        if (open_.empty()) return root = std::move(value);
        if (open_.back()->is_array()) return JsonLibrary::list(*open_.back())->emplace_back(std::move(value));
        return JsonLibrary::members(*open_.back())->emplace_back(std::move(key_), std::move(value)).second;
    }
    bool begin(Json structure) {
        if (open_.size() == max_json_depth) return false;
        open_.push_back(&add(std::move(structure)));
        return true;
    }

    std::vector<Json*> open_;  // from the root; only the last one grows, so that they stay where they are
    std::string key_;
    std::size_t bad_byte_ = 0;
};

}  // namespace

bool read_json(std::string_view text, JsonEvents& events) {
    Forwarder forwarder(events);
    return Library::sax_parse(Cursor(text, 0, events.position), Cursor(text, text.size(), events.position), &forwarder);
}

std::optional<Json> parse_json(std::string_view text, std::size_t* bad_byte) {
    Builder builder;
    if (read_json(text, builder)) return std::move(builder.root);
    if (bad_byte) *bad_byte = builder.problem();
    return std::nullopt;
}

}  // namespace canopy
