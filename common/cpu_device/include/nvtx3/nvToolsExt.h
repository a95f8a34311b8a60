// Marks and ranges for a profiler's time line (NVTX). There is no profiler here that could listen: all of this does
// nothing, and returns what NVTX returns when no tool is attached.
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

inline void nvtxMarkA(const char* /*message*/) {}
inline void nvtxMarkW(const wchar_t* /*message*/) {}
inline void nvtxMarkEx(const nvtxEventAttributes_t* /*attributes*/) {}

/// Ranges of one thread, inside one another.
inline int nvtxRangePushA(const char* /*message*/) { return NVTX_NO_PUSH_POP_TRACKING; }
inline int nvtxRangePushW(const wchar_t* /*message*/) { return NVTX_NO_PUSH_POP_TRACKING; }
inline int nvtxRangePushEx(const nvtxEventAttributes_t* /*attributes*/) { return NVTX_NO_PUSH_POP_TRACKING; }
inline int nvtxRangePop() { return NVTX_NO_PUSH_POP_TRACKING; }

/// Ranges of the process.
inline nvtxRangeId_t nvtxRangeStartA(const char* /*message*/) { return 0; }
inline nvtxRangeId_t nvtxRangeStartW(const wchar_t* /*message*/) { return 0; }
inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* /*attributes*/) { return 0; }
inline void nvtxRangeEnd(nvtxRangeId_t /*range*/) {}

// ---- names -----------------------------------------------------------------------------------------------------

inline void nvtxNameCategoryA(uint32_t /*category*/, const char* /*name*/) {}
inline void nvtxNameCategoryW(uint32_t /*category*/, const wchar_t* /*name*/) {}
inline void nvtxNameOsThreadA(uint32_t /*thread*/, const char* /*name*/) {}
inline void nvtxNameOsThreadW(uint32_t /*thread*/, const wchar_t* /*name*/) {}

// ---- domains: the same for a library's own marks and ranges ----------------------------------------------------

inline nvtxDomainHandle_t nvtxDomainCreateA(const char* /*name*/) { return nullptr; }
inline nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* /*name*/) { return nullptr; }
inline void nvtxDomainDestroy(nvtxDomainHandle_t /*domain*/) {}
inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t /*domain*/, const char* /*name*/) {
    return nullptr;
}
inline nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t /*domain*/, const wchar_t* /*name*/) {
    return nullptr;
}
inline void nvtxDomainNameCategoryA(nvtxDomainHandle_t /*domain*/, uint32_t /*category*/, const char* /*name*/) {}
inline void nvtxDomainNameCategoryW(nvtxDomainHandle_t /*domain*/, uint32_t /*category*/, const wchar_t* /*name*/) {}
inline void nvtxDomainMarkEx(nvtxDomainHandle_t /*domain*/, const nvtxEventAttributes_t* /*attributes*/) {}
inline int nvtxDomainRangePushEx(nvtxDomainHandle_t /*domain*/, const nvtxEventAttributes_t* /*attributes*/) {
    return NVTX_NO_PUSH_POP_TRACKING;
}
inline int nvtxDomainRangePop(nvtxDomainHandle_t /*domain*/) { return NVTX_NO_PUSH_POP_TRACKING; }
inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t /*domain*/,
                                            const nvtxEventAttributes_t* /*attributes*/) {
    return 0;
}
inline void nvtxDomainRangeEnd(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t /*range*/) {}

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
