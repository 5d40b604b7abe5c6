/*
 * The C interface of wavelift, which runs AMD GCN machine code on a CPU.
 *
 * Written by cbindgen from capi/src; see docs/c.md for a tutorial.
 *
 * Results. Nearly all functions return a wavelift_status. After a failure, wavelift_error_message and
 * wavelift_error_fault tell this thread more; results are then not written. Functions never end the
 * program, and no C++ or Rust exception leaves them.
 *
 * Handles. An object is named by a structure with a number. `{0}` names none. A handle that is null,
 * that was destroyed or that is of another type gives WAVELIFT_INVALID_HANDLE; only the functions that
 * destroy accept the null handle, and do nothing. Objects keep what they depend on, so the order in
 * which handles are destroyed does not matter.
 *
 * Threads. All functions may be called from any thread, with the same handles at the same time.
 *
 * Structures that begin with `size` may get more fields at their end. A program sets `size` to the
 * structure's sizeof and all other fields to zero, and then those that it needs:
 *
 *     wavelift_launch_options options = {.size = sizeof options, .grid = {1000}, .block = {256}};
 *
 * Texts are UTF-8 with a zero at the end.
 *
 * Duties of the caller: a pointer that is not NULL is valid for what the function does with it. Texts,
 * arrays and structures do not change during a call. The data of copies are not memory of the device,
 * and do not overlap the buffer. The library may be called in a process created by fork only before the
 * parent has called it.
 */


#ifndef WAVELIFT_H
#define WAVELIFT_H

#include <stddef.h>
#include <stdint.h>

/**
 * The version of the interface that this header describes. It changes when a program must be
 * compiled again; functions, and fields at the end of structures, may be added without.
 */
#define WAVELIFT_ABI_VERSION 1

/**
 * Flag of `wavelift_device_options`: report accesses outside the exact allocation, and reads of LDS
 * and scratch that were never written. Slow.
 */
#define WAVELIFT_MEMCHECK 1

/**
 * Flag of `wavelift_device_options`: NaN results of the translator have the payload and sign of the
 * interpreter's.
 */
#define WAVELIFT_EXACT_NAN 2

/**
 * Flag of `wavelift_device_options`: an instruction that the translator would hand to the interpreter
 * is a fault instead.
 */
#define WAVELIFT_NO_FALLBACK 4

/**
 * Flag of `wavelift_device_options`: nothing but a launch writes to the memory that it polls. Then a
 * launch that waits for itself ends in a fault after some seconds.
 */
#define WAVELIFT_DETECT_DEADLOCKS 8

/**
 * Flag of disassemblies: each line ends with its address.
 */
#define WAVELIFT_ADDRESSES 1

/**
 * Flag of disassemblies: each line ends with its bytes.
 */
#define WAVELIFT_BYTES 2

/**
 * Flag of `wavelift_launch_options`: count instructions for `wavelift_stats`. Slower.
 */
#define WAVELIFT_COUNT 1

/**
 * A time that does not end, for `wavelift_event_wait`.
 */
#define WAVELIFT_FOREVER UINT64_MAX

/**
 * Result of a function.
 */
