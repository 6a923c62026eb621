// SPDX-License-Identifier: Apache-2.0
// JSON values. The parser's library is all templates and takes seconds to compile, so only json.cpp includes it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace canopy {

// A value has another type than its reader wants, or lacks a member.
struct JsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Json {
public:
    using List = std::vector<Json>;
    using Members = std::vector<std::pair<std::string, Json>>;  // in the order of their first assignment

    Json() noexcept = default;
    Json(std::nullptr_t) noexcept {}
    template <std::same_as<bool> Bool>
    Json(Bool value) noexcept : type_(Type::boolean) {
        value_.boolean = value;
    }
    template <std::integral Number>
    requires(!std::same_as<Number, bool>) Json(Number value)
    noexcept : type_(std::signed_integral<Number> ? Type::integer : Type::natural) {
        if constexpr (std::signed_integral<Number>)
            value_.integer = value;
        else
            value_.natural = value;
    }
    template <std::floating_point Number>
    Json(Number value) noexcept : type_(Type::real) {
        value_.real = static_cast<double>(value);
    }
    Json(const char* text);
    Json(std::string_view text);
    Json(std::string text);
    template <class Item>
    Json(const std::vector<Item>& items) : Json(array()) {
        value_.list->assign(items.begin(), items.end());
    }
    // {{"a", 1}, {"b", 2}} is an object, every other list is a list.
    Json(std::initializer_list<Json> items);
    Json(const Json& other);
    Json(Json&& other) noexcept;
    Json& operator=(Json other) noexcept;
    ~Json();
    static Json array() { return Json(List()); }

    [[nodiscard]] bool is_boolean() const noexcept { return type_ == Type::boolean; }
    [[nodiscard]] bool is_null() const noexcept { return type_ == Type::null; }
    [[nodiscard]] bool is_integer() const noexcept { return type_ == Type::integer || type_ == Type::natural; }
    // Written without a sign.
    [[nodiscard]] bool is_unsigned() const noexcept { return type_ == Type::natural; }
    [[nodiscard]] bool is_string() const noexcept { return type_ == Type::text; }
    [[nodiscard]] bool is_array() const noexcept { return type_ == Type::list; }
    [[nodiscard]] bool is_object() const noexcept { return type_ == Type::object; }
    [[nodiscard]] bool is_structured() const noexcept { return is_array() || is_object(); }

    // Members of a list or an object, else 0.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

    // Numbers and booleans convert to all types of numbers. Throws JsonError for a value of another type.
    template <class Value>
    [[nodiscard]] Value get() const {
        if constexpr (std::same_as<Value, bool>)
            return boolean();
        else if constexpr (std::integral<Value>)
            return static_cast<Value>(integer());
        else if constexpr (std::floating_point<Value>)
            return static_cast<Value>(real());
        else if constexpr (std::same_as<Value, std::string>)
            return text();
        else if constexpr (std::same_as<Value, Json>)
            return *this;
        else {
            Value items;
            for (const Json& item : list()) items.push_back(item.get<typename Value::value_type>());
            return items;
        }
    }
    template <class Value>
    void get_to(Value& value) const {
        value = get<Value>();
    }
    [[nodiscard]] const std::string& text() const;
    [[nodiscard]] const List& list() const;
    [[nodiscard]] const Members& members() const;
    [[nodiscard]] List::const_iterator begin() const { return list().begin(); }
    [[nodiscard]] List::const_iterator end() const { return list().end(); }

    // nullptr if there is no such member, or the value is no object.
    [[nodiscard]] const Json* find(std::string_view key) const noexcept;
    [[nodiscard]] bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
    // Throw JsonError if there is no such member.
    [[nodiscard]] const Json& at(std::string_view key) const;
    [[nodiscard]] const Json& at(std::size_t index) const;
    template <class Value>
    [[nodiscard]] Value value(std::string_view key, Value otherwise) const {
        static_cast<void>(members());
        const Json* found = find(key);
        return found ? found->get<Value>() : otherwise;
    }

    // Adds the member if it is missing; null becomes an object or a list.
    Json& operator[](std::string_view key);
    void push_back(Json item);
    // Sorts the members of all objects inside by their names.
    void sort();

    // With `indent`, one member per line. Bytes that are not UTF-8 are replaced.
    [[nodiscard]] std::string dump(int indent = -1) const;

    // Numbers are equal if their values are, whatever their types.
    friend bool operator==(const Json& left, const Json& right) noexcept;

private:
    enum class Type : std::uint8_t { null, boolean, integer, natural, real, text, list, object };
    friend struct JsonLibrary;

    explicit Json(List items);
    [[nodiscard]] bool boolean() const;
    [[nodiscard]] std::uint64_t integer() const;  // the bits of negative numbers
    [[nodiscard]] double real() const;
    [[noreturn]] void wrong_type(const char* wanted) const;

    Type type_ = Type::null;
    union {
        bool boolean;
        std::int64_t integer;
        std::uint64_t natural;
        double real;
        std::string* text;
        List* list;
        Members* members;
    } value_ = {};
};

// nullopt if the text is not JSON, or nests deeper than max_json_depth; `bad_byte` is the position of the problem,
// counted from 1.
constexpr std::size_t max_json_depth = 500;
std::optional<Json> parse_json(std::string_view text, std::size_t* bad_byte = nullptr);

// Receives the pieces of a text in their order, for readers that keep little of it. Each function returns whether to go
// on.
class JsonEvents {
public:
    virtual ~JsonEvents() = default;
    virtual bool scalar(Json value) = 0;  // text, number, boolean or null
    virtual bool key(std::string name) = 0;
    virtual bool begin_object() = 0;
    virtual bool end_object() = 0;
    virtual bool begin_array() = 0;
    virtual bool end_array() = 0;
    // The text is not JSON.
    virtual void bad_byte(std::size_t position, std::string_view reason) = 0;

    // Bytes read so far.
    std::size_t position = 0;
};
// Whether the text was read to its end.
bool read_json(std::string_view text, JsonEvents& events);

}  // namespace canopy
