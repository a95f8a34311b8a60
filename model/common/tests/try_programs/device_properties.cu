// Lists what the runtime says about every device, in the manner of deviceQuery.
//
//   device_properties            everything
//   device_properties --short    one line a device
//
// The exit status is 0 if there is a device and what two functions say about it agrees.

#include <cuda_runtime.h>
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>

// Beginning of GPU architecture definitions
inline int coresPerMultiprocessor(int major, int minor) {
    typedef struct {
        int SM;  // 0xMm, M = major version, m = minor version
        int Cores;
    } sSMtoCores;
    static const sSMtoCores nGpuArchCoresPerSM[] = {
        {0x50, 128}, {0x52, 128}, {0x53, 128}, {0x60, 64},  {0x61, 128}, {0x62, 128}, {0x70, 64},  {0x72, 64},
        {0x75, 64},  {0x80, 64},  {0x86, 128}, {0x87, 128}, {0x89, 128}, {0x90, 128}, {0xa0, 128}, {-1, -1}};
    for (int index = 0; nGpuArchCoresPerSM[index].SM != -1; index++)
        if (nGpuArchCoresPerSM[index].SM == ((major << 4) + minor)) return nGpuArchCoresPerSM[index].Cores;
    return 128;
}

static const char *yesNo(int flag) { return flag ? "Yes" : "No"; }

// Asks for one attribute; ends the program if that fails.
template <class T>
inline void getAttribute(T *attribute, cudaDeviceAttr which, int device) {
    int value = 0;
    cudaError_t error = cudaDeviceGetAttribute(&value, which, device);
    if (cudaSuccess != error) {
        fprintf(stderr, "cudaDeviceGetAttribute(%d) returned %d -> %s\n", static_cast<int>(which),
                static_cast<int>(error), cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
    *attribute = static_cast<T>(value);
}

static bool agree(const char *name, long long property, cudaDeviceAttr attribute, int device) {
    long long value;
    getAttribute(&value, attribute, device);
    if (value == property) return true;
    printf("  %s: the property is %lld, the attribute %lld\n", name, property, value);
    return false;
}

static bool listDevice(int dev) {
    if (cudaSetDevice(dev) != cudaSuccess) return false;
    cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, dev) != cudaSuccess) return false;

    int driverVersion = 0, runtimeVersion = 0;
    cudaDriverGetVersion(&driverVersion);
    cudaRuntimeGetVersion(&runtimeVersion);
    printf("\nDevice %d: \"%s\"\n", dev, p.name);
    printf("  CUDA Driver Version / Runtime Version          %d.%d / %d.%d\n", driverVersion / 1000,
           (driverVersion % 100) / 10, runtimeVersion / 1000, (runtimeVersion % 100) / 10);
    printf("  CUDA Capability Major/Minor version number:    %d.%d\n", p.major, p.minor);
    char msg[256];
    snprintf(msg, sizeof(msg), "  Total amount of global memory:                 %.0f MBytes (%llu bytes)\n",
             static_cast<float>(p.totalGlobalMem / 1048576.0f), (unsigned long long)p.totalGlobalMem);
    printf("%s", msg);
    printf("  (%03d) Multiprocessors, (%03d) CUDA Cores/MP:    %d CUDA Cores\n", p.multiProcessorCount,
           coresPerMultiprocessor(p.major, p.minor), coresPerMultiprocessor(p.major, p.minor) * p.multiProcessorCount);
    int clockRate, memoryClock;
    getAttribute(&clockRate, cudaDevAttrClockRate, dev);
    getAttribute(&memoryClock, cudaDevAttrMemoryClockRate, dev);
    printf("  GPU Max Clock rate:                            %.0f MHz (%0.2f GHz)\n", clockRate * 1e-3f,
           clockRate * 1e-6f);
    printf("  Memory Clock rate:                             %.0f Mhz\n", memoryClock * 1e-3f);
    printf("  Memory Bus Width:                              %d-bit\n", p.memoryBusWidth);
    if (p.l2CacheSize) printf("  L2 Cache Size:                                 %d bytes\n", p.l2CacheSize);
    printf("  Maximum Texture Dimension Size (x,y,z)         1D=(%d), 2D=(%d, %d), 3D=(%d, %d, %d)\n", p.maxTexture1D,
           p.maxTexture2D[0], p.maxTexture2D[1], p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3D[2]);
    printf("  Maximum Layered 1D Texture Size, (num) layers  1D=(%d), %d layers\n", p.maxTexture1DLayered[0],
           p.maxTexture1DLayered[1]);
    printf("  Total amount of constant memory:               %zu bytes\n", p.totalConstMem);
    printf("  Total amount of shared memory per block:       %zu bytes\n", p.sharedMemPerBlock);
    printf("  Total shared memory per multiprocessor:        %zu bytes\n", p.sharedMemPerMultiprocessor);
    printf("  Shared memory per block with opt-in:           %zu bytes\n", p.sharedMemPerBlockOptin);
    printf("  Total number of registers available per block: %d\n", p.regsPerBlock);
    printf("  Warp size:                                     %d\n", p.warpSize);
    printf("  Maximum number of threads per multiprocessor:  %d\n", p.maxThreadsPerMultiProcessor);
    printf("  Maximum number of threads per block:           %d\n", p.maxThreadsPerBlock);
    printf("  Max dimension size of a thread block (x,y,z): (%d, %d, %d)\n", p.maxThreadsDim[0], p.maxThreadsDim[1],
           p.maxThreadsDim[2]);
    printf("  Max dimension size of a grid size    (x,y,z): (%d, %d, %d)\n", p.maxGridSize[0], p.maxGridSize[1],
           p.maxGridSize[2]);
    printf("  Maximum memory pitch:                          %zu bytes\n", p.memPitch);
    printf("  Texture alignment:                             %zu bytes\n", p.textureAlignment);
    printf("  Integrated GPU sharing Host Memory:            %s\n", yesNo(p.integrated));
    printf("  Support host page-locked memory mapping:       %s\n", yesNo(p.canMapHostMemory));
    printf("  Concurrent copy and kernel execution:          %s with %d copy engine(s)\n", yesNo(p.asyncEngineCount),
           p.asyncEngineCount);
    printf("  Device has ECC support:                        %s\n", p.ECCEnabled ? "Enabled" : "Disabled");
    printf("  Device supports Unified Addressing (UVA):      %s\n", yesNo(p.unifiedAddressing));
    printf("  Device supports Managed Memory:                %s\n", yesNo(p.managedMemory));
    printf("  Device supports Compute Preemption:            %s\n", yesNo(p.computePreemptionSupported));
    printf("  Supports Cooperative Kernel Launch:            %s\n", yesNo(p.cooperativeLaunch));
    printf("  Device PCI Domain ID / Bus ID / location ID:   %d / %d / %d\n", p.pciDomainID, p.pciBusID,
           p.pciDeviceID);
    const char *sComputeMode[] = {"Default", "Exclusive", "Prohibited", "Exclusive Process", "Unknown", NULL};
    int computeMode;
    getAttribute(&computeMode, cudaDevAttrComputeMode, dev);
    printf("  Compute Mode: < %s >\n", sComputeMode[computeMode]);

    size_t freeBytes = 0, totalBytes = 0;
    if (cudaMemGetInfo(&freeBytes, &totalBytes) != cudaSuccess || freeBytes > totalBytes) return false;

    bool ok = agree("maxThreadsPerBlock", p.maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock, dev);
    ok &= agree("maxThreadsDim[2]", p.maxThreadsDim[2], cudaDevAttrMaxBlockDimZ, dev);
    ok &= agree("maxGridSize[0]", p.maxGridSize[0], cudaDevAttrMaxGridDimX, dev);
    ok &= agree("sharedMemPerBlock", p.sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock, dev);
    ok &= agree("sharedMemPerBlockOptin", p.sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin, dev);
    ok &= agree("totalConstMem", p.totalConstMem, cudaDevAttrTotalConstantMemory, dev);
    ok &= agree("warpSize", p.warpSize, cudaDevAttrWarpSize, dev);
    ok &= agree("regsPerBlock", p.regsPerBlock, cudaDevAttrMaxRegistersPerBlock, dev);
    ok &= agree("multiProcessorCount", p.multiProcessorCount, cudaDevAttrMultiProcessorCount, dev);
    ok &= agree("l2CacheSize", p.l2CacheSize, cudaDevAttrL2CacheSize, dev);
    ok &= agree("major", p.major, cudaDevAttrComputeCapabilityMajor, dev);
    ok &= agree("minor", p.minor, cudaDevAttrComputeCapabilityMinor, dev);
    ok &= agree("concurrentKernels", p.concurrentKernels, cudaDevAttrConcurrentKernels, dev);
    ok &= agree("cooperativeLaunch", p.cooperativeLaunch, cudaDevAttrCooperativeLaunch, dev);
    return ok && p.warpSize == 32 && p.name[0] != '\0';
}

