// What stands in the sidebar: lessons and exercises as the build lists them, and the other pages in reading order.
import { body, frontMatter } from './pages.mjs';
import { strings } from './strings.mjs';

// Pages that are neither lessons nor exercises, in reading order; those that are not written yet are left out.
const parts = [
    { en: 'Start', zh: '入门', pages: ['start_here', 'installing', 'where_to_work', 'how_to_read_the_tables', 'warp_view', 'the_guide'] },
    { chapters: true },
    { en: 'Background', zh: '背景知识', pages: ['gpu_architecture', 'execution_model', 'thread_hierarchy', 'programming_patterns', 'debugging', 'profiling'] },
    { en: 'Reference', zh: '参考', pages: ['counters_and_reports', 'cpu_device', 'glossary', 'recorded', 'results/counters_h200', 'results/steps_h200', 'results/mistakes_h200', 'results/sanitizers_h200', 'results/causes_h200', 'results/what_is_graded'] },
    { en: 'Contributing', zh: '参与编写', pages: ['add_a_lesson', 'writing_pages', 'why_our_own'] },
];

/// The title of a page: that of its front matter or its first heading.
export const titleOf = (text) => frontMatter(text, 'title') ?? /^# (.+)$/m.exec(body(text))?.[1].replace(/[`*]/g, '') ?? '';

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
            const items = chapter.lessons.map((lesson, index) => {
                const page = `${chapter.folder}/${lesson.name}.md`;
                return item(page, `${chapter.number}.${index + 1} ${titleOf(pages.get(prefix + page).text)}`);
            });
            const tasks = chapter.exercises.map((exercise) => item(`exercises/${chapter.folder}/${exercise.name}.md`));
            if (tasks.length > 0) items.push({ text: strings[language].exercises, collapsed: true, items: tasks });
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
