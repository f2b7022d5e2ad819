// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/pass_json.h"

#include "engine/trace/json_fields.h"

#include <array>
#include <map>
#include <tuple>

namespace lectern {

namespace {

struct NamedCost
{
    Operation operation;
    OperationCost cost;
};

// The whole numbers at the end of a row; nullopt when there are others than N or one is outside the limits.
template <std::size_t N>
std::optional<std::array<std::int64_t, N>> wholesOf(const Json &row, std::size_t first, const std::array<Limits, N> &of)
{
    if (!row.is_array() || row.size() != first + N)
        return std::nullopt;
    std::array<std::int64_t, N> numbers{};
    for (std::size_t i = 0; i < N; ++i) {
        const auto number = JsonObject::wholeOf(row[first + i]);
        if (!number || *number < of[i].min || *number > of[i].max)
            return std::nullopt;
        numbers[i] = *number;
    }
    return numbers;
}

std::optional<NamedCost> readCost(const JsonObject &pass, const Json &row)
{
    const auto amounts = wholesOf<3>(row, 1, {kOperationCosts, kOperationCosts, kOperationCosts});
    const auto operation =
        amounts && row[0].is_string() ? fromName<Operation>(row[0].get_ref<const std::string &>()) : std::nullopt;
    if (operation)
        return NamedCost{*operation,
                         {static_cast<std::uint64_t>((*amounts)[0]), static_cast<std::uint64_t>((*amounts)[1]),
                          static_cast<std::uint64_t>((*amounts)[2])}};
    pass.refuse("costs", "holds " + JsonObject::excerpt(row) +
                             ", expected [name of an operation, weightBytes, kvBytes, flops], each at most " +
                             std::to_string(kOperationCosts.max));
    return std::nullopt;
}

} // namespace

Json passToJson(const PassRecord &pass)
{
    Json json = Json::object();
    visitPass(pass, WriteFields{json});
    Json costs = Json::array();
    Json operations = Json::array();
    std::map<std::tuple<Operation, std::uint64_t, std::uint64_t, std::uint64_t>, std::size_t> indices;
    for (const OperationRecord &entry : pass.operations) {
        const auto &[weightBytes, kvBytes, flops] = entry.cost;
        const auto [found, isNew] = indices.try_emplace({entry.operation, weightBytes, kvBytes, flops}, costs.size());
        if (isNew)
            costs.push_back(Json::array({nameOf(entry.operation), weightBytes, kvBytes, flops}));
        operations.push_back(Json::array({found->second, entry.layer, entry.offsetNs, entry.ns}));
    }
    json["costs"] = std::move(costs);
    json["operations"] = std::move(operations);
    return json;
}

PassRecord readPass(const JsonObject &json)
{
    PassRecord pass;
    visitPass(pass, ReadFields{json});
    std::vector<NamedCost> costs;
    for (const Json &row : json.array("costs")) {
        const auto cost = readCost(json, row);
        if (!cost)
            return pass;
        costs.push_back(*cost);
    }
    const Limits indices{0, static_cast<std::int64_t>(costs.size()) - 1};
    for (const Json &row : json.array("operations")) {
        const auto numbers = wholesOf<4>(row, 0, {indices, kAnyInt, kRunNs, kRunNs});
        if (!numbers) {
            json.refuse("operations", "holds " + JsonObject::excerpt(row) + ", expected [row of costs below " +
                                          std::to_string(costs.size()) + ", layer, offsetNs, ns]");
            break;
        }
        const auto [index, layer, offsetNs, ns] = *numbers;
        const auto &[operation, cost] = costs[static_cast<std::size_t>(index)];
        pass.operations.push_back({operation, static_cast<int>(layer), offsetNs, ns, cost});
    }
    return pass;
}

} // namespace lectern
