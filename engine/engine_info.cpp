// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/cpu_features.h"
#include "engine/engine.h"

#include <sys/utsname.h>

namespace lectern {

std::string engineVersion()
{
    return LECTERN_VERSION;
}

MachineInfo describeMachine()
{
    MachineInfo machine;
    machine.cpu = cpuModelName();
    machine.cores = cpuCoreCount();
    machine.instructionSet = isaLevelName(bestIsaLevel());
    machine.memoryBytes = physicalMemoryBytes();
    utsname system{};
    if (uname(&system) == 0)
        machine.system = std::string(system.sysname) + " " + system.machine;
    return machine;
}

MemoryNeed memoryNeed(const ModelSpec &spec, int contextTokens, KvElement element)
{
    const KvLayout layout = KvLayout::of(spec, element);
    return {spec.weightBytes, layout.bytesPerToken(), layout.usedBytes(contextTokens)};
}

} // namespace lectern
