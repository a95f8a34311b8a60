// Going through steps 0 to count - 1: by buttons, a slider, keys, or by itself.
import { computed, onBeforeUnmount, ref, watch, type Ref } from 'vue';

export function usePlayer(count: Readonly<Ref<number>>, interval = () => 700) {
    const position = ref(0);
    const playing = ref(false);
    let timer: ReturnType<typeof setTimeout> | undefined;

    const last = computed(() => Math.max(0, count.value - 1));
    const atEnd = computed(() => position.value >= last.value);

    function pause() {
        playing.value = false;
        clearTimeout(timer);
    }
    function tick() {
        if (!playing.value) return;
        if (!atEnd.value) ++position.value;
        if (atEnd.value) return pause();
        timer = setTimeout(tick, interval());
    }
    function play() {
        if (count.value < 2) return;
        if (atEnd.value) position.value = 0;
        playing.value = true;
        timer = setTimeout(tick, interval());
    }
    /// Steps by hand stop the play.
    function goTo(target: number) {
        pause();
        position.value = Math.min(last.value, Math.max(0, Math.round(target)));
    }
    watch(last, () => {
        if (position.value > last.value) goTo(last.value);
    });
    onBeforeUnmount(pause);

    /// Keys anywhere in the view, except where they mean something else.
    function onKeydown(event: KeyboardEvent) {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const target = event.target as HTMLElement;
        if (target.closest('select, textarea, [contenteditable]')) return;
        const input = target instanceof HTMLInputElement;
        if (input && target.type !== 'range') return;
        const scrolls = target.hasAttribute('data-scrolls');
        const press = target.closest('button, summary, a') !== null;
        if (event.key === ' ' && !press) playing.value ? pause() : play();
        else if (event.key === 'ArrowLeft' && !scrolls) goTo(position.value - 1);
        else if (event.key === 'ArrowRight' && !scrolls) goTo(position.value + 1);
        else if (event.key === 'Home' && !scrolls) goTo(0);
        else if (event.key === 'End' && !scrolls) goTo(last.value);
        else return;
        event.preventDefault();
    }

    return { position, playing, last, atEnd, play, pause, goTo, onKeydown };
}
