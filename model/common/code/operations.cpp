#include "common/code/operations.h"

#include <algorithm>
#include <iterator>

namespace warpwise::code {
namespace {

using O = Operation;
using U = Unit;

/// In the order of their codes.
constexpr OperationRow table[] = {
    {0x002, "MOV", O::other, U::alu, 0},
    {0x003, "P2R", O::integer, U::alu, 0},
    {0x004, "R2P", O::integer, U::alu, 0},
    {0x005, "CS2R", O::other, U::alu, 0},
    {0x006, "VOTE", O::shuffle, U::alu, 0},
    {0x007, "SEL", O::integer, U::alu, 0},
    {0x008, "FSEL", O::fp32, U::alu, 0},
    {0x009, "FMNMX", O::fp32, U::alu, 0},
    {0x00a, "FSET", O::fp32, U::alu, 0},
    {0x00b, "FSETP", O::fp32, U::alu, 0},
    {0x00c, "ISETP", O::integer, U::alu, 0},
    {0x010, "IADD3", O::integer, U::alu, 0},
    {0x011, "LEA", O::integer, U::alu, 0},
    {0x012, "LOP3", O::integer, U::alu, 0},
    {0x013, "IABS", O::integer, U::alu, 0},
    {0x014, "VABSDIFF", O::integer, U::alu, 0},
    {0x015, "VABSDIFF4", O::integer, U::alu, 0},
    {0x016, "PRMT", O::integer, U::alu, 0},
    {0x017, "IMNMX", O::integer, U::alu, 0},
    {0x019, "SHF", O::integer, U::alu, 0},
    {0x01a, "SGXT", O::integer, U::alu, 0},
    {0x01b, "BMSK", O::integer, U::alu, 0},
    {0x01c, "PLOP3", O::integer, U::alu, 0},
    {0x020, "FMUL", O::fp32, U::fma, 1},
    {0x021, "FADD", O::fp32, U::fma, 1},
    {0x023, "FFMA", O::fp32, U::fma, 2},
    {0x024, "IMAD", O::integer, U::fma_heavy, 0},
    {0x025, "IMAD.WIDE", O::integer, U::fma_heavy, 0},
    {0x026, "IDP", O::integer, U::fma_heavy, 0},
    {0x027, "IMAD.HI", O::integer, U::fma_heavy, 0},
    {0x028, "DMUL", O::fp64, U::fp64, 1},
    {0x029, "DADD", O::fp64, U::fp64, 1},
    {0x02a, "DSETP", O::fp64, U::fp64, 0},
    {0x02b, "DFMA", O::fp64, U::fp64, 2},
    {0x030, "HADD2", O::fp16, U::fma, 2},
    {0x031, "HFMA2", O::fp16, U::fma, 4},
    {0x032, "HMUL2", O::fp16, U::fma, 2},
    {0x033, "HSET2", O::fp16, U::alu, 0},
    {0x034, "HSETP2", O::fp16, U::alu, 0},
    {0x035, "HFMA2.MMA", O::fp16, U::fma, 4},  // nvcc moves constants with it, too
    {0x036, "VIADD", O::integer, U::fma, 0},
    {0x037, "IMMA", O::tensor, U::tensor, 0},
    {0x03c, "HMMA", O::tensor, U::tensor, 0},
    {0x03d, "BMMA", O::tensor, U::tensor, 0},
    {0x03e, "F2FP", O::conversion, U::alu, 0},
    {0x03f, "DMMA", O::tensor, U::tensor, 0},
    {0x040, "HMNMX2", O::fp16, U::alu, 0},
    {0x045, "I2FP", O::conversion, U::alu, 0},
    {0x048, "VIMNMX", O::integer, U::alu, 0},
    {0x082, "UMOV", O::uniform, U::none, 0},
    {0x086, "VOTEU", O::uniform, U::none, 0},
    {0x087, "USEL", O::uniform, U::none, 0},
    {0x08c, "UISETP", O::uniform, U::none, 0},
    {0x090, "UIADD3", O::uniform, U::none, 0},
    {0x091, "ULEA", O::uniform, U::none, 0},
    {0x092, "ULOP3", O::uniform, U::none, 0},
    {0x096, "UPRMT", O::uniform, U::none, 0},
    {0x099, "USHF", O::uniform, U::none, 0},
    {0x09c, "UPLOP3", O::uniform, U::none, 0},
    {0x0a4, "UIMAD", O::uniform, U::none, 0},
    {0x0a5, "UIMAD.WIDE", O::uniform, U::none, 0},
    {0x0b9, "ULDC", O::uniform, U::none, 0},
    {0x0bd, "UFLO", O::uniform, U::none, 0},
    {0x0bf, "UPOPC", O::uniform, U::none, 0},
    {0x0ca, "R2UR", O::uniform, U::none, 0},
    {0x100, "FLO", O::integer, U::xu, 0},
    {0x101, "BREV", O::integer, U::xu, 0},
    {0x102, "FCHK", O::fp32, U::xu, 0},
    {0x104, "F2F", O::conversion, U::xu, 0},
    {0x105, "F2I", O::conversion, U::xu, 0},
    {0x106, "I2F", O::conversion, U::xu, 0},
    {0x107, "FRND", O::conversion, U::xu, 0},
    {0x108, "MUFU", O::special, U::xu, 0},
    {0x109, "POPC", O::integer, U::xu, 0},
    {0x110, "F2F.64", O::conversion, U::xu, 0},
    {0x111, "F2I.64", O::conversion, U::xu, 0},
    {0x112, "I2F.64", O::conversion, U::xu, 0},
    {0x113, "FRND.64", O::conversion, U::xu, 0},
    {0x118, "NOP", O::other, U::none, 0},
    {0x119, "S2R", O::other, U::lsu, 0},
    {0x11d, "BAR", O::barrier, U::none, 0},
    {0x141, "BSYNC", O::branch, U::none, 0},
    {0x142, "BREAK", O::branch, U::none, 0},
    {0x144, "CALL", O::branch, U::none, 0},
    {0x145, "BSSY", O::branch, U::none, 0},
    {0x146, "YIELD", O::branch, U::none, 0},
    {0x147, "BRA", O::branch, U::none, 0},
    {0x148, "WARPSYNC", O::branch, U::none, 0},
    {0x149, "BRX", O::branch, U::none, 0},
    {0x14d, "EXIT", O::branch, U::none, 0},
    {0x150, "RET", O::branch, U::none, 0},
    {0x15d, "NANOSLEEP", O::other, U::none, 0},
    {0x160, "TEX", O::texture, U::tex, 0},
    {0x166, "TLD", O::texture, U::tex, 0},
    {0x181, "LDG", O::load_global, U::lsu, 0},
    {0x182, "LDC", O::load_constant, U::none, 0},
    {0x183, "LDL", O::load_local, U::lsu, 0},
    {0x184, "LDS", O::load_shared, U::lsu, 0},
    {0x186, "STG", O::store_global, U::lsu, 0},
    {0x187, "STL", O::store_local, U::lsu, 0},
    {0x188, "STS", O::store_shared, U::lsu, 0},
    {0x189, "SHFL", O::shuffle, U::lsu, 0},
    {0x18c, "ATOMS", O::atomic_shared, U::lsu, 0},
    {0x18d, "ATOMS.CAS", O::atomic_shared, U::lsu, 0},
    {0x18e, "RED", O::atomic_global, U::lsu, 0},
    {0x18f, "CCTL", O::other, U::none, 0},
    {0x192, "MEMBAR", O::other, U::none, 0},
    {0x1a1, "MATCH", O::shuffle, U::none, 0},
    {0x1a6, "RED.F", O::atomic_global, U::lsu, 0},
    {0x1a8, "ATOMG", O::atomic_global, U::lsu, 0},
    {0x1a9, "ATOMG.CAS", O::atomic_global, U::lsu, 0},
    {0x1ab, "ERRBAR", O::other, U::none, 0},
    {0x1ae, "LDGSTS", O::load_global, U::lsu, 0},
    {0x1c3, "S2UR", O::uniform, U::none, 0},
    {0x1c4, "REDUX", O::shuffle, U::none, 0},
};
static_assert(std::is_sorted(std::begin(table), std::end(table),
                             [](const OperationRow& a, const OperationRow& b) { return a.code < b.code; }));

constexpr OperationRow unknown = {0, "?", O::other, U::none, 0};

}  // namespace

const OperationRow& operation_of(unsigned code) {
    const auto* const found =
        std::lower_bound(std::begin(table), std::end(table), code,
                         [](const OperationRow& row, unsigned wanted) { return row.code < wanted; });
    return found != std::end(table) && found->code == code ? *found : unknown;
}

}  // namespace warpwise::code
