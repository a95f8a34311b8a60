// Where views get their data from: as a property, or from whoever shows the view.
import { inject, onMounted, shallowRef, watch, type InjectionKey } from 'vue';
import { checkTrace, type Trace } from '../../../../common/views/trace.mjs';
import type { RooflineData } from './roofline';

export type LoadTrace = (name: string) => Promise<unknown>;

/// app.provide(traceSource, (name) => ...): what `src` means.
export const traceSource: InjectionKey<LoadTrace> = Symbol('traces');

/// app.provide(rooflineSource, () => ...): the roofline that is shown where none is given.
export const rooflineSource: InjectionKey<() => Promise<RooflineData | undefined>> = Symbol('roofline');

export interface TraceProps {
    trace?: Trace | Trace[];
    src?: string; // one name, or several with spaces between
}

/// The traces that `trace` or `src` stand for; none until they are there.
export function useTraces(props: TraceProps) {
    const load = inject(traceSource, undefined);
    const traces = shallowRef<Trace[]>([]);
    const failed = shallowRef('');

    async function read() {
        failed.value = '';
        if (props.trace) {
            traces.value = [props.trace].flat();
            return;
        }
        try {
            if (!load || !props.src) throw new Error('nobody says which trace');
            const documents = await Promise.all(props.src.split(/\s+/).filter(Boolean).map(load));
            traces.value = documents.map(checkTrace);
        } catch {
            failed.value = props.src ?? '';
        }
    }
    onMounted(read);
    watch(() => [props.trace, props.src], read);
    return { traces, failed };
}