typedef enum wavelift_status {
    /**
     * Success.
     */
    WAVELIFT_OK = 0,
    /**
     * The time of a wait is over, and the launch has not ended. No error: the message of the thread
     * is not changed.
     */
    WAVELIFT_NOT_DONE = 1,
    /**
     * A pointer is NULL, a text is not UTF-8, a name is unknown, a size or a flag is impossible.
     */
    WAVELIFT_INVALID_ARGUMENT = 2,
    /**
     * A handle is null, of another type, or its object was destroyed.
     */
    WAVELIFT_INVALID_HANDLE = 3,
    /**
     * There is no kernel, argument, variable or fault of this name or number.
     */
    WAVELIFT_NOT_FOUND = 4,
    /**
     * The caller's memory is too small for a text.
     */
    WAVELIFT_TOO_SMALL = 5,
    /**
     * An offset or an address is outside a buffer, or outside the memory of the device.
     */
    WAVELIFT_OUT_OF_RANGE = 6,
    /**
     * The operating system refuses: a file cannot be read, a thread cannot be started.
     */
    WAVELIFT_SYSTEM = 7,
    /**
     * A file is no code object, or has none for a target that can run.
     */
    WAVELIFT_BAD_CODE = 8,
    /**
     * A source was not compiled; the message has the compiler's output.
     */
    WAVELIFT_COMPILE = 9,
    /**
     * The engine is not available, or cannot have these options.
     */
    WAVELIFT_ENGINE = 10,
    /**
     * The device has not that much memory left.
     */
    WAVELIFT_OUT_OF_MEMORY = 11,
    /**
     * Grid, block or arguments do not suit the kernel; nothing has run.
     */
    WAVELIFT_BAD_LAUNCH = 12,
    /**
     * The kernel did wrong, or ran longer than its time limit: see `wavelift_error_fault`.
     */
    WAVELIFT_FAULT = 13,
    /**
     * The launch was cancelled.
     */
    WAVELIFT_CANCELLED = 14,
    /**
     * A launch on a stream was not run, since an earlier one failed; the message has its error, and
     * `wavelift_error_fault` its fault.
     */
    WAVELIFT_NOT_RUN = 15,
    /**
     * An error in wavelift itself; please report the message.
     */
    WAVELIFT_INTERNAL = 16,
} wavelift_status;

/**
 * Kind of a fault.
 */
typedef enum wavelift_fault_kind {
    /**
     * No fault: the structure is empty.
     */
    WAVELIFT_FAULT_NONE = 0,
    /**
     * An access outside memory, or, with `WAVELIFT_MEMCHECK`, outside the exact allocation.
     */
    WAVELIFT_FAULT_MEMORY = 1,
    /**
     * A write to memory that kernels may only read: their code and their arguments.
     */
    WAVELIFT_FAULT_READ_ONLY = 2,
    /**
     * A misaligned access that the hardware refuses.
     */
    WAVELIFT_FAULT_MISALIGNED = 3,
    /**
     * LDS or scratch was read before it was written (`WAVELIFT_MEMCHECK`).
     */
    WAVELIFT_FAULT_UNINITIALIZED = 4,
    /**
     * An access outside LDS or scratch, where that is an error.
     */
    WAVELIFT_FAULT_OUTSIDE_PRIVATE = 5,
    /**
     * The bytes at the PC are no instruction of the target.
     */
    WAVELIFT_FAULT_ILLEGAL_INSTRUCTION = 6,
    /**
     * A valid instruction or mode that wavelift does not run.
     */
    WAVELIFT_FAULT_UNSUPPORTED = 7,
    /**
     * The kernel stopped itself (`s_trap`).
     */
    WAVELIFT_FAULT_TRAP = 8,
    /**
     * The launch ran longer than its time limit.
     */
    WAVELIFT_FAULT_TIMEOUT = 9,
    /**
     * The launch waits for itself (`WAVELIFT_DETECT_DEADLOCKS`).
     */
    WAVELIFT_FAULT_DEADLOCK = 10,
    /**
     * The launch waits for workgroups that cannot begin for want of memory.
     */
    WAVELIFT_FAULT_NO_ROOM_TO_WAIT = 11,
    /**
     * Memory behind a buffer was written. Found after the launch, so that no instruction is known.
     */
    WAVELIFT_FAULT_OVERRUN = 12,
} wavelift_fault_kind;

/**
 * Kind of an access.
 */
typedef enum wavelift_access {
    /**
     * The fault is not about an access.
     */
    WAVELIFT_ACCESS_NONE = 0,
    /**
     * A load.
     */
    WAVELIFT_ACCESS_READ = 1,
    /**
     * A store.
     */
    WAVELIFT_ACCESS_WRITE = 2,
    /**
     * A read-modify-write.
     */
    WAVELIFT_ACCESS_ATOMIC = 3,
    /**
     * An instruction fetch.
     */
    WAVELIFT_ACCESS_EXECUTE = 4,
} wavelift_access;

/**
 * Kind of a parameter.
 */
