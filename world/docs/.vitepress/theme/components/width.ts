// The width of an element that is drawn in.
import { onBeforeUnmount, onMounted, ref } from 'vue';
import { watchWidth } from '../../../../common/views/dom.mjs';

export function useWidth(initial: number) {
    const element = ref<HTMLElement>();
    const width = ref(initial);
    let stop: (() => void) | undefined;
    onMounted(() => {
        if (element.value) stop = watchWidth(element.value, (now) => (width.value = now));
    });
    onBeforeUnmount(() => stop?.());
    return { element, width };
}
