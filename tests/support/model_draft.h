// SPDX-License-Identifier: GPL-3.0-or-later
// A small llama file as a list of keys and tensors that a test may change before it is written.
#pragma once

#include "tests/support/gguf_writer.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lectern::test {

// 2 layers, width 64, 4 heads of 16, 2 KV heads, feed-forward 96, context 128, 40 pieces, tied output, F32 zeros.
class ModelDraft
{
public:
    ModelDraft();

    using WriteEntry = std::function<void(GgufWriter &, const std::string &key)>;
    void set(const std::string &key, WriteEntry write); // replaces the entry or appends one
    void number(const std::string &key, std::uint32_t value);
    void real(const std::string &key, float value);
    void text(const std::string &key, const std::string &value);
    void texts(const std::string &key, std::size_t count); // all "x"
    void list(const std::string &key, const std::vector<std::int32_t> &values);
    void removeKey(const std::string &key);

    // Shapes are fastest dimension first. The tensor becomes F32.
    void setShape(const std::string &name, std::vector<std::uint64_t> shape); // replaces the tensor or appends one
    void setType(const std::string &name, std::uint32_t type, std::uint64_t bytes);
    void removeTensor(const std::string &name);

    std::string bytes() const;

private:
    struct Tensor
    {
        std::string name;
        std::vector<std::uint64_t> shape;
        std::uint32_t type;
        std::uint64_t bytes;
    };
    Tensor *find(const std::string &name);

    std::vector<std::pair<std::string, WriteEntry>> m_entries;
    std::vector<Tensor> m_tensors;
};

} // namespace lectern::test
