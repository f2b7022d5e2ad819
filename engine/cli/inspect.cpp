// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "engine/cli/command.h"
#include "engine/engine_load.h"
#include "engine/quant/quant_type.h"
#include "engine/trace/json.h"

#include <cstdio>

namespace lectern::cli {

namespace {

constexpr std::size_t kShownElements = 8; // of a long list
constexpr std::size_t kShownBytes = 400;  // of a long text

struct Options
{
    std::string model;
    int contextTokens = 0;
    bool asJson = false;
};

std::string shown(std::string_view text)
{
    return printableText(text, kShownBytes);
}

struct ValueToJson
{
    Json operator()(const std::string &text) const { return shown(text); }

    template <class T>
    Json operator()(const std::vector<T> &list) const
    {
        Json first = Json::array();
        for (std::size_t i = 0; i < std::min(list.size(), kShownElements); ++i) {
            const T element = list[i];
            first.push_back((*this)(element));
        }
        return {{"count", list.size()}, {"first", std::move(first)}};
    }

    template <class T>
    Json operator()(const T &number) const
    {
        return number;
    }
};

// The whole file is described, also one that cannot be run: `model` or `tokenizer` is an error then.
Json describe(const GgufFile &file, const Result<Model> &model, const Result<std::unique_ptr<Tokenizer>> &tokenizer,
              int contextTokens)
{
    Json json = {{"file", shown(file.path().string())}, {"fileBytes", file.fileBytes()}, {"version", file.version()}};
    json["runs"] = model.has_value() && tokenizer.has_value();
    if (!model || !tokenizer)
        json["problem"] = shown((model ? tokenizer.error() : model.error()).text());
    json["warnings"] = Json::array();
    if (tokenizer)
        for (const FileWarning &warning : (*tokenizer)->vocabulary().warnings)
            json["warnings"].push_back(shown(warning.text));
    if (model) {
        const ModelSpec &spec = model->spec;
        json["shape"] = {{"name", shown(spec.name)},
                         {"architecture", spec.architecture->name},
                         {"quantisation", spec.quantisation},
                         {"parameters", spec.parameters},
                         {"layers", spec.layerCount()},
                         {"width", spec.width},
                         {"heads", spec.widest(&LayerSpec::heads)},
                         {"kvHeads", spec.widest(&LayerSpec::kvHeads)},
                         {"headSize", spec.widest(&LayerSpec::keySize)},
                         {"feedForward", spec.widest(&LayerSpec::feedForward)},
                         {"vocabulary", spec.vocabulary},
                         {"contextLength", spec.contextLength},
                         {"ropeDims", spec.widest(&LayerSpec::ropeDims)},
                         {"ropeBase", spec.layers[0].ropeBase},
                         {"normEpsilon", spec.normEpsilon},
                         {"tiedOutput", spec.hasTiedOutput}};
        const MemoryNeed need =
            memoryNeed(spec, contextTokens > 0 ? contextTokens : spec.contextLength, KvElement::F16);
        json["memory"] = {{"weightBytes", need.weightBytes},
                          {"kvBytesPerToken", need.kvBytesPerToken},
                          {"contextTokens", contextTokens > 0 ? contextTokens : spec.contextLength},
                          {"kvBytes", need.kvBytes},
                          {"totalBytes", need.weightBytes + need.kvBytes}};
    }
    json["metadata"] = Json::object();
    for (const GgufEntry &entry : file.entries())
        json["metadata"][shown(entry.key)] = std::visit(ValueToJson{}, entry.value);
    json["tensors"] = Json::array();
    for (const TensorInfo &tensor : file.tensors())
        json["tensors"].push_back({{"name", shown(tensor.name)},
                                   {"type", ggmlTypeName(tensor.typeId)},
                                   {"shape", tensor.shape},
                                   {"bytes", tensor.bytes},
                                   {"offset", tensor.fileOffset}});
    return json;
}

void printFields(const Json &object)
{
    for (const auto &[key, value] : object.items())
        print("  " + key + ": " + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n");
}

void printText(const Json &json)
{
    for (const char *section : {"shape", "memory", "metadata"}) {
        if (!json.contains(section))
            continue;
        print(std::string(section) + "\n");
        printFields(json[section]);
    }
    print("tensors\n");
    for (const Json &tensor : json["tensors"]) {
        char line[160];
        std::snprintf(line, sizeof line, "  %-32.64s %-8.16s %-24.40s %12llu bytes\n",
                      tensor["name"].get<std::string>().c_str(), tensor["type"].get<std::string>().c_str(),
                      tensor["shape"].dump().c_str(), tensor["bytes"].get<unsigned long long>());
        print(line);
    }
    if (!json["warnings"].empty())
        print("warnings\n");
    for (const Json &warning : json["warnings"])
        print("  " + warning.get<std::string>() + "\n");
    if (json.contains("problem"))
        print("cannot be run: " + json["problem"].get<std::string>() + "\n");
}

int run(const Options &options)
{
    Result<GgufFile> opened = GgufFile::open(options.model);
    if (!opened)
        return failed(opened.error());
    const auto file = std::make_shared<const GgufFile>(std::move(*opened));
    const Result<Model> model = openModel(file);
    if (model)
        if (const auto context = chooseContextTokens(model->spec, options.contextTokens); !context)
            return failed(context.error());
    const Json json = describe(*file, model, loadTokenizer(*file), options.contextTokens);
    if (options.asJson)
        print(json.dump() + "\n");
    else
        printText(json);
    return kOk;
}

} // namespace

void addInspect(CLI::App &program, int &exitCode)
{
    CLI::App *command = program.add_subcommand("inspect", "Show what a model file holds and the memory that it needs");
    const auto options = std::make_shared<Options>();
    command->add_option("--model", options->model, "GGUF model file")->required()->type_name("FILE");
    command
        ->add_option("--context", options->contextTokens,
                     "Tokens to state the KV cache's memory for; 0: the model's context")
        ->type_name("N")
        ->check(wholeNumber(0, kMaxContextTokens));
    command->add_flag("--json", options->asJson, "Print one JSON object");
    command->callback([=, &exitCode] { exitCode = run(*options); });
}

} // namespace lectern::cli
