// The built site on a port of its own, as any server would give it, and a count of what a page loads.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const dist = fileURLToPath(new URL('../.vitepress/dist/', import.meta.url));
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml' };

/// {url, close, sent}: `sent` collects {path, bytes} of all answers, compressed.
export async function serveSite() {
    if (!fs.existsSync(dist)) throw new Error('there is no .vitepress/dist: npm run build');
    const sent = [];
    const server = http.createServer((request, response) => {
        let name = decodeURIComponent(new URL(request.url, 'http://site').pathname);
        if (name.endsWith('/')) name += 'index.html';
        let file = path.join(dist, path.normalize(name));
        if (!path.extname(file)) file += '.html';
        const found = file.startsWith(dist) && fs.existsSync(file);
        const body = gzipSync(fs.readFileSync(found ? file : path.join(dist, '404.html')));
        sent.push({ path: name, bytes: body.length });
        response.writeHead(found ? 200 : 404, { 'Content-Type': found ? types[path.extname(file)] ?? 'application/octet-stream' : types['.html'], 'Content-Encoding': 'gzip' });
        response.end(body);
    });
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
    return { url: `http://127.0.0.1:${server.address().port}`, sent, close: () => new Promise((closed) => { server.closeAllConnections(); server.close(closed); }) };
}
