// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/kernels.h"

namespace lectern::cpu {

const Kernels &kernelsFor(IsaLevel level)
{
    switch (level) {
    case IsaLevel::Avx512:
        return kAvx512Kernels;
    case IsaLevel::Avx2:
        return kAvx2Kernels;
    case IsaLevel::Scalar:
        break;
    }
    return kScalarKernels;
}

} // namespace lectern::cpu
