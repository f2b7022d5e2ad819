// SPDX-License-Identifier: GPL-3.0-or-later
// lectern-cli: the engine without the window. Exit codes: 0 done, 1 failed, 2 wrong usage.
#include "engine/cli/command.h"

#include <csignal>
#include <exception>
#include <new>

namespace {

constexpr const char *kFooter = "Exit codes: 0 done, 1 failed, 2 wrong usage. Errors are one line on standard error.\n"
                                "\"lectern-cli COMMAND --help\" lists a command's options.";

// CLI11's own message would name neither the word nor the commands that there are.
std::string commandProblem(const CLI::App &program)
{
    std::string names;
    const std::vector<const CLI::App *> commands = program.get_subcommands([](const CLI::App *) { return true; });
    for (const CLI::App *command : commands)
        names += (names.empty() ? "" : command == commands.back() ? " or " : ", ") + command->get_name();
    const std::vector<std::string> words = program.remaining();
    if (words.empty())
        return "no command is given, expected " + names;
    return "\"" + words.front() + "\" is no command, expected " + names;
}

// CLI11's message for an option given twice is "At Most 1 required but received 2".
std::string argumentProblem(const CLI::App &command, const CLI::ParseError &error)
{
    for (const CLI::Option *option : command.get_options())
        if (option->get_items_expected_max() == 1 && option->count() > 1)
            return option->get_name() + ": given " + std::to_string(option->count()) + " times, expected once";
    return error.what();
}

} // namespace

int main(int argc, char **argv)
{
    using namespace lectern::cli;
    std::signal(SIGXFSZ, SIG_IGN); // a file above the shell's limit fails as any other that cannot be written
    CLI::App program{"Lectern's inference engine on the command line.", "lectern-cli"};
    program.set_version_flag("--version", "lectern-cli " + lectern::engineVersion());
    program.require_subcommand(1);
    program.option_defaults()->always_capture_default(); // shown by --help
    program.footer(kFooter);
    int exitCode = kOk;
    addTokenize(program, exitCode);
    addGenerate(program, exitCode);
    addLogits(program, exitCode);
    addBench(program, exitCode);
    addInspect(program, exitCode);
    try {
        program.parse(argc, argv);
    } catch (const CLI::Success &help) { // --help and --version
        return flushed(program.exit(help));
    } catch (const CLI::ParseError &error) {
        const bool hasCommand = !program.get_subcommands().empty();
        failed((hasCommand ? argumentProblem(*program.get_subcommands().front(), error) : commandProblem(program)) +
               " (see --help)");
        return kUsage;
    } catch (const std::bad_alloc &) {
        return failed("there is too little memory");
    } catch (const std::exception &error) {
        return failed(error.what());
    }
    return flushed(exitCode);
}
