// The language of a view: its `lang` property, else that of the document, also when that changes.
import { computed, onBeforeUnmount, onMounted, ref } from 'vue';
import { languageOf, messages } from './messages';

export function useLanguage(props: { lang?: string }) {
    const documentLanguage = ref<string>();
    let observer: MutationObserver | undefined;
    onMounted(() => {
        const root = document.documentElement;
        const read = () => (documentLanguage.value = root.lang);
        read();
        observer = new MutationObserver(read);
        observer.observe(root, { attributes: true, attributeFilter: ['lang'] });
    });
    onBeforeUnmount(() => observer?.disconnect());
    const language = computed(() => languageOf(props.lang ?? documentLanguage.value));
    const text = computed(() => messages[language.value]);
    return { language, text };
}
