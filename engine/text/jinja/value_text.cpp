// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/jinja/value_text.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utf8proc.h>

namespace lectern::jinja {

namespace {

void appendHex(std::string &out, char kind, char32_t value, int digits)
{
    out += '\\';
    out += kind;
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        out += "0123456789abcdef"[(value >> shift) & 15];
}

bool isPrintable(char32_t c)
{
    if (c == U' ')
        return true;
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
        return false;
    default:
        return true;
    }
}

Text quoted(Meter &meter, const Text &text)
{
    const bool hasSingle = text.bytes().find('\'') != std::string::npos;
    const bool hasDouble = text.bytes().find('"') != std::string::npos;
    const char quote = hasSingle && !hasDouble ? '"' : '\'';
    Text result(std::string(1, quote));
    result.append(mapCharacters(meter, text, [&](char32_t c, std::string_view bytes, std::string &out) {
        if (c == U'\\' || c == static_cast<char32_t>(quote)) {
            out += '\\';
            out += bytes;
        } else if (c == U'\n') {
            out += "\\n";
        } else if (c == U'\r') {
            out += "\\r";
        } else if (c == U'\t') {
            out += "\\t";
        } else if (isPrintable(c)) {
            out += bytes;
        } else if (c <= 0xFF) {
            appendHex(out, 'x', c, 2);
        } else if (c <= 0xFFFF) {
            appendHex(out, 'u', c, 4);
        } else {
            appendHex(out, 'U', c, 8);
        }
    }));
    result.append(std::string_view(&quote, 1), false);
    return result;
}

class ReprWriter
{
public:
    explicit ReprWriter(Meter &meter)
        : m_meter(meter)
    {
    }

    void write(const Value &value)
    {
        m_meter.step();
        m_meter.checkTextSize(out.size());
        if (const Text *text = textOf(value))
            out.append(quoted(m_meter, *text));
        else if (const List *list = listOf(value))
            writeList(*list);
        else if (const Dict *dict = dictOf(value))
            writeDict(*dict);
        else if (isUndefined(value))
            put("Undefined");
        else
            out.append(toText(m_meter, value));
    }

    Text out;

private:
    void put(std::string_view bytes) { out.append(bytes, false); }

    void writeList(const List &list)
    {
        if (list.kind == List::Kind::View || list.kind == List::Kind::Generator)
            m_meter.failUnsupported(std::string("Printing a ") +
                                    (list.kind == List::Kind::View ? "view" : "generator") + " without |list");
        const bool isTuple = list.kind == List::Kind::Tuple;
        put(isTuple ? "(" : "[");
        for (std::size_t i = 0; i < list.items.size(); ++i) {
            put(i > 0 ? ", " : "");
            write(list.items[i]);
        }
        put(isTuple && list.items.size() == 1 ? "," : "");
        put(isTuple ? ")" : "]");
    }

    void writeDict(const Dict &dict)
    {
        put("{");
        for (std::size_t i = 0; i < dict.items.size(); ++i) {
            put(i > 0 ? ", " : "");
            write(dict.items[i].first);
            put(": ");
            write(dict.items[i].second);
        }
        put("}");
    }

    Meter &m_meter;
};

} // namespace

std::string floatText(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0 ? "inf" : "-inf";
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
    const std::string_view scientific(buffer, static_cast<std::size_t>(end - buffer));
    const std::size_t e = scientific.find('e');
    const int exponent = std::atoi(std::string(scientific.substr(e + 1)).c_str());
    if (exponent < -4 || exponent >= 16)
        return std::string(scientific);
    const auto fixedEnd = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
    std::string fixed(buffer, fixedEnd);
    if (fixed.find('.') == std::string::npos)
        fixed += ".0";
    return fixed;
}

Text toText(Meter &meter, const Value &value)
{
    if (const Text *text = textOf(value))
        return *text;
    if (listOf(value) || dictOf(value)) {
        ReprWriter writer(meter);
        writer.write(value);
        return std::move(writer.out);
    }
    if (isUndefined(value))
        return Text();
    if (isNone(value))
        return Text("None");
    if (const bool *boolean = std::get_if<bool>(&value))
        return Text(*boolean ? "True" : "False");
    if (const auto *integer = std::get_if<std::int64_t>(&value))
        return Text(std::to_string(*integer));
    if (const double *number = std::get_if<double>(&value))
        return Text(floatText(*number));
    meter.failUnsupported("Printing a " + typeName(value));
}

} // namespace lectern::jinja
