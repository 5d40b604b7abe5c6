// Runs a kit on a GPU and writes what every run changed. README.md says how to call it; the formats are
// described in src/file.rs (the kit's data) and src/recording.rs (the recording).
//
// A run that faults or hangs must not lose the others: children run some thousand runs each and write
// lines to a pipe, and a child that dies or is silent for too long is followed by another one behind
// the run that it was at. The parent never calls HIP.

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Words = std::vector<uint32_t>;

const char FIRST[] = "wavelift hardware recording 1";
const char MAGIC[16] = "wavelift kit 1\n";
// Bytes before and behind the image, for accesses that miss.
const size_t GUARD = 1 << 20;
// Failures in a row, and all of them, after which the rest is not tried.
const unsigned MOST_IN_A_ROW = 25, MOST = 500;

[[noreturn]] void die(const std::string &what) {
    fprintf(stderr, "error: %s\n", what.c_str());
    exit(2);
}

struct Edit {
    uint32_t at;
    Words words;
};

struct Relocation {
    uint32_t at, half, symbol;
    uint64_t number;
};

struct Run {
    std::string name;
    std::vector<Edit> edits;
    std::vector<Relocation> relocations;
};

struct Kit {
    std::string digest, target;
    uint32_t size, windows, buffer, done, probe, apertures;
    Words pattern;
    std::vector<Run> runs; // the first one tells addresses
};

// Reads a kit's data; everything is checked against the file's end and the image's size.
class Reader {
  public:
    explicit Reader(const std::string &path) : path(path) {
        FILE *file = fopen(path.c_str(), "rb");
        if (!file)
            die(path + ": " + strerror(errno));
        char part[65536];
        size_t got;
        while ((got = fread(part, 1, sizeof part, file)) > 0)
            bytes.insert(bytes.end(), part, part + got);
        fclose(file);
    }

    Kit kit() {
        if (text(16) != std::string(MAGIC, 16))
            die(path + " is no kit of this version");
        Kit kit;
        kit.digest = text(32);
        kit.target = text(16).c_str();
        for (uint32_t *field : {&kit.size, &kit.windows, &kit.buffer, &kit.done, &kit.probe,
                                &kit.apertures})
            *field = word();
        if (kit.size > 1 << 20 || kit.windows >= kit.size || kit.buffer >= kit.size ||
            kit.done >= kit.size)
            die(path + " is damaged");
        kit.pattern = words(kit.size);
        uint32_t count = word();
        for (uint32_t n = 0; n < count; n++)
            kit.runs.push_back(run(kit.size));
        if (kit.runs.empty() || at != bytes.size())
            die(path + " is damaged");
        return kit;
    }

  private:
    std::string path;
    std::vector<char> bytes;
    size_t at = 0;

    const char *take(size_t count) {
        if (count > bytes.size() - at)
            die(path + " is damaged: it ends too early");
        at += count;
        return bytes.data() + at - count;
    }
    std::string text(size_t count) {
        const char *from = take(count);
        return std::string(from, count);
    }
    uint32_t word() {
        uint32_t value;
        memcpy(&value, take(4), 4);
        return value;
    }
    Words words(size_t count) {
        const char *from = take(4 * count);
        Words words(count);
        memcpy(words.data(), from, 4 * count);
        return words;
    }
    Run run(uint32_t size) {
        Run run;
        size_t length = word();
        run.name = text(length);
        take((4 - length % 4) % 4);
        for (uint32_t n = word(); n > 0; n--) {
            Edit edit;
            edit.at = word();
            uint32_t count = word();
            edit.words = words(count);
            if (edit.at > size || count > size - edit.at)
                die(path + " is damaged: an edit is outside the image");
            run.edits.push_back(std::move(edit));
        }
        for (uint32_t n = word(); n > 0; n--) {
            Relocation r;
            r.at = word();
            r.half = word();
            r.symbol = word();
            uint64_t low = word(), high = word();
            r.number = low | high << 32;
            if (r.at >= size || r.half > 1 || r.symbol > 6)
                die(path + " is damaged: a relocation is wrong");
            run.relocations.push_back(r);
        }
        return run;
    }
};

uint32_t checksum(const std::string &text) {
    uint32_t sum = 0x811c9dc5;
    for (unsigned char byte : text)
        sum = (sum ^ byte) * 0x01000193;
    return sum;
}

