// Memory and an event of two processes: one exports them, the other waits for the event and changes the
// memory by a kernel and by a copy.
#include "check.h"

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static const int N = 10000;
static const size_t BYTES = N * sizeof(int);

static void receive(int pipe, void *data, size_t bytes)
{
    if (read(pipe, data, bytes) != ssize_t(bytes)) {
        printf("the other process has ended\n");
        exit(2);
    }
}

static void send(int pipe, const void *data, size_t bytes)
{
    if (write(pipe, data, bytes) != ssize_t(bytes))
        exit(2);
}

struct Offer {
    hipIpcMemHandle_t memory;
    hipIpcEventHandle_t event;
};

// The other process.
static int borrow(int in, int out)
{
    Offer offer;
    receive(in, &offer, sizeof offer);
    int *data;
    hipEvent_t written;
    HIP(hipIpcOpenMemHandle((void **)&data, offer.memory, hipIpcMemLazyEnablePeerAccess));
    HIP(hipIpcOpenEventHandle(&written, offer.event));
    HIP(hipStreamWaitEvent(0, written, 0));
    HIP(hipDeviceSynchronize());
    std::vector<int> host(N);
    HIP(hipMemcpy(host.data(), data, BYTES, hipMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(host[i] == i + 1);
    add_one<<<blocks(N), 256>>>(data, N);
    int value = -1;
    HIP(hipMemcpy(data + N / 2, &value, sizeof value, hipMemcpyHostToDevice));
    send(out, &value, sizeof value);
    // The owner frees it meanwhile; who has it keeps it.
    receive(in, &value, sizeof value);
    HIP(hipMemcpy(&value, data + N - 1, sizeof value, hipMemcpyDeviceToHost));
    EXPECT(value == N + 1);
    HIP(hipIpcCloseMemHandle(data));
    return failures != 0;
}

static void lend(int in, int out)
{
    int *data;
    HIP(hipMalloc(&data, BYTES));
    std::vector<int> host(N);
    for (int i = 0; i < N; i++)
        host[i] = i;
    HIP(hipMemcpy(data, host.data(), BYTES, hipMemcpyHostToDevice));
    Offer offer;
    hipEvent_t written;
    HIP(hipIpcGetMemHandle(&offer.memory, data));
    HIP(hipEventCreateWithFlags(&written, hipEventInterprocess | hipEventDisableTiming));
    HIP(hipIpcGetEventHandle(&offer.event, written));
    add_one<<<blocks(N), 256>>>(data, N);
    HIP(hipEventRecord(written, 0));
    send(out, &offer, sizeof offer);
    int value;
    receive(in, &value, sizeof value);
    HIP(hipMemcpy(host.data(), data, BYTES, hipMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(host[i] == (i == N / 2 ? -1 : i + 2));
    HIP(hipFree(data));
    send(out, &value, sizeof value);
}

int main()
{
    int there[2], back[2];
    if (pipe(there) || pipe(back))
        return 2;
    // Before HIP begins: its threads do not survive this.
    pid_t other = fork();
    if (other == 0)
        return borrow(there[0], back[1]);
    close(there[0]);
    close(back[1]);
    lend(back[0], there[1]);
    int status = -1;
    EXPECT(waitpid(other, &status, 0) == other);
    EXPECT(status == 0);
    return verdict();
}
