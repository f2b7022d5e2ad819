// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "engine/text/jinja/value_text.h"

#include <algorithm>
#include <cmath>

namespace lectern::jinja {

namespace {

void appendUnicodeEscape(std::string &out, char32_t unit)
{
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
        out += "0123456789abcdef"[(unit >> shift) & 15];
}

class JsonWriter
{
public:
    JsonWriter(Meter &meter, const JsonStyle &style)
        : m_meter(meter)
        , m_style(style)
    {
    }

    void write(const Value &value, int level)
    {
        m_meter.step();
        m_meter.checkTextSize(out.size());
        if (const Text *text = textOf(value)) {
            writeString(*text);
        } else if (const List *list = listOf(value); list && list->kind <= List::Kind::Tuple) {
            writeAll("[", "]", list->items.size(), level, [&](std::size_t i) { write(list->items[i], level + 1); });
        } else if (const Dict *dict = dictOf(value)) {
            writeDict(*dict, level);
        } else if (isNone(value)) {
            put("null");
        } else if (const bool *boolean = std::get_if<bool>(&value)) {
            put(*boolean ? "true" : "false");
        } else if (const double *number = std::get_if<double>(&value)) {
            put(std::isnan(*number)   ? "NaN"
                : std::isinf(*number) ? (*number > 0 ? "Infinity" : "-Infinity")
                                      : floatText(*number));
        } else if (std::holds_alternative<std::int64_t>(value)) {
            out.append(toText(m_meter, value));
        } else {
            m_meter.fail("Object of type " + typeName(value) + " is not JSON serializable");
        }
    }

    Text out;

private:
    void put(std::string_view bytes) { out.append(bytes, false); }

    void breakLine(int level)
    {
        if (!m_style.indent)
            return;
        const std::size_t bytes = static_cast<std::size_t>(level) * m_style.indent->size();
        m_meter.work(bytes);
        m_meter.checkTextSize(out.size() + bytes);
        put("\n");
        for (int i = 0; i < level; ++i)
            put(*m_style.indent);
    }

    template <class WriteItem>
    void writeAll(std::string_view open, std::string_view close, std::size_t count, int level, WriteItem writeItem)
    {
        put(open);
        for (std::size_t i = 0; i < count; ++i) {
            if (i > 0)
                put(m_style.itemSeparator);
            breakLine(level + 1);
            writeItem(i);
        }
        if (count > 0)
            breakLine(level);
        put(close);
    }

    void writeDict(const Dict &dict, int level)
    {
        std::vector<std::pair<Text, const Value *>> items;
        for (const auto &[key, value] : dict.items)
            items.emplace_back(keyText(key), &value);
        if (m_style.sortsKeys)
            std::stable_sort(items.begin(), items.end(),
                             [](const auto &a, const auto &b) { return a.first.bytes() < b.first.bytes(); });
        writeAll("{", "}", items.size(), level, [&](std::size_t i) {
            writeString(items[i].first);
            put(m_style.keySeparator);
            write(*items[i].second, level + 1);
        });
    }

    Text keyText(const Value &key)
    {
        if (isNone(key))
            return Text("null");
        if (const bool *boolean = std::get_if<bool>(&key))
            return Text(*boolean ? "true" : "false");
        if (listOf(key) || isUndefined(key))
            m_meter.fail("keys must be str, int, float, bool or None, not " + typeName(key));
        return toText(m_meter, key);
    }

    void writeString(const Text &text)
    {
        put("\"");
        out.append(mapCharacters(m_meter, text, [&](char32_t c, std::string_view bytes, std::string &escaped) {
            static constexpr std::string_view kShort =
                "\"\"\\\\\bb\ff\nn\rr\tt"; // character, letter after the backslash
            for (std::size_t i = 0; i < kShort.size(); i += 2)
                if (c == static_cast<char32_t>(kShort[i])) {
                    escaped += '\\';
                    escaped += kShort[i + 1];
                    return;
                }
            if (c >= 0x10000 && m_style.escapesNonAscii) {
                appendUnicodeEscape(escaped, 0xD7C0 + (c >> 10));
                appendUnicodeEscape(escaped, 0xDC00 + (c & 0x3FF));
            } else if (c < 0x20 || (c > 0x7E && m_style.escapesNonAscii)) {
                appendUnicodeEscape(escaped, c);
            } else {
                escaped += bytes;
            }
        }));
        put("\"");
    }

    Meter &m_meter;
    const JsonStyle &m_style;
};

} // namespace

Text toJson(Meter &meter, const Value &value, const JsonStyle &style)
{
    JsonWriter writer(meter, style);
    writer.write(value, 0);
    meter.checkTextSize(writer.out.size());
    return std::move(writer.out);
}

} // namespace lectern::jinja
