// Where views get their data from: as a property, or from whoever shows the view.
import { inject, onMounted, shallowRef, watch, type InjectionKey } from 'vue';
import type { RooflineData } from './roofline';
import { checkTrace, type Trace } from './trace';

export type LoadTrace = (name: string) => Promise<unknown>;

/// app.provide(traceSource, (name) => ...): what `src` means.
export const traceSource: InjectionKey<LoadTrace> = Symbol('traces');

/// app.provide(rooflineSource, () => ...): the roofline that is shown where none is given.
export const rooflineSource: InjectionKey<() => Promise<RooflineData | undefined>> = Symbol('roofline');

/// `src` may name several traces, with spaces between: their launches are shown together.
export function useTrace(props: { trace?: Trace; src?: string }) {
    const load = inject(traceSource, undefined);
    const trace = shallowRef<Trace | undefined>(props.trace);
    const sources = shallowRef<Trace[]>(props.trace ? [props.trace] : []);
    const failed = shallowRef('');

    async function read() {
        if (props.trace || !props.src) {
            trace.value = props.trace;
            sources.value = props.trace ? [props.trace] : [];
            return;
        }
        const names = props.src.split(/\s+/).filter(Boolean);
        try {
            if (!load) throw new Error('nobody provides traces');
            const all = (await Promise.all(names.map(load))).map(checkTrace);
            sources.value = all;
            trace.value = { ...all[0], launches: all.flatMap(({ launches }) => launches) };
            failed.value = '';
        } catch {
            failed.value = props.src;
        }
    }
    onMounted(read);
    watch(() => [props.trace, props.src], read);
    return { trace, sources, failed };
}
