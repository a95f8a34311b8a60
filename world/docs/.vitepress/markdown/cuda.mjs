// What CUDA adds to C++, for the highlighter: a grammar that is injected into that of C++, and its name for fences.
const grammar = {
    name: 'cuda-words',
    scopeName: 'source.cuda-words',
    injectTo: ['source.cpp'],
    injectionSelector: 'L:source.cpp -comment -string',
    patterns: [
        { match: '\\b__(?:global|device|host|shared|constant|managed|restrict|noinline|forceinline|grid_constant)__\\b', name: 'storage.modifier.cuda' },
        { match: '\\b__launch_bounds__\\b', name: 'storage.modifier.cuda' },
        { match: '\\b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize)\\b', name: 'variable.language.cuda' },
        { match: '<<<|>>>', name: 'keyword.operator.launch.cuda' },
        { match: '\\b__(?:syncthreads|syncwarp|threadfence(?:_block|_system)?|shfl\\w*_sync|ballot_sync|any_sync|all_sync|reduce_\\w+_sync|activemask|ldg)\\b', name: 'support.function.cuda' },
        { match: '\\batomic(?:Add|Sub|Min|Max|Inc|Dec|Exch|CAS|And|Or|Xor)(?:_block|_system)?\\b', name: 'support.function.cuda' },
        { match: '\\b(?:u?char|u?short|u?int|u?long|u?longlong|float|double)[1-4]\\b|\\bdim3\\b', name: 'storage.type.cuda' },
    ],
};

/// For VitePress' markdown options.
export const cuda = { languages: ['cpp', grammar], languageAlias: { cuda: 'cpp', cu: 'cpp' } };