std::string with_checksum(const std::string &text) {
    char sum[16];
    snprintf(sum, sizeof sum, " #%08x\n", checksum(text));
    return text + sum;
}

void write_all(int fd, const std::string &text) {
    for (size_t at = 0; at < text.size();) {
        ssize_t wrote = write(fd, text.data() + at, text.size() - at);
        if (wrote < 0 && errno != EINTR)
            die(std::string("writing: ") + strerror(errno));
        at += wrote < 0 ? 0 : wrote;
    }
}

// Text of one line.
std::string plain(std::string text) {
    for (char &c : text)
        if (c == '\n' || c == '\r')
            c = ' ';
    return text;
}

// ---- the device

// In a child: the parent takes the last such line as the reason.
int errors = -1;

void check(hipError_t status, const char *what) {
    if (status == hipSuccess)
        return;
    std::string text = std::string(what) + ": " + hipGetErrorString(status);
    if (errors >= 0)
        write_all(errors, "error " + plain(text) + "\n");
    die(text);
}

// `gfx90a` of `gfx90a:sramecc+:xnack-`.
std::string target_of(const hipDeviceProp_t &properties) {
    std::string name = properties.gcnArchName;
    return name.substr(0, name.find(':'));
}

void print_device(int device) {
    check(hipSetDevice(device), "hipSetDevice");
    hipDeviceProp_t properties;
    check(hipGetDeviceProperties(&properties, device), "hipGetDeviceProperties");
    int runtime = 0, driver = 0;
    check(hipRuntimeGetVersion(&runtime), "hipRuntimeGetVersion");
    check(hipDriverGetVersion(&driver), "hipDriverGetVersion");
    printf("target %s\nprocessor %s\ndevice %s\nruntime %d\ndriver %d\n",
           target_of(properties).c_str(), plain(properties.gcnArchName).c_str(),
           plain(properties.name).c_str(), runtime, driver);
}

class Device {
  public:
    Device(const Kit &kit, const std::string &code, int device) : kit(kit) {
        check(hipSetDevice(device), "hipSetDevice");
        hipDeviceProp_t properties;
        check(hipGetDeviceProperties(&properties, device), "hipGetDeviceProperties");
        if (target_of(properties) != kit.target)
            die("the kit is for " + kit.target + ", the device is a " + target_of(properties));
        hipModule_t module;
        check(hipModuleLoad(&module, code.c_str()), "hipModuleLoad");
        check(hipModuleGetFunction(&function, module, "kit"), "hipModuleGetFunction");
        void *memory;
        bytes = 4 * kit.size;
        check(hipMalloc(&memory, bytes + 2 * GUARD + 4096), "hipMalloc");
        check(hipMemset(memory, 0, bytes + 2 * GUARD + 4096), "hipMemset");
        image = (reinterpret_cast<uint64_t>(memory) + GUARD + 4095) & ~uint64_t(4095);
    }

    // Where all is, by the first run.
    std::string place() {
        launch(before(kit.runs[0]));
        auto pair = [&](size_t at) { return after[at] | uint64_t(after[at + 1]) << 32; };
        if (after[kit.done] != 1)
            check(hipErrorUnknown, "the kernel did not come to its end");
        uint64_t windows = image + 4 * kit.windows, buffer = image + 4 * kit.buffer;
        uint64_t code = pair(0) - kit.probe - 4;
        uint64_t shared = kit.apertures ? pair(2) : 0, private_ = kit.apertures ? pair(4) : 0;
        values = {windows, windows / 256, buffer, buffer / 256, code, shared, private_};
        char text[200];
        snprintf(text, sizeof text, "place windows=%llx buffer=%llx shared=%llx private=%llx code=%llx",
                 (unsigned long long)windows, (unsigned long long)buffer,
                 (unsigned long long)shared, (unsigned long long)private_,
                 (unsigned long long)code);
        return text;
    }

    // What a run changed.
    std::string record(size_t n) {
        const Words &image = before(kit.runs[n]);
        launch(image);
        std::string head = std::to_string(n);
        if (after[kit.done] != 1)
            return "failed " + head + " the kernel did not come to its end";
        std::string line = "run " + head;
        char text[16];
        for (uint32_t at = 0; at < kit.size; at++) {
            if (after[at] == image[at])
                continue;
            snprintf(text, sizeof text, " %x:", at);
            line += text;
            for (; at < kit.size && after[at] != image[at]; at++) {
                snprintf(text, sizeof text, "%08x", after[at]);
                line += text;
            }
        }
        return line;
    }