typedef enum wavelift_parameter_kind {
    /**
     * Another kind: see `kind_name`.
     */
    WAVELIFT_PARAMETER_OTHER = 0,
    /**
     * A number, an array or a structure by value.
     */
    WAVELIFT_PARAMETER_VALUE = 1,
    /**
     * A pointer to memory.
     */
    WAVELIFT_PARAMETER_POINTER = 2,
    /**
     * A pointer to LDS, whose size the launch gives.
     */
    WAVELIFT_PARAMETER_LOCAL = 3,
    /**
     * The address of an image descriptor.
     */
    WAVELIFT_PARAMETER_IMAGE = 4,
    /**
     * The address of a sampler descriptor.
     */
    WAVELIFT_PARAMETER_SAMPLER = 5,
    /**
     * The library gives it.
     */
    WAVELIFT_PARAMETER_HIDDEN = 6,
} wavelift_parameter_kind;

/**
 * Kind of an argument: `kind` of `wavelift_arg`.
 */
typedef enum wavelift_arg_kind {
    /**
     * The address of byte `value` of `buffer`. The launch keeps the buffer.
     */
    WAVELIFT_ARG_BUFFER = 1,
    /**
     * The first `bytes` bytes of `value`: a number of 1 to 8 bytes.
     */
    WAVELIFT_ARG_NUMBER = 2,
    /**
     * The `bytes` bytes at `data`: an array or a structure by value.
     */
    WAVELIFT_ARG_BYTES = 3,
    /**
     * The address `value`. Nothing keeps the memory there.
     */
    WAVELIFT_ARG_POINTER = 4,
    /**
     * A pointer to `value` bytes of LDS.
     */
    WAVELIFT_ARG_LOCAL = 5,
    /**
     * The whole kernarg segment, `bytes` bytes at `data`, hidden arguments included. It is the only
     * argument; addresses in it keep nothing.
     */
    WAVELIFT_ARG_SEGMENT = 6,
} wavelift_arg_kind;

/**
 * What a kernel did wrong, and where. The texts are valid as long as that of
 * `wavelift_error_message`.
 */
typedef struct wavelift_fault {
    /**
     * `sizeof(wavelift_fault)`.
     */
    size_t size;
    /**
     * Its kind by name, such as `"memory"`.
     */
    const char *kind_name;
    /**
     * The whole message, of several lines.
     */
    const char *message;
    /**
     * Name of the kernel.
     */
    const char *kernel;
    /**
     * The instruction as LLVM prints it; empty if it is not known.
     */
    const char *instruction;
    /**
     * The function that the PC is in; NULL if that is not known.
     */
    const char *function;
    /**
     * Distance of the PC from the beginning of the function, in bytes.
     */
    uint64_t function_offset;
    /**
     * Address of the instruction in the code object, as in a disassembly.
     */
    uint64_t pc;
    /**
     * EXEC at the instruction.
     */
    uint64_t exec;
    /**
     * First byte of the access, as kernels see it; 0 unless `has_address`.
     */
    uint64_t address;
    /**
     * Its kind.
     */
    enum wavelift_fault_kind kind;
    /**
     * Kind of the access.
     */
    enum wavelift_access access;
    /**
     * Size of the access in bytes; 0 if the fault is not about an access.
     */
    uint32_t bytes;
    /**
     * 1 if `address` is one, otherwise 0.
     */
    uint32_t has_address;
    /**
     * 1 if the instruction is known. Otherwise only the kernel is known: instruction, PC,
     * workgroup, wave, lane and EXEC are empty.
     */
    uint32_t has_place;
    /**
     * Number of the workgroup in each dimension.
     */
    uint32_t workgroup[3];
    /**
     * Number of the wave in the workgroup.
     */
    uint32_t wave;
    /**
     * Number of the lane in the wave; -1 for an instruction that is not executed by lane.
     */
    int32_t lane;
} wavelift_fault;

/**
 * Options of a device. All zero but `size` are the defaults.
 */
typedef struct wavelift_device_options {
    /**
     * `sizeof(wavelift_device_options)`.
     */
    size_t size;
    /**
     * The engine, by name (`wavelift_engine_name`); NULL is the default.
     */
    const char *engine;
    /**
     * A folder that keeps translated code for other processes, or NULL. It must be as trustworthy as
     * the program.
     */
    const char *cache;
    /**
     * Time limit of a launch in nanoseconds; 0 is none.
     */
    uint64_t timeout_ns;
    /**
     * Address space that is reserved for the memory of the device, in bytes; 0 is the default.
     */
    uint64_t reserve;
    /**
     * Worker threads; 0 is one for each processor.
     */
    uint32_t threads;
    /**
     * Stack of a work-item in bytes, in addition to the scratch that a kernel states; 0 is the default:
     * 16 KiB for kernels that declare a dynamic stack, and none for others.
     */
    uint32_t stack_bytes;
    /**
     * Flags: `WAVELIFT_MEMCHECK` and others.
     */
    uint32_t flags;
    /**
     * Zero.
     */
    uint32_t reserved;
} wavelift_device_options;

