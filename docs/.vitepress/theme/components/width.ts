// The width that a drawing has, in pixels, so that it can be drawn without scaling letters.
import { onBeforeUnmount, onMounted, ref } from 'vue';

export function useWidth(initial = 400) {
    const element = ref<HTMLElement>();
    const width = ref(initial);
    let observer: ResizeObserver | undefined;
    onMounted(() => {
        if (!element.value) return;
        const read = () => {
            const now = Math.floor(element.value?.clientWidth ?? 0);
            if (now > 0) width.value = now;
        };
        read();
        observer = new ResizeObserver(read);
        observer.observe(element.value);
    });
    onBeforeUnmount(() => observer?.disconnect());
    return { element, width };
}
