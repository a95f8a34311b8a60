// Files of the repository that pages point to, as pages of their own: plain HTML, the same in both languages, with an
// anchor for each line. Not pages of VitePress, because hundreds of highlighted files would take it minutes.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './repository.mjs';

const languages = { cu: 'cuda', cuh: 'cuda', h: 'cuda', cpp: 'cuda', json: 'json', md: 'md', sh: 'sh', py: 'py' };

const style = `
:root { color-scheme: light; --text: #24292e; --faint: #6e7781; --back: #fff; --mark: #dcfce7; }
.dark { color-scheme: dark; --text: #e1e4e8; --faint: #9198a1; --back: #1b1b1f; --mark: #14532d; }
body { margin: 0; padding: 16px; background: var(--back); color: var(--text); font: 14px/1.5 system-ui, sans-serif; }
h1 { font-size: 16px; overflow-wrap: anywhere; }
pre { overflow-x: auto; font: 13px/1.6 ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; counter-reset: line; }
.line { counter-increment: line; }
.line::before { content: counter(line); display: inline-block; width: 2.5em; margin-right: 1.5em; text-align: right; color: var(--faint); user-select: none; }
.line:target { background: var(--mark); }
.shiki span { color: var(--shiki-light, inherit); }
.dark .shiki span { color: var(--shiki-dark, inherit); }
a { color: inherit; }
`;

// The same choice of light and dark as on the pages.
const appearance = `
const chosen = localStorage.getItem('vitepress-theme-appearance') || 'auto';
if (chosen === 'dark' || (chosen === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)) document.documentElement.classList.add('dark');
`;

const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/// The address of a file of the repository.
export const sourceLink = (file, base = '/') => `${base}source/${file}.html`;

/// The page of a file or folder, as HTML. `highlight(code, language)` is VitePress' own.
export function sourceHtml(file, highlight) {
    const whole = path.join(root, file);
    let content;
    if (fs.statSync(whole).isDirectory()) {
        const names = fs.readdirSync(whole).filter((name) => !name.startsWith('.')).sort();
        content = `<ul>${names.map((name) => `<li><a href="${path.posix.basename(file)}/${name}.html">${name}</a></li>`).join('')}</ul>`;
    } else {
        const text = fs.readFileSync(whole, 'utf8').trimEnd();
        const language = text.length > 60000 ? 'txt' : languages[path.extname(file).slice(1)] ?? 'txt';
        let line = 0;
        content = highlight(text, language, '').replace(/<span class="line"/g, () => `<span class="line" id="L${++line}"`);
    }
    return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(file)}</title>
<link rel="icon" href="data:,"><style>${style}</style><script>${appearance}</script></head>
<body><h1>${escape(file)}</h1>
${content}
</body></html>
`;
}