/**
 * A device: memory and an engine. `{0}` is no device, and likewise for the other handles.
 */
typedef struct wavelift_device {
    /**
     * The number of the object.
     */
    uint64_t handle;
} wavelift_device;

/**
 * Memory that kernels access: the device's, or the caller's.
 */
typedef struct wavelift_buffer {
    /**
     * The number of the object.
     */
    uint64_t handle;
} wavelift_buffer;

/**
 * A code object that is loaded into the memory of a device.
 */
typedef struct wavelift_module {
    /**
     * The number of the object.
     */
    uint64_t handle;
} wavelift_module;

/**
 * A kernel of a module.
 */
typedef struct wavelift_kernel {
    /**
     * The number of the object.
     */
    uint64_t handle;
} wavelift_kernel;

/**
 * Registers and memory of a kernel, as compiled.
 */
typedef struct wavelift_kernel_info {
    /**
     * `sizeof(wavelift_kernel_info)`.
     */
    size_t size;
    /**
     * Its name. Valid until the handle of the kernel is destroyed.
     */
    const char *name;
    /**
     * Number of arguments that a launch gives; 0 without metadata.
     */
    uint32_t arg_count;
    /**
     * Number of arguments that the library adds.
     */
    uint32_t hidden_count;
    /**
     * Allocated VGPRs of a lane.
     */
    uint32_t vgprs;
    /**
     * Allocated SGPRs of a wave, VCC and the like included.
     */
    uint32_t sgprs;
    /**
     * VGPRs that the compiler spilled to scratch.
     */
    uint32_t vgpr_spills;
    /**
     * SGPRs that the compiler spilled.
     */
    uint32_t sgpr_spills;
    /**
     * Static LDS of a workgroup in bytes.
     */
    uint32_t lds_bytes;
    /**
     * Scratch of a work-item in bytes.
     */
    uint32_t scratch_bytes;
    /**
     * 1 if the kernel needs more scratch, for a stack whose size the compiler does not know; otherwise 0.
     */
    uint32_t dynamic_stack;
    /**
     * Size of the kernarg segment in bytes.
     */
    uint32_t kernarg_bytes;
    /**
     * The largest number of work-items in a workgroup; 0 if the code object does not tell.
     */
    uint32_t max_workgroup;
    /**
     * The only workgroup size that is allowed; zeros if any is.
     */
    uint32_t required_workgroup[3];
    /**
     * 1 if the code object has metadata for the kernel. Without it, a launch gives the whole kernarg
     * segment (`wavelift_arg_segment`).
     */
    uint32_t has_metadata;
    /**
     * Zero.
     */
    uint32_t reserved;
} wavelift_kernel_info;

/**
 * A parameter of a kernel. The texts are valid until the handle of the kernel is destroyed.
 */
typedef struct wavelift_parameter {
    /**
     * `sizeof(wavelift_parameter)`.
     */
    size_t size;
    /**
     * Its name in the source; NULL if the compiler left it out.
     */
    const char *name;
    /**
     * Its type in the source, such as `"float*"`; NULL if the compiler left it out.
     */
    const char *type_name;
    /**
     * Its kind in the metadata, such as `"global_buffer"`.
     */
    const char *kind_name;
    /**
     * `"global"`, `"local"` and so on; NULL for values.
     */
    const char *address_space;
    /**
     * Its kind.
     */
    enum wavelift_parameter_kind kind;
    /**
     * Its place in the kernarg segment in bytes.
     */
    uint32_t offset;
    /**
     * Its size in bytes.
     */
    uint32_t bytes;
    /**
     * 1 if the kernel only reads what it points to, as far as the metadata says.
     */
    uint32_t read_only;
} wavelift_parameter;

/**
 * Stops launches before their end.
 */
