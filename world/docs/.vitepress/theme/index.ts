import DefaultTheme from 'vitepress/theme-without-fonts';
import type { Theme } from 'vitepress';
import Layout from './Layout.vue';
import { registerViews } from './components/register';
import '@fontsource-variable/bricolage-grotesque';
import './identity.css';
import './style.css';

// Components that pages may use: views of traces, explorers (components/register.ts).
export default {
    extends: DefaultTheme,
    Layout,
    enhanceApp({ app }) {
        registerViews(app);
    },
} satisfies Theme;
