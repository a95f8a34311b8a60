// Objects of the runtime that a program creates and has to destroy again. What is still there at the end is a leak.
#pragma once

namespace cpu_device {

enum class ObjectKind : unsigned char {
    stream,
    event,
    array,
    texture,
    surface,
    memory_pool,
    graph,
    executable_graph,
    profiler_range,
};

/// `code`: the program's call. Remembered while errors are looked for.
void note_created(ObjectKind kind, const void* handle, const void* code);
void note_destroyed(ObjectKind kind, const void* handle);
/// The device is reset: nothing exists any more.
void forget_objects();

/// Reports what was created and never destroyed, one diagnostic for each line that created it, once.
void report_leaked_objects();

}  // namespace cpu_device