  private:
    const Kit &kit;
    hipFunction_t function;
    uint64_t image;
    size_t bytes;
    Words words, after;
    std::vector<uint64_t> values;

    const Words &before(const Run &run) {
        words = kit.pattern;
        for (const Edit &edit : run.edits)
            std::copy(edit.words.begin(), edit.words.end(), words.begin() + edit.at);
        for (const Relocation &r : run.relocations)
            words[r.at] = uint32_t((r.number + values.at(r.symbol)) >> (32 * r.half));
        return words;
    }

    void launch(const Words &before) {
        void *at = reinterpret_cast<void *>(image);
        check(hipMemcpy(at, before.data(), bytes, hipMemcpyHostToDevice), "hipMemcpy");
        uint64_t argument = image;
        size_t size = sizeof argument;
        void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &argument, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                          &size, HIP_LAUNCH_PARAM_END};
        check(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, config),
              "hipModuleLaunchKernel");
        check(hipDeviceSynchronize(), "hipDeviceSynchronize");
        after.resize(kit.size);
        check(hipMemcpy(after.data(), at, bytes, hipMemcpyDeviceToHost), "hipMemcpy");
    }
};

// ---- parent and children

struct Options {
    std::string folder = ".", out = "recording.txt", only;
    size_t from = 1, batch = 2000;
    int device = 0, timeout = 60;
    bool print = false, child = false;
    std::vector<size_t> part; // of a child: first run, last run
};

bool wanted(const Kit &kit, const Options &options, size_t n) {
    return kit.runs[n].name.find(options.only) != std::string::npos;
}

// Standard output is the pipe.
void child(const Kit &kit, const Options &options, size_t first, size_t last) {
    // What the runtime prints must not come between the lines.
    int out = dup(1);
    dup2(2, 1);
    errors = out;
    Device device(kit, options.folder + "/kit.co", options.device);
    write_all(out, with_checksum(device.place()));
    for (size_t n = first; n <= last; n++)
        if (wanted(kit, options, n))
            write_all(out, with_checksum(device.record(n)));
}

std::string own_path() {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        die("/proc/self/exe cannot be read");
    return std::string(path, length);
}

pid_t start(std::vector<std::string> args, int *from) {
    int ends[2];
    if (pipe(ends) != 0)
        die(std::string("pipe: ") + strerror(errno));
    std::string self = own_path();
    pid_t pid = fork();
    if (pid < 0)
        die(std::string("fork: ") + strerror(errno));
    if (pid == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        std::vector<char *> argv = {const_cast<char *>(self.c_str())};
        for (std::string &arg : args)
            argv.push_back(const_cast<char *>(arg.c_str()));
        argv.push_back(nullptr);
        execv(self.c_str(), argv.data());
        _exit(127);
    }
    close(ends[1]);
    *from = ends[0];
    return pid;
}

// Gives the child's lines to `line`, until it ends or is silent for too long. Empty: it ended well.
template <typename Line> std::string lines(pid_t pid, int from, int timeout, Line line) {
    std::string text, why;
    char part[65536];
    for (;;) {
        pollfd one = {from, POLLIN, 0};
        int ready = poll(&one, 1, timeout * 1000);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0) {
            why = "hangs: silent for " + std::to_string(timeout) + " seconds";
            kill(pid, SIGKILL);
            break;
        }
        ssize_t got = read(from, part, sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        text.append(part, got);
        size_t start = 0;
        for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
            line(text.substr(start, end - start));
        text.erase(0, start);
    }
    close(from);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!why.empty())
        return why;
    if (WIFSIGNALED(status))
        return std::string("ended by signal ") + strsignal(WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return "ended with status " + std::to_string(WEXITSTATUS(status));
    return "";
}

