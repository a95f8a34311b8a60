// The progress of this reader (progress.ts), shared by all components of the page and by other windows of this browser.
import { useData } from 'vitepress';
import { computed, onMounted, ref } from 'vue';
import { keyOf, nextStop, parsed, stopsOf, withMark, type Progress } from './progress';

const place = 'warpwise progress';
const progress = ref<Progress>({ done: [] });
const ready = ref(false);

function read() {
    try {
        progress.value = parsed(localStorage.getItem(place));
    } catch {
        // no storage: nothing is kept
    }
    ready.value = true;
}
function write(now: Progress) {
    progress.value = now;
    try {
        if (now.done.length === 0 && !now.last) localStorage.removeItem(place);
        else localStorage.setItem(place, JSON.stringify(now));
    } catch {
        // no storage
    }
}

let listens = false;
export function useProgress() {
    const { theme, page, site } = useData();
    const stops = computed(() => stopsOf(theme.value.sidebar ?? []));
    const key = computed(() => keyOf(page.value.relativePath));
    const here = computed(() => stops.value.find((stop) => stop.key === key.value));
    onMounted(() => {
        read();
        if (listens) return;
        listens = true;
        addEventListener('storage', (event) => event.key === place && read());
    });
    return {
        stops,
        here,
        progress,
        ready,
        keyOfLink: (href: string) => keyOf(href, site.value.base),
        next: computed(() => nextStop(stops.value, progress.value)),
        count: computed(() => stops.value.filter((stop) => progress.value.done.includes(stop.key)).length),
        mark: (isDone: boolean) => write(withMark(progress.value, key.value, isDone)),
        visit: () => here.value && progress.value.last !== key.value && write({ ...progress.value, last: key.value }),
        clear: () => write({ done: [] }),
    };
}
