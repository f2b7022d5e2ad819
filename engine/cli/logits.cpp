// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/file.h"
#include "engine/base/interrupt.h"
#include "engine/cli/command.h"

#include <bit>

namespace lectern::cli {

namespace {

struct Options
{
    ModelOptions model;
    std::vector<TokenId> ids;
    std::string out;
};

int run(const Options &options)
{
    static_assert(std::endian::native == std::endian::little); // the file's byte order
    if (const Result<void> writable = checkWritable(options.out); !writable)
        return failed(writable.error());
    StopFlag stop;
    const Interrupt interrupt([&stop] { stop.request(); });
    SilentSink sink;
    Engine engine;
    if (const auto loaded = engine.load(options.model.model, options.model.loadOptions(), sink, stop); !loaded)
        return failed(loaded.error());
    const Result<std::vector<float>> logits = engine.logits(options.ids, stop);
    if (!logits)
        return failed(logits.error());
    const std::string_view bytes(reinterpret_cast<const char *>(logits->data()), logits->size() * sizeof(float));
    if (const Result<void> written = writeFileAtomically(options.out, bytes); !written)
        return failed(written.error());
    return kOk;
}

} // namespace

void addLogits(CLI::App &program, int &exitCode)
{
    CLI::App *command = program.add_subcommand("logits", "Write the logits after the last of some token ids");
    const auto options = std::make_shared<Options>();
    addModelOption(*command, options->model);
    addBackendOptions(*command, options->model);
    addIdsOption(*command, options->ids, "Token ids, separated by commas")->required();
    command->add_option("--out", options->out, "File for the raw little-endian float32 values")
        ->required()
        ->type_name("FILE")
        ->check(someText());
    command->callback([=, &exitCode] { exitCode = run(*options); });
}

} // namespace lectern::cli
