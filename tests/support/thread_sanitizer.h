// SPDX-License-Identifier: GPL-3.0-or-later
// For test programs that run threads under -fsanitize=thread. Qt and glib are not built for ThreadSanitizer: it does
// not see the locks that they use, and reports what these libraries do inside themselves. Only that is left out; code
// of ours that they call is checked. Include in one source file of the program.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" const char *__tsan_default_suppressions()
{
    return "called_from_lib:libglib-2.0.so\ncalled_from_lib:libQt6Core.so\ncalled_from_lib:libQt6Test.so\n";
}
#endif
