/* A stand-in for NVIDIA's libnvidia-ml.so.1: it answers what a text file tells it to.
 *
 * NVML_STAND_IN names the file; each line is "KEY VALUE":
 *   driver 580.65.06         cuda 13000          count 2
 *   name.0 NVIDIA GeForce RTX 4090               (\xNN stands for a byte)
 *   capability.0 8.9         memory.0 25757220864 24000000000   (total, free)
 *   fail.nvmlInitWithFlags 9                     (the nvmlReturn_t of that call)
 *   fail.nvmlDeviceGetMemoryInfo.1 15            (of that call for GPU 1)
 * NVML_STAND_IN_LOG names a file to which "init" and "shutdown" are written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned long long total, free, used; } memory_t;
static int handles[64];

static int look_up(const char *key, char *value, size_t size) {
    const char *path = getenv("NVML_STAND_IN");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[4096];
    size_t length = strlen(key);
    int found = 0;
    while (file && !found && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            line[strcspn(line, "\n")] = 0;
            snprintf(value, size, "%s", line + length + 1);
            found = 1;
        }
    }
    if (file) fclose(file);
    return found;
}

static int failure(const char *call, int index) {
    char key[128], value[64];
    if (index >= 0) {
        snprintf(key, sizeof key, "fail.%s.%d", call, index);
        if (look_up(key, value, sizeof value)) return atoi(value);
    }
    snprintf(key, sizeof key, "fail.%s", call);
    return look_up(key, value, sizeof value) ? atoi(value) : 0;
}

static void note(const char *what) {
    const char *path = getenv("NVML_STAND_IN_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) { fprintf(file, "%s\n", what); fclose(file); }
}

/* As the real one: what does not fit is refused, and nothing is written past the end. */
static int put_text(const char *key, char *out, unsigned size) {
    char value[4096];
    unsigned used = 0;
    if (!look_up(key, value, sizeof value)) return 3;
    for (char *at = value; *at; used++) {
        if (used + 1 >= size) return 7;
        if (at[0] == '\\' && at[1] == 'x' && at[2] && at[3]) {
            char digits[3] = {at[2], at[3], 0};
            out[used] = (char) strtol(digits, NULL, 16);
            at += 4;
        } else {
            out[used] = *at++;
        }
    }
    out[used] = 0;
    return 0;
}

int nvmlInitWithFlags(unsigned flags) {
    (void) flags;
    int result = failure("nvmlInitWithFlags", -1);
    if (result == 0) note("init");
    return result;
}

int nvmlShutdown(void) { note("shutdown"); return failure("nvmlShutdown", -1); }

int nvmlSystemGetDriverVersion(char *out, unsigned size) {
    int result = failure("nvmlSystemGetDriverVersion", -1);
    return result ? result : put_text("driver", out, size);
}

int nvmlSystemGetCudaDriverVersion_v2(int *out) {
    char value[64];
    int result = failure("nvmlSystemGetCudaDriverVersion_v2", -1);
    if (result) return result;
    *out = look_up("cuda", value, sizeof value) ? atoi(value) : 0;
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *out) {
    char value[64];
    int result = failure("nvmlDeviceGetCount_v2", -1);
    if (result) return result;
    *out = look_up("count", value, sizeof value) ? (unsigned) strtoul(value, NULL, 10) : 0;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out) {
    int result = failure("nvmlDeviceGetHandleByIndex_v2", (int) index);
    if (result) return result;
    if (index >= 64) return 2;
    handles[index] = (int) index;
    *out = &handles[index];
    return 0;
}

int nvmlDeviceGetName(void *device, char *out, unsigned size) {
    char key[32];
    int index = *(int *) device, result = failure("nvmlDeviceGetName", index);
    snprintf(key, sizeof key, "name.%d", index);
    return result ? result : put_text(key, out, size);
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
    char key[32], value[64];
    int index = *(int *) device, result = failure("nvmlDeviceGetCudaComputeCapability", index);
    if (result) return result;
    snprintf(key, sizeof key, "capability.%d", index);
    if (!look_up(key, value, sizeof value)) return 3;
    return sscanf(value, "%d.%d", major, minor) == 2 ? 0 : 999;
}

int nvmlDeviceGetMemoryInfo(void *device, memory_t *out) {
    char key[32], value[64];
    int index = *(int *) device, result = failure("nvmlDeviceGetMemoryInfo", index);
    if (result) return result;
    snprintf(key, sizeof key, "memory.%d", index);
    if (!look_up(key, value, sizeof value)) return 3;
    if (sscanf(value, "%llu %llu", &out->total, &out->free) != 2) return 999;
    out->used = out->total - out->free;
    return 0;
}

const char *nvmlErrorString(int result) { (void) result; return "as told"; }