int parent(const Kit &kit, const Options &options) {
    std::string device = std::to_string(options.device), header, target;
    int from;
    pid_t pid = start({"--print", "--device", device}, &from);
    std::string why = lines(pid, from, options.timeout, [&](const std::string &line) {
        header += line + "\n";
        if (line.rfind("target ", 0) == 0)
            target = line.substr(7);
    });
    if (!why.empty())
        die("no device: " + why);
    if (target != kit.target)
        die("the kit is for " + kit.target + ", the device is a " + target);

    std::vector<size_t> runs;
    for (size_t n = std::max<size_t>(options.from, 1); n < kit.runs.size(); n++)
        if (wanted(kit, options, n))
            runs.push_back(n);
    int out = open(options.out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (out < 0)
        die(options.out + ": " + strerror(errno));
    write_all(out, std::string(FIRST) + "\n" + header + "kit " + kit.digest + "\n\n");

    size_t next = 0, failed = 0, in_a_row = 0;
    while (next < runs.size() && in_a_row < MOST_IN_A_ROW && failed < MOST) {
        size_t last = std::min(next + options.batch, runs.size()) - 1;
        std::vector<std::string> args = {"--child", std::to_string(runs[next]),
                                         std::to_string(runs[last]), "--device", device,
                                         "--folder", options.folder};
        if (!options.only.empty()) {
            args.push_back("--only");
            args.push_back(options.only);
        }
        std::string reason;
        pid = start(args, &from);
        why = lines(pid, from, options.timeout, [&](const std::string &line) {
            if (line.rfind("error ", 0) == 0) {
                reason = line.substr(6);
                return;
            }
            write_all(out, line + "\n");
            if (line.rfind("place ", 0) != 0) {
                next++;
                in_a_row = 0;
            }
        });
        if (next <= last) {
            if (why.empty())
                why = "ended too early";
            if (!reason.empty())
                why = reason + "; " + why;
            fprintf(stderr, "run %zu (%s): %s\n", runs[next], kit.runs[runs[next]].name.c_str(),
                    why.c_str());
            write_all(out, with_checksum("failed " + std::to_string(runs[next]) + " " + plain(why)));
            next++;
            failed++;
            in_a_row++;
        }
        fprintf(stderr, "\r%zu of %zu runs, %zu failed%s", next, runs.size(), failed,
                next < runs.size() ? "" : "\n");
    }
    write_all(out, with_checksum("end " + std::to_string(next)));
    if (close(out) != 0)
        die(options.out + ": " + strerror(errno));
    if (next < runs.size()) {
        fprintf(stderr, "\nstopped after %zu failures; the recording so far is kept\n", failed);
        return 1;
    }
    return 0;
}

size_t number(const std::string &text) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(text.c_str(), &end, 10);
    if (text.empty() || *end || errno || text[0] == '-' || value > 1 << 24)
        die("`" + text + "` is no number");
    return value;
}

const char USAGE[] =
    "usage: capture [--folder KIT] [--out FILE] [--device N] [--from N] [--only NAME] [--batch N]\n"
    "               [--timeout SECONDS]\n"
    "       capture --print [--device N]    prints the device\n";

Options parse(int argc, char **argv) {
    Options options;
    for (int n = 1; n < argc; n++) {
        std::string arg = argv[n];
        auto value = [&]() -> std::string {
            if (++n >= argc)
                die(arg + " takes a value\n" + USAGE);
            return argv[n];
        };
        if (arg == "--folder")
            options.folder = value();
        else if (arg == "--out")
            options.out = value();
        else if (arg == "--only")
            options.only = value();
        else if (arg == "--from")
            options.from = number(value());
        else if (arg == "--batch")
            options.batch = std::max<size_t>(number(value()), 1);
        else if (arg == "--device")
            options.device = int(number(value()));
        else if (arg == "--timeout")
            options.timeout = int(std::min<size_t>(std::max<size_t>(number(value()), 1), 86400));
        else if (arg == "--print")
            options.print = true;
        else if (arg == "--child") {
            options.child = true;
            options.part.push_back(number(value()));
            options.part.push_back(number(value()));
        } else
            die("unknown option " + arg + "\n" + USAGE);
    }
    return options;
}

} // namespace

int main(int argc, char **argv) {
    Options options = parse(argc, argv);
    if (options.print) {
        print_device(options.device);
        return 0;
    }
    Kit kit = Reader(options.folder + "/kit.data").kit();
    if (!options.child)
        return parent(kit, options);
    size_t first = options.part[0], last = options.part[1];
    if (first < 1 || last >= kit.runs.size())
        die("the kit has no such runs");
    child(kit, options, first, last);
    return 0;
}
