// What stands in the sidebar: the path of each chapter as chapter.json lists it (lessons, exercises, and pages between them), and
// the other pages in reading order. The links to the previous and the next page follow it.
import { titleOf } from './pages.mjs';
import { pageOf } from './repository.mjs';
import { strings } from './strings.mjs';

// Pages that stand on no chapter's path, in reading order; those that are not written yet are left out.
const parts = [
    { en: 'Start', zh: '入门', pages: ['start_here', 'installing', 'where_to_work', 'the_guide'] },
    { chapters: true },
    { en: 'Further', zh: '延伸', pages: [
        '1_basics_and_pi/first_program_mistakes',
        '2_memory_model/coalescing_further',
        '2_memory_model/bank_conflicts_further',
        '2_memory_model/host_memory_and_streams_further',
        '3_optimization/divergence_further',
        '3_optimization/accuracy_further',
        '3_optimization/dot_product_last_steps',
        '3_optimization/transpose_any_row_length',
        '4_examples/matrix_multiply_further',
        '4_examples/matrix_multiply_last_percent',
    ] },
    { en: 'Reference', zh: '参考', pages: ['counters_and_reports', 'time_model', 'warp_view', 'cpu_device', 'glossary', 'cuda_names', 'recorded', 'results/counters_h200', 'results/steps_h200', 'results/mistakes_h200', 'results/sanitizers_h200', 'results/causes_h200', 'results/what_is_graded', 'results/published_programs'] },
    { en: 'Contributing', zh: '参与编写', pages: ['add_a_lesson', 'fair_graders', 'recording', 'writing_pages', 'why_our_own'] },
];

/// The sidebar of one language, as VitePress wants it.
export function sidebar({ pages, chapters }, language) {
    const prefix = language === 'zh' ? 'zh/' : '';
    const item = (page, text) => ({ text: text ?? titleOf(pages.get(prefix + page).text), link: `/${prefix}${page.replace(/\.md$/, '.html').replace(/(^|\/)index\.html$/, '$1')}` });
    const result = [];
    for (const part of parts) {
        if (!part.chapters) {
            const written = part.pages.map((page) => `${page}.md`).filter((page) => pages.has(page));
            if (written.length > 0) result.push({ text: part[language], collapsed: false, items: written.map((page) => item(page)) });
            continue;
        }
        for (const chapter of chapters) {
            const items = [];
            for (const stop of chapter.path) {
                const page = pageOf(chapter, stop);
                if (!pages.has(prefix + page)) throw new Error(`chapters/${chapter.folder}/chapter.json: there is no page docs/${page}`);
                const number = chapter.lessons.findIndex((lesson) => lesson.name === stop.name) + 1;
                const text = titleOf(pages.get(prefix + page).text);
                if (stop.kind === 'exercise' && items.length > 0) (items.at(-1).items ??= []).push(item(page));
                else items.push(item(page, stop.kind === 'lesson' ? `${chapter.number}.${number} ${text}` : text));
            }
            result.push({ text: strings[language].chapter(chapter.number, chapter.title), collapsed: false, items });
        }
    }
    return result;
}

/// Written pages that the sidebar does not show.
export function pagesWithoutPlace(book) {
    const shown = new Set(JSON.stringify(sidebar(book, 'en')).match(/\/[^"]*\.html/g).map((link) => link.slice(1).replace(/\.html$/, '.md')));
    return [...book.pages].filter(([page, { made }]) => !made && !page.startsWith('zh/') && page !== 'index.md' && !shown.has(page)).map(([page]) => page);
}
