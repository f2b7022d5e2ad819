// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the "{architecture}.*" keys of a file. The first problem is kept and everything after it reads as 0, so that
// the code which lists the keys stays a list.
#pragma once

#include "engine/gguf/gguf_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lectern {

class HyperParameters
{
public:
    HyperParameters(const GgufFile &file, std::string architecture);

    std::string name(std::string_view suffix) const { return m_architecture + "." + std::string(suffix); }
    bool has(std::string_view suffix) const { return m_file.find(name(suffix)) != nullptr; }

    // From now on a list of `layers` equal numbers reads as that number, and perLayer() gives this many.
    void setLayers(int layers) { m_layers = static_cast<std::size_t>(layers); }

    // An integer in [low, high]; without a fallback the key is required.
    int number(std::string_view suffix, std::int64_t low, std::int64_t high,
               std::optional<std::int64_t> fallback = std::nullopt);
    // One integer in [low, high] for each layer: writers store it once or as a list. Without a fallback (one number for
    // each layer) the key is required.
    std::vector<int> perLayer(std::string_view suffix, std::int64_t low, std::int64_t high,
                              const std::vector<int> &fallback = {});
    // A finite float.
    float real(std::string_view suffix, std::optional<double> fallback = std::nullopt);
    std::string text(std::string_view suffix, std::string_view fallback);

    // Keys without the architecture in front.
    std::uint64_t fileNumber(std::string_view key, std::uint64_t fallback);
    std::string fileText(std::string_view key, std::string_view fallback);

    void refuse(ErrorCode code, const std::string &key, const std::string &message, std::string remedy = {});
    bool isSound() const { return !m_error; }
    const std::optional<Error> &error() const { return m_error; }

private:
    std::optional<std::uint64_t> numberOrList(const std::string &key);
    const std::vector<std::int64_t> *layerList(const std::string &key);
    int checked(const std::string &key, std::uint64_t value, std::int64_t low, std::int64_t high);
    template <class T>
    T keep(Result<T> value);

    const GgufFile &m_file;
    std::string m_architecture;
    std::size_t m_layers = 0;
    std::optional<Error> m_error;
};

// "path: subject: message. remedy"; a subject is "key llama.block_count" or "tensor output.weight".
Error fileError(const GgufFile &file, ErrorCode code, const std::string &subject, const std::string &message,
                std::string remedy = {});

} // namespace lectern
