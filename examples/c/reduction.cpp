/*
 * From C++: handles that end themselves, exceptions, arguments by type.
 *
 *     ./reduction [FOLDER]    FOLDER has reduction.gfx906.co; examples/reduction unless given
 */
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <wavelift.h>

namespace {

/* A call that failed. */
class Error : public std::runtime_error {
public:
    explicit Error(wavelift_status status)
        : std::runtime_error(wavelift_error_message()), status(status) {}

    wavelift_status status;
};

void check(wavelift_status status)
{
    if (status != WAVELIFT_OK)
        throw Error(status);
}

/* A handle that is destroyed at the end of its scope. */
template <typename T, wavelift_status (*destroy)(T)>
class Handle {
public:
    /* Calls a function that makes the object: its last argument is the result. */
    template <typename... Parameters, typename... Values>
    explicit Handle(wavelift_status (*make)(Parameters...), const Values &...values)
    {
        check(make(values..., &handle));
    }
    Handle(Handle &&other) noexcept : handle(std::exchange(other.handle, T{})) {}
    Handle &operator=(Handle &&other) noexcept
    {
        std::swap(handle, other.handle);
        return *this;
    }
    /* The null handle of an object that was moved is no error. */
    ~Handle() { destroy(handle); }

    operator T() const { return handle; }

private:
    T handle{};
};

using Device = Handle<wavelift_device, wavelift_device_destroy>;
using Module = Handle<wavelift_module, wavelift_module_destroy>;
using Kernel = Handle<wavelift_kernel, wavelift_kernel_destroy>;
using Buffer = Handle<wavelift_buffer, wavelift_buffer_destroy>;
using Stream = Handle<wavelift_stream, wavelift_stream_destroy>;

template <typename T>
Buffer copy_of(const Device &device, const std::vector<T> &data)
{
    return Buffer(wavelift_buffer_create, device, data.data(), data.size() * sizeof(T));
}

wavelift_arg arg(const Buffer &buffer) { return wavelift_arg_buffer(buffer); }
wavelift_arg arg(std::uint32_t value) { return wavelift_arg_u32(value); }

struct Local {
    std::uint32_t bytes;
};
wavelift_arg arg(Local local) { return wavelift_arg_local(local.bytes); }

template <typename... Arguments>
void launch(const Stream &stream, const Kernel &kernel, std::uint32_t grid, std::uint32_t block,
            const Arguments &...arguments)
{
    const wavelift_arg list[] = {arg(arguments)...};
    wavelift_launch_options options{};
    options.size = sizeof options;
    options.grid[0] = grid;
    options.block[0] = block;
    check(wavelift_stream_launch(stream, kernel, &options, list, sizeof...(arguments), nullptr));
}

void run(const std::string &folder)
{
    const std::uint32_t n = 10007;
    std::vector<std::uint32_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 1u);

    const Device device(wavelift_device_create, nullptr);
    const Module module(wavelift_module_load_file, device, (folder + "/reduction.gfx906.co").c_str(),
                        nullptr);
    const Kernel reduce_sum(wavelift_module_kernel, module, "reduce_sum");
    const Buffer in = copy_of(device, numbers);
    const Buffer sum = copy_of(device, std::vector<std::uint32_t>{0});
    const Stream stream(wavelift_stream_create, device);

    launch(stream, reduce_sum, 2048, 256, sum, in, Local{4 * 256}, n);
    check(wavelift_stream_synchronize(stream));
    std::uint32_t result;
    check(wavelift_buffer_read(sum, 0, &result, sizeof result));
    std::cout << "1 + 2 + ... + " << n << " = " << result << "\n";
    if (result != n * (n + 1) / 2)
        throw std::runtime_error("the sum is wrong");

    try {
        launch(stream, reduce_sum, 2048, 256, sum, in, n, n);
    } catch (const Error &error) {
        std::cout << wavelift_status_name(error.status) << ": " << error.what() << "\n";
    }
}

} // namespace

int main(int argc, char **argv)
{
    try {
        run(argc > 1 ? argv[1] : "examples/reduction");
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
