// Marks and ranges for a profiler's time line (NVTX). No profiler can listen here. But while calls are logged
// (cpu_device/range_log.h), ranges are logged as well, and while errors are looked for, a range that is never ended is
// reported. Otherwise all of this does nothing, and returns what NVTX returns when no tool is attached.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3

#define NVTX_SUCCESS 0
#define NVTX_FAIL 1

/// What a push and a pop return where nobody counts levels.
#define NVTX_NO_PUSH_POP_TRACKING (-2)

// ---- types -----------------------------------------------------------------------------------------------------

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st* nvtxStringHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;

typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;

typedef union nvtxMessageValue_t {
    const char* ascii;
    const wchar_t* unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version;  ///< NVTX_VERSION
    uint16_t size;     ///< NVTX_EVENT_ATTRIB_STRUCT_SIZE
    uint32_t category;
    int32_t colorType;  ///< a nvtxColorType_t, as the types below are of the enumerations above
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef nvtxEventAttributes_v2 nvtxEventAttributes_t;

#define NVTX_EVENT_ATTRIB_STRUCT_SIZE (static_cast<uint16_t>(sizeof(nvtxEventAttributes_t)))

// ---- marks and ranges ------------------------------------------------------------------------------------------

inline void nvtxInitialize(const void* /*reserved*/) {}

void nvtxMarkA(const char* message);
void nvtxMarkW(const wchar_t* message);
void nvtxMarkEx(const nvtxEventAttributes_t* attributes);

/// Ranges of one thread, inside one another. They return the level, from 0 on, and a negative number where nobody
/// listens, or no range is open.
int nvtxRangePushA(const char* message);
int nvtxRangePushW(const wchar_t* message);
int nvtxRangePushEx(const nvtxEventAttributes_t* attributes);
int nvtxRangePop();

/// Ranges of the process, which another thread may end. They return 0 where nobody listens.
nvtxRangeId_t nvtxRangeStartA(const char* message);
nvtxRangeId_t nvtxRangeStartW(const wchar_t* message);
nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* attributes);
void nvtxRangeEnd(nvtxRangeId_t range);

// ---- names -----------------------------------------------------------------------------------------------------

inline void nvtxNameCategoryA(uint32_t /*category*/, const char* /*name*/) {}
inline void nvtxNameCategoryW(uint32_t /*category*/, const wchar_t* /*name*/) {}
inline void nvtxNameOsThreadA(uint32_t /*thread*/, const char* /*name*/) {}
inline void nvtxNameOsThreadW(uint32_t /*thread*/, const wchar_t* /*name*/) {}

// ---- domains: the same for a library's own marks and ranges ----------------------------------------------------

nvtxDomainHandle_t nvtxDomainCreateA(const char* name);
nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name);
inline void nvtxDomainDestroy(nvtxDomainHandle_t /*domain*/) {}
nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* string);
nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t* string);
inline void nvtxDomainNameCategoryA(nvtxDomainHandle_t /*domain*/, uint32_t /*category*/, const char* /*name*/) {}
inline void nvtxDomainNameCategoryW(nvtxDomainHandle_t /*domain*/, uint32_t /*category*/, const wchar_t* /*name*/) {}
void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes);
int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes);
int nvtxDomainRangePop(nvtxDomainHandle_t domain);
nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes);
void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t range);

// ---- names without a letter for the kind of characters -----------------------------------------------------------

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangePush nvtxRangePushW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#endif