typedef struct wavelift_cancel_token {
    /**
     * The number of the object.
     */
    uint64_t handle;
} wavelift_cancel_token;

/**
 * How a launch is made. All zero but `size` and `grid` are the defaults.
 */
typedef struct wavelift_launch_options {
    /**
     * `sizeof(wavelift_launch_options)`.
     */
    size_t size;
    /**
     * Work-items in each dimension (not workgroups). Zeros at the end are dimensions that the launch
     * does not have.
     */
    uint32_t grid[3];
    /**
     * Work-items of a workgroup in each dimension; 0 is 1. The last workgroup of a dimension may be
     * partial.
     */
    uint32_t block[3];
    /**
     * The first global id in each dimension, as OpenCL's global work offset.
     */
    uint64_t global_offset[3];
    /**
     * Time limit in nanoseconds; 0 is that of the device.
     */
    uint64_t timeout_ns;
    /**
     * Stops the launch when it is cancelled; `{0}` for none.
     */
    struct wavelift_cancel_token cancel;
    /**
     * Bytes of LDS in addition to those of the kernel and of its arguments.
     */
    uint32_t dynamic_lds;
    /**
     * Flags: 0 or `WAVELIFT_COUNT`.
     */
    uint32_t flags;
} wavelift_launch_options;

/**
 * An argument of a launch. The functions `wavelift_arg_...` make them.
 */
typedef struct wavelift_arg {
    /**
     * A `wavelift_arg_kind`.
     */
    uint32_t kind;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * The buffer.
     */
    struct wavelift_buffer buffer;
    /**
     * The number, the offset, the address or the size.
     */
    uint64_t value;
    /**
     * The bytes. They are copied by the launch.
     */
    const void *data;
    /**
     * Number of bytes.
     */
    size_t bytes;
} wavelift_arg;

/**
 * What a launch did.
 */
typedef struct wavelift_stats {
    /**
     * `sizeof(wavelift_stats)`.
     */
    size_t size;
    /**
     * Workgroups that ran.
     */
    uint64_t workgroups;
    /**
     * Waves that ran.
     */
    uint64_t waves;
    /**
     * Instructions that waves executed; 0 without `WAVELIFT_COUNT`.
     */
    uint64_t instructions;
    /**
     * The same, each counted once for every active lane (scalar instructions once).
     */
    uint64_t lane_instructions;
    /**
     * Regions of code that were translated.
     */
    uint64_t regions_translated;
    /**
     * Instructions in them.
     */
    uint64_t instructions_translated;
    /**
     * Executions of instructions that the translator handed to the interpreter.
     */
    uint64_t fallbacks;
    /**
     * Seconds of translation.
     */
    double translate_seconds;
    /**
     * Seconds from the first wave's start to the last one's end, translation included.
     */
    double execute_seconds;
} wavelift_stats;

/**
 * A queue of launches that run one after the other while the caller goes on.
 */
typedef struct wavelift_stream {
    /**
     * The number of the object.
     */
    uint64_t handle;
} wavelift_stream;

/**
 * The end of a launch on a stream.
 */
typedef struct wavelift_event {
    /**
     * The number of the object.
     */
    uint64_t handle;
} wavelift_event;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the interface that the library has: `WAVELIFT_ABI_VERSION` of the header that it was
 * built with.
 */
uint32_t wavelift_abi_version(void);

/**
 * The version of the library, such as `"0.1.0"`. The text is valid for ever.
 */
const char *wavelift_version(void);

/**
 * Name of the engine with this number, from 0 (the default): `"jit"` translates, `"interp"` interprets.
 * NULL after the last one. The text is valid for ever.
 */
const char *wavelift_engine_name(size_t index);

/**
 * Name of the target with this number, from 0, such as `"gfx900"`: code objects for it can be loaded.
 * NULL after the last one. The text is valid for ever.
 */
const char *wavelift_target_name(size_t index);

/**
 * The message of the last call that failed on this thread, in UTF-8; empty if none has. The text is
 * valid until another call fails on this thread, or the thread ends. Calls that succeed leave it.
 */
const char *wavelift_error_message(void);

/**
 * A status in a few words, such as `"invalid handle"`; `"unknown status"` for other numbers. The text
 * is valid for ever.
 */
const char *wavelift_status_name(uint32_t status);

