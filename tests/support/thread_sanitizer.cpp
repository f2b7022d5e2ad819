// SPDX-License-Identifier: GPL-3.0-or-later
// Part of every test program built with -fsanitize=thread. Qt and glib are not built for ThreadSanitizer: it does not
// see the locks that they use, and reports what these libraries do inside themselves (such as the watchdog thread of
// Qt Test). Only that is left out; code of ours that they call is checked.
extern "C" const char *__tsan_default_suppressions();

const char *__tsan_default_suppressions()
{
    return "called_from_lib:libglib-2.0.so\ncalled_from_lib:libQt6Core.so\ncalled_from_lib:libQt6Test.so\n";
}
