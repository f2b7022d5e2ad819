// SPDX-License-Identifier: GPL-3.0-or-later
// The tensor directory: names, shapes, types, and where the data lie. After these checks every range is aligned, inside
// the file and no tensor shares bytes with another.
#include "engine/base/utf8.h"
#include "engine/gguf/gguf_parser.h"
#include "engine/quant/quant_type.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace lectern {

namespace {

constexpr std::uint64_t kMaxNameBytes = 63; // ggml keeps names in 64 bytes with their terminator
constexpr std::uint32_t kMaxDimensions = 4;

std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t result;
    if (__builtin_mul_overflow(a, b, &result))
        return std::nullopt;
    return result;
}

tl::unexpected<Error> badTensor(const FileHandle &file, const std::string &name, const std::string &message,
                                std::string remedy = {})
{
    return fail(ErrorCode::BadFormat, "tensor " + printableText(name) + ": " + message, file.path().string(),
                std::move(remedy));
}

// Bytes of the tensor's data; 0 when the type is not known here.
Result<std::uint64_t> dataBytes(const FileHandle &file, const TensorInfo &tensor)
{
    std::optional<std::uint64_t> elements = 1;
    for (const std::uint64_t dimension : tensor.shape)
        elements = elements ? product(*elements, dimension) : elements;
    if (!elements || *elements > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return badTensor(file, tensor.name, "the shape " + shapeText(tensor.shape) + " is too large");

    const QuantType *type = findQuantType(tensor.typeId);
    if (!type)
        return 0;
    if (tensor.columns() % static_cast<std::uint64_t>(type->blockValues) != 0) {
        return badTensor(file, tensor.name,
                         "rows of " + std::to_string(tensor.columns()) + " values, " + type->name +
                             " needs a multiple of " + std::to_string(type->blockValues));
    }
    const std::optional<std::uint64_t> bytes = product(*elements / static_cast<std::uint64_t>(type->blockValues),
                                                       static_cast<std::uint64_t>(type->blockBytes));
    if (!bytes || *bytes > file.size()) {
        return badTensor(file, tensor.name,
                         "the shape " + shapeText(tensor.shape) + " is too large for a file of " +
                             std::to_string(file.size()) + " bytes",
                         "The file is incomplete or damaged: fetch it again");
    }
    return *bytes;
}

Result<TensorInfo> readTensorInfo(ByteCursor &cursor, const FileHandle &file)
{
    const std::uint64_t start = cursor.position();
    TensorInfo tensor;
    Result<std::string> name = cursor.string(kMaxNameBytes);
    if (!name)
        return within("tensor name", name.error());
    tensor.name = std::move(*name);
    if (tensor.name.empty())
        return fail(ErrorCode::BadFormat, "a tensor without a name at byte " + std::to_string(start),
                    file.path().string());
    const std::string place = "tensor " + printableText(tensor.name);

    const Result<std::uint32_t> dimensions = cursor.number<std::uint32_t>();
    if (!dimensions)
        return within(place, dimensions.error());
    if (*dimensions < 1 || *dimensions > kMaxDimensions) {
        return badTensor(file, tensor.name,
                         std::to_string(*dimensions) + " dimensions, " +
                             (*dimensions < 1 ? "at least 1 is needed" : "4 allowed"));
    }
    for (std::uint32_t i = 0; i < *dimensions; ++i) {
        const Result<std::uint64_t> dimension = cursor.number<std::uint64_t>();
        if (!dimension)
            return within(place, dimension.error());
        if (*dimension == 0)
            return badTensor(file, tensor.name, "dimension " + std::to_string(i) + " is 0");
        tensor.shape.push_back(*dimension);
    }

    const Result<std::uint32_t> type = cursor.number<std::uint32_t>();
    if (!type)
        return within(place, type.error());
    tensor.typeId = *type;
    const Result<std::uint64_t> offset = cursor.number<std::uint64_t>();
    if (!offset)
        return within(place, offset.error());
    tensor.fileOffset = *offset; // relative to the data until all descriptions are read
    const Result<std::uint64_t> bytes = dataBytes(file, tensor);
    if (!bytes)
        return tl::unexpected(bytes.error());
    tensor.bytes = *bytes;
    return tensor;
}

// Turns the offset into an absolute one and checks the range.
Result<void> place(TensorInfo &tensor, const FileHandle &file, std::uint64_t dataStart, std::uint64_t alignment)
{
    if (tensor.fileOffset % alignment != 0) {
        return badTensor(file, tensor.name,
                         "its offset " + std::to_string(tensor.fileOffset) + " is misaligned: no multiple of " +
                             std::to_string(alignment));
    }
    std::uint64_t begin;
    std::uint64_t end;
    if (__builtin_add_overflow(dataStart, tensor.fileOffset, &begin) ||
        __builtin_add_overflow(begin, tensor.bytes, &end))
        return badTensor(file, tensor.name, "its offset " + std::to_string(tensor.fileOffset) + " is too large");
    if (end > file.size()) {
        return fail(ErrorCode::BadFormat,
                    "tensor " + printableText(tensor.name) + " needs bytes " + std::to_string(begin) + " to " +
                        std::to_string(end) + ", file ends at " + std::to_string(file.size()),
                    file.path().string(), "The file is incomplete: fetch it again");
    }
    tensor.fileOffset = begin;
    return {};
}

Result<void> checkDisjoint(const std::vector<TensorInfo> &tensors, const FileHandle &file)
{
    std::vector<const TensorInfo *> order;
    for (const TensorInfo &tensor : tensors)
        order.push_back(&tensor);
    std::sort(order.begin(), order.end(), [](const TensorInfo *a, const TensorInfo *b) {
        return a->fileOffset != b->fileOffset ? a->fileOffset < b->fileOffset : a->bytes < b->bytes;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (order[i - 1]->fileOffset + order[i - 1]->bytes > order[i]->fileOffset) {
            return badTensor(file, order[i]->name,
                             "its data at byte " + std::to_string(order[i]->fileOffset) + " overlap those of tensor " +
                                 printableText(order[i - 1]->name));
        }
    }
    return {};
}

} // namespace

Result<std::vector<TensorInfo>> readTensorDirectory(ByteCursor &cursor, const FileHandle &file, std::uint64_t count,
                                                    std::uint64_t alignment, NameIndex &index)
{
    std::vector<TensorInfo> tensors;
    for (std::uint64_t i = 0; i < count; ++i) {
        Result<TensorInfo> tensor = readTensorInfo(cursor, file);
        if (!tensor)
            return tl::unexpected(tensor.error());
        if (!index.emplace(tensor->name, tensors.size()).second)
            return badTensor(file, tensor->name, "two tensors have this name");
        tensors.push_back(std::move(*tensor));
    }

    const std::uint64_t dataStart = (cursor.position() + alignment - 1) / alignment * alignment;
    for (TensorInfo &tensor : tensors) {
        if (Result<void> placed = place(tensor, file, dataStart, alignment); !placed)
            return tl::unexpected(placed.error());
    }
    if (Result<void> disjoint = checkDisjoint(tensors, file); !disjoint)
        return tl::unexpected(disjoint.error());
    return tensors;
}

} // namespace lectern