/**
 * The fault of the last call that failed on this thread, if that was `WAVELIFT_FAULT`, or
 * `WAVELIFT_NOT_RUN` because of one. Otherwise the result is `WAVELIFT_NOT_FOUND`, and the message of the
 * thread is not changed.
 */
enum wavelift_status wavelift_error_fault(struct wavelift_fault *fault);

/**
 * Makes a device. `options` may be NULL.
 */
enum wavelift_status wavelift_device_create(const struct wavelift_device_options *options,
                                            struct wavelift_device *device);

/**
 * Ends the handle of a device. Modules, kernels, buffers and streams of it remain valid; the device
 * is freed with the last of them.
 */
enum wavelift_status wavelift_device_destroy(struct wavelift_device device);

/**
 * Copies `bytes` bytes at `address` in the memory of the device, or in registered memory, to `data`.
 */
enum wavelift_status wavelift_device_read(struct wavelift_device device,
                                          uint64_t address,
                                          void *data,
                                          size_t bytes);

/**
 * Copies `bytes` bytes from `data` to `address` in the memory of the device, or in registered memory.
 */
enum wavelift_status wavelift_device_write(struct wavelift_device device,
                                           uint64_t address,
                                           const void *data,
                                           size_t bytes);

/**
 * Makes a buffer of `bytes` bytes in the memory of the device, with the contents of `data`, or of zeros
 * if `data` is NULL. It is aligned to 256 bytes.
 */
enum wavelift_status wavelift_buffer_create(struct wavelift_device device,
                                            const void *data,
                                            size_t bytes,
                                            struct wavelift_buffer *buffer);

/**
 * Makes a buffer of the caller's `bytes` bytes at `memory`, which kernels access in place at the same
 * address, without a copy. Until `wavelift_buffer_destroy` has returned the memory must stay valid for
 * reads and writes, and the program accesses it only while no kernel does. Memory that is registered
 * with the device already is refused. The end of the buffer is exact: a kernel that reads the last
 * bytes as a whole dword needs a multiple of four bytes.
 */
enum wavelift_status wavelift_buffer_register(struct wavelift_device device,
                                              void *memory,
                                              size_t bytes,
                                              struct wavelift_buffer *buffer);

/**
 * Ends a buffer. Memory of the device is freed with the last launch that has it as an argument. For
 * memory of the caller, waits for all launches on the device that have begun or are queued; then
 * nothing accesses the memory any more.
 */
enum wavelift_status wavelift_buffer_destroy(struct wavelift_buffer buffer);

/**
 * Address and size in bytes of a buffer, for kernels. Either may be NULL.
 */
enum wavelift_status wavelift_buffer_info(struct wavelift_buffer buffer,
                                          uint64_t *address,
                                          uint64_t *bytes);

/**
 * Copies `bytes` bytes of a buffer, from byte `offset` on, to `data`. Does not wait for launches.
 */
enum wavelift_status wavelift_buffer_read(struct wavelift_buffer buffer,
                                          uint64_t offset,
                                          void *data,
                                          size_t bytes);

/**
 * Copies `bytes` bytes from `data` to a buffer, from byte `offset` on. Does not wait for launches.
 */
enum wavelift_status wavelift_buffer_write(struct wavelift_buffer buffer,
                                           uint64_t offset,
                                           const void *data,
                                           size_t bytes);

/**
 * Loads a code object of `bytes` bytes at `data`, which may be freed afterwards: an ELF file, an
 * offload bundle or a HIP program. `target`, such as `"gfx906"` or `"gfx906:xnack-"`, chooses from
 * several; NULL is for a file with one.
 */
enum wavelift_status wavelift_module_load(struct wavelift_device device,
                                          const void *data,
                                          size_t bytes,
                                          const char *target,
                                          struct wavelift_module *module);

/**
 * As `wavelift_module_load`, from a file.
 */
enum wavelift_status wavelift_module_load_file(struct wavelift_device device,
                                               const char *path,
                                               const char *target,
                                               struct wavelift_module *module);

/**
 * Compiles a source, OpenCL C (`.cl`) or HIP (`.hip`), by the clang or hipcc that is installed
 * (`WAVELIFT_CLANG` in the environment names one), and loads it. `target` is `"gfx906"` if NULL. What
 * was compiled is kept in the user's cache.
 */
