import fs from 'node:fs';
import path from 'node:path';
import { createMarkdownRenderer, defineConfig, type DefaultTheme, type MarkdownOptions } from 'vitepress';
import { writePages } from './book/pages.mjs';
import { root } from './book/repository.mjs';
import { sidebar } from './book/sidebar.mjs';
import { sourceHtml, sourceLink } from './book/sources.mjs';
import { cuda } from './markdown/cuda.mjs';
import { bookMarkdown } from './markdown/index.mjs';
import { tokenize } from './search.mjs';

// BOOK_BASE: where the site lies on its server, such as /warpwise/.
const base = process.env.BOOK_BASE ?? '/';
const book = writePages();

const chinese: DefaultTheme.Config = {
    nav: [
        { text: '入门', link: '/zh/start_here' },
        { text: '练习', link: '/zh/exercises/' },
        { text: '计数器与诊断', link: '/zh/counters_and_reports' },
        { text: '术语表', link: '/zh/glossary' },
    ],
    sidebar: sidebar(book, 'zh'),
    outline: { level: [2, 3], label: '本页内容' },
    docFooter: { prev: '上一页', next: '下一页' },
    darkModeSwitchLabel: '外观',
    lightModeSwitchTitle: '切换到浅色',
    darkModeSwitchTitle: '切换到深色',
    sidebarMenuLabel: '目录',
    returnToTopLabel: '回到顶部',
    langMenuLabel: '切换语言',
    skipToContentLabel: '跳到正文',
    notFound: { title: '没有这一页', quote: '链接可能已经过时。', linkLabel: '回到首页', linkText: '回到首页' },
};

const searchInChinese: Partial<DefaultTheme.LocalSearchOptions> = {
    translations: {
        button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
        modal: {
            displayDetails: '显示详情',
            resetButtonTitle: '清除',
            backButtonTitle: '关闭',
            noResultsText: '没有结果：',
            footer: { selectText: '打开', navigateText: '切换', closeText: '关闭' },
        },
    },
};

const markdown: MarkdownOptions = {
    ...(cuda as object),
    config: (md) => bookMarkdown(md, { book, base }),
};

export default defineConfig({
    title: 'Warpwise',
    base,
    srcDir: '.vitepress/pages',
    head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }]],
    lang: 'en',
    locales: {
        root: { label: 'English', lang: 'en', description: 'CUDA C++ step by step, with or without a GPU' },
        zh: { label: '简体中文', lang: 'zh-CN', description: '一步一步学 CUDA C++，有没有 GPU 都行', themeConfig: chinese },
    },
    themeConfig: {
        logo: { src: '/logo.svg', alt: '' },
        nav: [
            { text: 'Start', link: '/start_here' },
            { text: 'Exercises', link: '/exercises/' },
            { text: 'Counters and diagnostics', link: '/counters_and_reports' },
            { text: 'Glossary', link: '/glossary' },
        ],
        sidebar: sidebar(book, 'en'),
        outline: { level: [2, 3] },
        search: {
            provider: 'local',
            options: { locales: { zh: searchInChinese }, miniSearch: { options: { tokenize } } },
        },
    },
    markdown,
    // Sources that pages point to.
    async buildEnd({ outDir }) {
        const { options } = await createMarkdownRenderer(outDir, markdown, base);
        for (const source of book.sources) {
            const file = path.join(outDir, sourceLink(source));
            fs.mkdirSync(path.dirname(file), { recursive: true });
            fs.writeFileSync(file, sourceHtml(source, options.highlight));
        }
    },
    vite: {
        publicDir: path.join(root, 'docs', 'public'), // served as it is: traces
        server: { fs: { allow: [path.join(root, 'common', 'views')] } },
        build: { chunkSizeWarningLimit: 2000 },
        plugins: [
            {
                // A page, a source or a recorded run was changed: make the pages anew.
                name: 'warpwise:watch',
                configureServer(server) {
                    const folders = ['docs', 'chapters', 'exercises', 'solutions'].map((folder) => path.join(root, folder));
                    server.watcher.add(folders);
                    server.middlewares.use(async (request, response, next) => {
                        const source = [...book.sources].find((file) => request.url?.split(/[?#]/)[0] === sourceLink(file, base));
                        if (!source) return next();
                        const { options } = await createMarkdownRenderer(root, markdown, base);
                        response.setHeader('Content-Type', 'text/html; charset=utf-8');
                        response.end(sourceHtml(source, options.highlight));
                    });
                    server.watcher.on('change', (file) => {
                        const generated = file.includes(`${path.sep}.vitepress${path.sep}`);
                        if (generated || !folders.some((folder) => file.startsWith(folder))) return;
                        if (file.endsWith('.md')) writePages();
                        else if (/\.(cu|h|json)$/.test(file)) server.restart();
                    });
                },
            },
        ],
    },
});
