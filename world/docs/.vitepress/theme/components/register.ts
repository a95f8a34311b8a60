// Makes the interactive views known to the book's pages. They are loaded only by pages that show them.
//
//     import { registerViews } from './components/register';
//     enhanceApp({ app }) { registerViews(app); }
import { defineAsyncComponent, type App } from 'vue';
import { rooflineSource, traceSource } from './sources';

const traces = import.meta.glob('../../../public/traces/*.json', { import: 'default' });

export function registerViews(app: App) {
    app.component(
        'WarpView',
        defineAsyncComponent(() => import('./WarpView.vue')),
    );
    app.component(
        'BlockView',
        defineAsyncComponent(() => import('./BlockView.vue')),
    );
    app.component(
        'LiveKernel',
        defineAsyncComponent(() => import('./LiveKernel.vue')),
    );
    app.component(
        'TraceLoader',
        defineAsyncComponent(() => import('./TraceLoader.vue')),
    );
    app.component(
        'OccupancyExplorer',
        defineAsyncComponent(() => import('./OccupancyExplorer.vue')),
    );
    app.component(
        'AmdahlExplorer',
        defineAsyncComponent(() => import('./AmdahlExplorer.vue')),
    );
    app.component(
        'Drawing',
        defineAsyncComponent(() => import('./Drawing.vue')),
    );
    app.component(
        'Roofline',
        defineAsyncComponent(() => import('./Roofline.vue')),
    );
    app.provide(traceSource, (name) => {
        const load = traces[`../../../public/traces/${name}.json`];
        return load ? load() : Promise.reject(new Error(`there is no trace ${name}`));
    });
    app.provide(rooflineSource, async () => (await import('./roofline.data')).data);
}