enum wavelift_status wavelift_module_compile(struct wavelift_device device,
                                             const char *source,
                                             const char *target,
                                             struct wavelift_module *module);

/**
 * Ends the handle of a module. Its memory is freed with the last kernel of it and the last launch.
 */
enum wavelift_status wavelift_module_destroy(struct wavelift_module module);

/**
 * The target that a module was compiled for, such as `"gfx906:xnack-"`. The text is valid until the
 * handle of the module is destroyed.
 */
enum wavelift_status wavelift_module_target(struct wavelift_module module, const char **target);

/**
 * The warnings of the compiler, for a module of `wavelift_module_compile`; otherwise, and if the
 * source had been compiled before, empty. The text is valid until the handle of the module is
 * destroyed.
 */
enum wavelift_status wavelift_module_messages(struct wavelift_module module, const char **messages);

/**
 * Number of kernels of a module.
 */
enum wavelift_status wavelift_module_kernel_count(struct wavelift_module module, size_t *count);

/**
 * Name of the kernel with this number, from 0. The text is valid until the handle of the module is
 * destroyed.
 */
enum wavelift_status wavelift_module_kernel_name(struct wavelift_module module,
                                                 size_t index,
                                                 const char **name);

/**
 * The kernel of this name.
 */
enum wavelift_status wavelift_module_kernel(struct wavelift_module module,
                                            const char *name,
                                            struct wavelift_kernel *kernel);

/**
 * Address and size in bytes of a variable of the module; `wavelift_device_read` and
 * `wavelift_device_write` access it. Either may be NULL.
 */
enum wavelift_status wavelift_module_variable(struct wavelift_module module,
                                              const char *name,
                                              uint64_t *address,
                                              uint64_t *bytes);

/**
 * The disassembly of a module: assembler source in LLVM's syntax. `flags` are 0,
 * `WAVELIFT_ADDRESSES`, `WAVELIFT_BYTES` or both.
 *
 * `length` gets the length of the text without the zero at its end, `text` the text if its `capacity`
 * is larger than that. If `capacity` is 0, `text` may be NULL, and there is only the length; otherwise
 * `length` may be NULL.
 */
enum wavelift_status wavelift_module_disassemble(struct wavelift_module module,
                                                 uint32_t flags,
                                                 char *text,
                                                 size_t capacity,
                                                 size_t *length);

/**
 * As `wavelift_module_disassemble`, of one kernel with its descriptor.
 */
enum wavelift_status wavelift_kernel_disassemble(struct wavelift_kernel kernel,
                                                 uint32_t flags,
                                                 char *text,
                                                 size_t capacity,
                                                 size_t *length);

/**
 * Ends the handle of a kernel. Launches of it that are queued run.
 */
enum wavelift_status wavelift_kernel_destroy(struct wavelift_kernel kernel);

/**
 * Registers, memory and number of arguments of a kernel.
 */
enum wavelift_status wavelift_kernel_get_info(struct wavelift_kernel kernel,
                                              struct wavelift_kernel_info *info);

/**
 * The parameter of a kernel with this number: from 0 those that a launch gives (`arg_count`), then
 * those that the library adds (`hidden_count`).
 */
enum wavelift_status wavelift_kernel_get_parameter(struct wavelift_kernel kernel,
                                                   size_t index,
                                                   struct wavelift_parameter *parameter);

/**
 * Runs a kernel and waits for its end. `stats` may be NULL.
 */
enum wavelift_status wavelift_launch(struct wavelift_kernel kernel,
                                     const struct wavelift_launch_options *options,
                                     const struct wavelift_arg *args,
                                     size_t count,
                                     struct wavelift_stats *stats);

/**
 * A pointer to the beginning of a buffer.
 */
struct wavelift_arg wavelift_arg_buffer(struct wavelift_buffer buffer);

/**
 * A pointer to a byte of a buffer. The offset may be the size: then nothing is left behind it.
 */
struct wavelift_arg wavelift_arg_buffer_at(struct wavelift_buffer buffer, uint64_t offset);

/**
 * A number of 32 bits with a sign.
 */
struct wavelift_arg wavelift_arg_i32(int32_t value);

/**
 * A number of 32 bits.
 */