int main(int argc, char **argv) {
    const bool brief = argc > 1 && !strcmp(argv[1], "--short");
    printf("%s Starting...\n\n CUDA Device Query (Runtime API)\n\n", "device_properties");

    int deviceCount = 0;
    cudaError_t error_id = cudaGetDeviceCount(&deviceCount);
    if (error_id != cudaSuccess) {
        printf("cudaGetDeviceCount returned %d\n-> %s\n", static_cast<int>(error_id), cudaGetErrorString(error_id));
        printf("Result = FAIL\n");
        exit(EXIT_FAILURE);
    }
    if (deviceCount == 0) printf("There are no available device(s) that support CUDA\n");
    else printf("Detected %d CUDA Capable device(s)\n", deviceCount);

    bool ok = deviceCount > 0;
    std::string banner = "deviceQuery, CUDA Driver = CUDART";
    for (int dev = 0; dev < deviceCount; ++dev) {
        if (brief) {
            auto prop = std::make_unique<cudaDeviceProp>();
            ok = cudaGetDeviceProperties(prop.get(), dev) == cudaSuccess && ok;
            std::cout << "GPU " << dev << ": " << prop->name << ", compute capability " << prop->major << '.'
                      << prop->minor << std::endl;
        } else {
            ok = listDevice(dev) && ok;
        }
        char id[32] = "";
        if (cudaDeviceGetPCIBusId(id, sizeof id, dev) == cudaSuccess) banner += std::string(", PCI ") + id;
    }
    fprintf(stderr, "%s, CUDA Runtime Version = %d.%d, NumDevs = %d\n", banner.c_str(), CUDART_VERSION / 1000,
            CUDART_VERSION % 100 / 10, deviceCount);
    printf("Result = %s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
