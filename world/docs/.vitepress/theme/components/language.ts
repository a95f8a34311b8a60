// The language of a view: its `lang` property, else that of the page, also in the HTML that holds it before any script runs.
import { useData } from 'vitepress';
import { computed } from 'vue';
import { languageOf, messages } from './messages';

export function useLanguage(props: { lang?: string }) {
    const page = useData();
    const language = computed(() => languageOf(props.lang ?? page.lang.value));
    const text = computed(() => messages[language.value]);
    return { language, text };
}
