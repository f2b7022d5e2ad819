// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/cpu_features.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

namespace lectern {

namespace {

IsaLevel detectIsaLevel()
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
    const bool hasAvx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512vnni");
    if (hasAvx2 && hasAvx512)
        return IsaLevel::Avx512;
    if (hasAvx2)
        return IsaLevel::Avx2;
#endif
    return IsaLevel::Scalar;
}

// "name : value" lines of /proc/cpuinfo and /proc/meminfo; "" if there is none of that name.
std::string procValue(const char *path, std::string_view name)
{
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos || !line.starts_with(name))
            continue;
        const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
        return begin == std::string::npos ? std::string() : line.substr(begin);
    }
    return {};
}

} // namespace

IsaLevel bestIsaLevel()
{
    static const IsaLevel machine = detectIsaLevel();
    const char *wish = std::getenv("LECTERN_ISA");
    const std::string_view text = wish ? wish : "";
    if (text == "scalar")
        return IsaLevel::Scalar;
    if (text == "avx2")
        return std::min(machine, IsaLevel::Avx2);
    return machine;
}

std::string_view isaLevelName(IsaLevel level)
{
    switch (level) {
    case IsaLevel::Avx512:
        return "AVX-512 VNNI";
    case IsaLevel::Avx2:
        return "AVX2";
    case IsaLevel::Scalar:
        break;
    }
    return "scalar";
}

std::string cpuModelName()
{
    return procValue("/proc/cpuinfo", "model name");
}

int cpuCoreCount()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

std::uint64_t physicalMemoryBytes()
{
    struct sysinfo info
    {
    };
    return sysinfo(&info) == 0 ? static_cast<std::uint64_t>(info.totalram) * info.mem_unit : 0;
}

std::uint64_t availableMemoryBytes()
{
    const std::string value = procValue("/proc/meminfo", "MemAvailable");
    return value.empty() ? 0 : std::strtoull(value.c_str(), nullptr, 10) * 1024; // "123 kB"
}

} // namespace lectern