struct wavelift_arg wavelift_arg_u32(uint32_t value);

/**
 * A number of 64 bits with a sign.
 */
struct wavelift_arg wavelift_arg_i64(int64_t value);

/**
 * A number of 64 bits.
 */
struct wavelift_arg wavelift_arg_u64(uint64_t value);

/**
 * A `float`.
 */
struct wavelift_arg wavelift_arg_f32(float value);

/**
 * A `double`.
 */
struct wavelift_arg wavelift_arg_f64(double value);

/**
 * A value of another type, such as a structure: its `bytes` bytes at `data`. The launch copies them.
 */
struct wavelift_arg wavelift_arg_bytes(const void *data,
                                       size_t bytes);

/**
 * An address as kernels see it. Nothing keeps the memory there.
 */
struct wavelift_arg wavelift_arg_pointer(uint64_t address);

/**
 * A pointer to that many bytes of LDS.
 */
struct wavelift_arg wavelift_arg_local(uint32_t bytes);

/**
 * The whole kernarg segment, hidden arguments included, as the only argument. The launch copies it;
 * addresses in it keep no buffer.
 */
struct wavelift_arg wavelift_arg_segment(const void *data, size_t bytes);

/**
 * Makes a stream: a queue of launches that run in order, on a thread of its own. Launches of
 * different streams run at the same time.
 */
enum wavelift_status wavelift_stream_create(struct wavelift_device device,
                                            struct wavelift_stream *stream);

/**
 * Ends the handle of a stream. Does not wait: its launches run to their end.
 */
enum wavelift_status wavelift_stream_destroy(struct wavelift_stream stream);

/**
 * Queues a launch. What it uses (kernel, buffers, arguments) may be destroyed before it ends. `event`
 * gets its end, and may be NULL.
 *
 * A launch that does not suit its kernel is refused at once. When a launch fails, its event has the
 * error, and the stream has failed for good: later launches are not run (`WAVELIFT_NOT_RUN`).
 */
enum wavelift_status wavelift_stream_launch(struct wavelift_stream stream,
                                            struct wavelift_kernel kernel,
                                            const struct wavelift_launch_options *options,
                                            const struct wavelift_arg *args,
                                            size_t count,
                                            struct wavelift_event *event);

/**
 * Lets later launches of a stream begin after the launch of `event`, which may be of another stream
 * and of another device. If that launch fails, this stream has failed, too.
 */
enum wavelift_status wavelift_stream_wait_for(struct wavelift_stream stream,
                                              struct wavelift_event event);

/**
 * An event that is done when all launches so far have ended.
 */
enum wavelift_status wavelift_stream_record(struct wavelift_stream stream,
                                            struct wavelift_event *event);

/**
 * Waits until all launches so far have ended. The result is that of the first one that failed.
 */
enum wavelift_status wavelift_stream_synchronize(struct wavelift_stream stream);

/**
 * Waits for the end of a launch, for at most `timeout_ns` nanoseconds, or `WAVELIFT_FOREVER`. The
 * result is that of the launch, or `WAVELIFT_NOT_DONE` if it has not ended by then. `stats` may be NULL.
 */
enum wavelift_status wavelift_event_wait(struct wavelift_event event,
                                         uint64_t timeout_ns,
                                         struct wavelift_stats *stats);

/**
 * Has a launch ended? `done` becomes 1 if it has, also if it failed or was not run, otherwise 0.
 */
enum wavelift_status wavelift_event_query(struct wavelift_event event, uint32_t *done);

/**
 * Ends the handle of an event. The launch goes on.
 */
enum wavelift_status wavelift_event_destroy(struct wavelift_event event);

/**
 * Makes a cancel token, for any number of launches.
 */
enum wavelift_status wavelift_cancel_token_create(struct wavelift_cancel_token *token);

/**
 * Cancels all launches that have the token, from any thread. Returns at once; they end soon afterwards
 * with `WAVELIFT_CANCELLED`, and what their workgroups have written stays.
 */
enum wavelift_status wavelift_cancel(struct wavelift_cancel_token token);

/**
 * Ends the handle of a cancel token. Launches that have it go on.
 */
enum wavelift_status wavelift_cancel_token_destroy(struct wavelift_cancel_token token);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WAVELIFT_H */


