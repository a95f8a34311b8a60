// Integer intrinsics, bit patterns, and packed bytes and halfwords.
#include "common/tests/api_corpus/evaluate.cuh"

namespace {

using namespace api_corpus;

// ---- bits ----------------------------------------------------------------------------------------------------

TRY(__brev, uints())
TRY(__brevll, ulongs())
TRY(__clz, ints())
TRY(__clzll, longs())
TRY(__ffs, ints())
TRY(__ffsll, longs())
TRY(__popc, uints())
TRY(__popcll, ulongs())
TRY(__byte_perm, std::vector<unsigned>{0x33221100u, 0x83828180u}, std::vector<unsigned>{0x77665544u, 0xf7e6d5c4u},
    std::vector<unsigned>{0x0123u, 0x3210u, 0x7654u, 0x5410u, 0x89abu, 0xfedcu, 0xffff8888u})
TRY(__fns, uints(), std::vector<unsigned>{0u, 1u, 5u, 16u, 31u}, std::vector<int>{-33, -3, -1, 0, 1, 2, 7, 33})
TRY(__funnelshift_l, few_uints(), few_uints(), few_uints())
TRY(__funnelshift_lc, few_uints(), few_uints(), few_uints())
TRY(__funnelshift_r, few_uints(), few_uints(), few_uints())
TRY(__funnelshift_rc, few_uints(), few_uints(), few_uints())

// ---- arithmetic ----------------------------------------------------------------------------------------------

TRY(__hadd, ints(), ints())
TRY(__rhadd, ints(), ints())
TRY(__uhadd, uints(), uints())
TRY(__urhadd, uints(), uints())
TRY(__mul24, ints(), ints())
TRY(__umul24, uints(), uints())
TRY(__mulhi, ints(), ints())
TRY(__umulhi, uints(), uints())
TRY(__mul64hi, longs(), longs())
TRY(__umul64hi, ulongs(), ulongs())
TRY(__sad, few_ints(), few_ints(), few_uints())
TRY(__usad, few_uints(), few_uints(), few_uints())
TRY(umin, uints(), uints())
TRY(umax, uints(), uints())
TRY(llmin, longs(), longs())
TRY(llmax, longs(), longs())
TRY(ullmin, ulongs(), ulongs())
TRY(ullmax, ulongs(), ulongs())

CALL_OF(min)
CALL_OF(max)
const Case min_of_ints("min of integers", [] { return map(Call_min{}, ints(), ints()); });
const Case max_of_ints("max of integers", [] { return map(Call_max{}, ints(), ints()); });
const Case min_of_mixed("min of int and unsigned", [] { return map(Call_min{}, ints(), uints()); });
const Case max_of_mixed("max of int and unsigned", [] { return map(Call_max{}, ints(), uints()); });
const Case min_of_longs("min of long long", [] { return map(Call_min{}, longs(), longs()); });
const Case min_of_floats("min of floats", [] { return map(Call_min{}, floats(), floats()); });
const Case max_of_floats("max of floats", [] { return map(Call_max{}, floats(), floats()); });
const Case min_of_doubles("min of doubles", [] { return map(Call_min{}, doubles(), doubles()); });
const Case max_of_doubles("max of doubles", [] { return map(Call_max{}, doubles(), doubles()); });

CALL_OF(__dp4a)
CALL_OF(__dp2a_lo)
CALL_OF(__dp2a_hi)
const Case dp4a_signed("__dp4a of int", [] { return map(Call___dp4a{}, few_ints(), few_ints(), few_ints()); });
const Case dp4a_unsigned("__dp4a of unsigned",
                         [] { return map(Call___dp4a{}, few_uints(), few_uints(), few_uints()); });
const Case dp2a_lo_signed("__dp2a_lo of int", [] { return map(Call___dp2a_lo{}, few_ints(), few_ints(), few_ints()); });
const Case dp2a_lo_unsigned("__dp2a_lo of unsigned",
                            [] { return map(Call___dp2a_lo{}, few_uints(), few_uints(), few_uints()); });
const Case dp2a_hi_signed("__dp2a_hi of int", [] { return map(Call___dp2a_hi{}, few_ints(), few_ints(), few_ints()); });
const Case dp2a_hi_unsigned("__dp2a_hi of unsigned",
                            [] { return map(Call___dp2a_hi{}, few_uints(), few_uints(), few_uints()); });

// What the language leaves undefined, or does in its own way.
struct Divide {
    __device__ int operator()(int a, int b) const { return b == 0 || (b == -1 && a < -0x7fffffff) ? 0 : a / b; }
};
struct Remainder {
    __device__ int operator()(int a, int b) const { return b == 0 || (b == -1 && a < -0x7fffffff) ? 0 : a % b; }
};
const Case quotient("operator/ of int", [] { return map(Divide{}, ints(), ints()); });
const Case rest("operator% of int", [] { return map(Remainder{}, ints(), ints()); });

TRY(__viaddmax_s32, few_ints(), few_ints(), few_ints())
TRY(__viaddmax_s32_relu, few_ints(), few_ints(), few_ints())
TRY(__viaddmax_u32, few_uints(), few_uints(), few_uints())
TRY(__viaddmin_s32, few_ints(), few_ints(), few_ints())
TRY(__viaddmin_s32_relu, few_ints(), few_ints(), few_ints())
TRY(__viaddmin_u32, few_uints(), few_uints(), few_uints())
TRY(__vimax3_s32, few_ints(), few_ints(), few_ints())
TRY(__vimax3_s32_relu, few_ints(), few_ints(), few_ints())
TRY(__vimax3_u32, few_uints(), few_uints(), few_uints())
TRY(__vimin3_s32, few_ints(), few_ints(), few_ints())
TRY(__vimin3_s32_relu, few_ints(), few_ints(), few_ints())
TRY(__vimin3_u32, few_uints(), few_uints(), few_uints())
TRY(__vimax_s32_relu, ints(), ints())
TRY(__vimin_s32_relu, ints(), ints())

// ---- bytes and halfwords in a word -----------------------------------------------------------------------------

std::vector<unsigned> packed() {
    return {0u, 0xffffffffu, 0x80808080u, 0x7f7f7f7fu, 0x80008000u, 0x7fff7fffu, 0x00017f80u, 0x0102fdfcu, 0x12345678u};
}
TRY(__vabs2, packed())
TRY(__vabs4, packed())
TRY(__vabsss2, packed())
TRY(__vabsss4, packed())
TRY(__vneg2, packed())
TRY(__vneg4, packed())
TRY(__vnegss2, packed())
TRY(__vnegss4, packed())

TRY(__vabsdiffs2, packed(), packed())
TRY(__vabsdiffs4, packed(), packed())
TRY(__vabsdiffu2, packed(), packed())
TRY(__vabsdiffu4, packed(), packed())
TRY(__vadd2, packed(), packed())
TRY(__vadd4, packed(), packed())
TRY(__vaddss2, packed(), packed())
TRY(__vaddss4, packed(), packed())
TRY(__vaddus2, packed(), packed())
TRY(__vaddus4, packed(), packed())
TRY(__vavgs2, packed(), packed())
TRY(__vavgs4, packed(), packed())
TRY(__vavgu2, packed(), packed())
TRY(__vavgu4, packed(), packed())
TRY(__vcmpeq2, packed(), packed())
TRY(__vcmpeq4, packed(), packed())
TRY(__vcmpges2, packed(), packed())
TRY(__vcmpges4, packed(), packed())
TRY(__vcmpgeu2, packed(), packed())
TRY(__vcmpgeu4, packed(), packed())
TRY(__vcmpgts2, packed(), packed())
TRY(__vcmpgts4, packed(), packed())
TRY(__vcmpgtu2, packed(), packed())
TRY(__vcmpgtu4, packed(), packed())
TRY(__vcmples2, packed(), packed())
TRY(__vcmples4, packed(), packed())
TRY(__vcmpleu2, packed(), packed())
TRY(__vcmpleu4, packed(), packed())
TRY(__vcmplts2, packed(), packed())
TRY(__vcmplts4, packed(), packed())
TRY(__vcmpltu2, packed(), packed())
TRY(__vcmpltu4, packed(), packed())
TRY(__vcmpne2, packed(), packed())
TRY(__vcmpne4, packed(), packed())
TRY(__vhaddu2, packed(), packed())
TRY(__vhaddu4, packed(), packed())
TRY(__vmaxs2, packed(), packed())
TRY(__vmaxs4, packed(), packed())
TRY(__vmaxu2, packed(), packed())
TRY(__vmaxu4, packed(), packed())
TRY(__vmins2, packed(), packed())
TRY(__vmins4, packed(), packed())
TRY(__vminu2, packed(), packed())
TRY(__vminu4, packed(), packed())
TRY(__vsads2, packed(), packed())
TRY(__vsads4, packed(), packed())
TRY(__vsadu2, packed(), packed())
TRY(__vsadu4, packed(), packed())
TRY(__vseteq2, packed(), packed())
TRY(__vseteq4, packed(), packed())
TRY(__vsetges2, packed(), packed())
TRY(__vsetges4, packed(), packed())
TRY(__vsetgeu2, packed(), packed())
TRY(__vsetgeu4, packed(), packed())
TRY(__vsetgts2, packed(), packed())
TRY(__vsetgts4, packed(), packed())
TRY(__vsetgtu2, packed(), packed())
TRY(__vsetgtu4, packed(), packed())
TRY(__vsetles2, packed(), packed())
TRY(__vsetles4, packed(), packed())
TRY(__vsetleu2, packed(), packed())
TRY(__vsetleu4, packed(), packed())
TRY(__vsetlts2, packed(), packed())
TRY(__vsetlts4, packed(), packed())
TRY(__vsetltu2, packed(), packed())
TRY(__vsetltu4, packed(), packed())
TRY(__vsetne2, packed(), packed())
TRY(__vsetne4, packed(), packed())
TRY(__vsub2, packed(), packed())
TRY(__vsub4, packed(), packed())
TRY(__vsubss2, packed(), packed())
TRY(__vsubss4, packed(), packed())
TRY(__vsubus2, packed(), packed())
TRY(__vsubus4, packed(), packed())

}  // namespace
