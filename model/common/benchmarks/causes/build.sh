# Sourced by run.sh and ncu.sh: compiles what is not in $bin yet, or is older than its source, for the GPU of this machine.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
bin=../../../build/bin/cuda/benchmarks/causes
mkdir -p "$bin" || exit 1
for source in *.cu; do
    program=$bin/${source%.cu}
    [ "$program" -nt "$source" ] && [ "$program" -nt experiment.cuh ] && continue
    "${NVCC:-nvcc}" -std=c++20 -I../../.. -O3 -arch="${ARCH:-native}" -lineinfo -o "$program" "$source" || exit 1
done
