import DefaultTheme from 'vitepress/theme-without-fonts';
import type { Theme } from 'vitepress';
import Layout from './Layout.vue';
import './style.css';

// Components that pages may use are registered here (app.component): views of traces, explorers ...
export default {
    extends: DefaultTheme,
    Layout,
    enhanceApp({ app }) {
        void app;
    },
} satisfies Theme;
