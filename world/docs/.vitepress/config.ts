import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMarkdownRenderer, defineConfig, type DefaultTheme, type MarkdownOptions } from 'vitepress';
import { articleOf, linkPreview, writeEditions } from './book/editions.mjs';
import { readBook, titleOf, writePages } from './book/pages.mjs';
import { root } from './book/repository.mjs';
import { sidebar } from './book/sidebar.mjs';
import { sourceHtml, sourceLink } from './book/sources.mjs';
import { cuda } from './markdown/cuda.mjs';
import { bookMarkdown } from './markdown/index.mjs';
import { themes } from './markdown/themes.mjs';
import { searchFile, searchIndex } from './book/search_index.mjs';

// BOOK_BASE: where the site lies on its server, such as /warpwise/.
const base = process.env.BOOK_BASE ?? '/';
// BOOK_SITE: the server, such as https://name.github.io, for previews of links.
const site = process.env.BOOK_SITE ?? '';
const book = writePages();
const articles = new Map<string, string>(); // of built pages

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

const markdown: MarkdownOptions = {
    ...(cuda as object),
    theme: themes as MarkdownOptions['theme'],
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
    },
    markdown,
    transformHead: ({ pageData, title, description }) => linkPreview({ page: pageData.relativePath, title, description }, { site, base }),
    transformHtml(html, id, { pageData, content }) {
        const article = articleOf(content);
        if (article && book.pages.has(pageData.relativePath)) articles.set(pageData.relativePath, article);
    },
    // The search, the printable book, and sources that pages point to.
    async buildEnd({ outDir }) {
        writeEditions(book, articles, outDir, { base, titleOf });
        const { options } = await createMarkdownRenderer(outDir, markdown, base);
        for (const source of book.sources) {
            const file = path.join(outDir, sourceLink(source));
            fs.mkdirSync(path.dirname(file), { recursive: true });
            fs.writeFileSync(file, sourceHtml(source, options.highlight));
        }
    },
    vite: {
        publicDir: path.join(root, 'docs', 'public'), // served as it is: traces
        define: { __HAS_ARCHIVE__: JSON.stringify(site !== '') }, // pages.yml puts it beside the pages
        resolve: { alias: [{ find: /^.*\/VPHome\.vue$/, replacement: fileURLToPath(new URL('./theme/components/Home.vue', import.meta.url)) }] },
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
                        const language = ['en', 'zh'].find((each) => request.url?.split(/[?#]/)[0] === base + searchFile(each));
                        if (!language) return next();
                        const md = await createMarkdownRenderer(root, { ...markdown, highlight: (code) => `<pre>${md.utils.escapeHtml(code)}</pre>` }, base);
                        response.setHeader('Content-Type', 'application/json');
                        response.end(JSON.stringify(searchIndex(readBook(), md, language)));
                    });
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
