// What pops up at terms: {en: {"term-warp": [term, meaning, address]}, zh: ...}, worked out when the book is built.
import { glossary } from '../../book/glossary.mjs';
import { addressOf } from '../../book/search_index.mjs';

export type TermTexts = Record<string, [term: string, meaning: string, address: string]>;
export declare const data: Record<'en' | 'zh', TermTexts>;

const texts = (language: 'en' | 'zh'): TermTexts =>
    Object.fromEntries(
        glossary(language).map(({ id, term, meaning, page }) => [
            id,
            [term, meaning, addressOf((language === 'zh' ? 'zh/' : '') + page)],
        ]),
    );

export default {
    watch: ['../../../glossary.md', '../../../zh/glossary.md'],
    load: () => ({ en: texts('en'), zh: texts('zh') }),
};
