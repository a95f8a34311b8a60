// Colors of code: GitHub's, darkened in light and lightened in dark until each has a contrast of at least 4.5 on every ground that
// code stands on here (themes.test.mjs).
import dark from '@shikijs/themes/github-dark';
import light from '@shikijs/themes/github-light';

const replaced = (theme, name, colors) => {
    const text = JSON.stringify(theme).replace(/#[0-9a-f]{6}\b/gi, (color) => colors[color.toLowerCase()] ?? color);
    return { ...JSON.parse(text), name };
};

/// For VitePress' markdown.theme.
export const themes = {
    light: replaced(light, 'warpwise-light', { '#6a737d': '#586069', '#d73a49': '#b5202c', '#22863a': '#17692b', '#e36209': '#953800', '#005cc5': '#0054b4' }),
    dark: replaced(dark, 'warpwise-dark', { '#6a737d': '#a3abb5', '#c24e00': '#ffa46b', '#f97583': '#ff8a96' }),
};

const light1 = (channel) => (channel <= 0.03928 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
const luminance = (color) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => sum + part * light1(Number.parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16) / 255), 0);

/// The contrast of two colors "#rrggbb", as WCAG defines it.
export function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}
