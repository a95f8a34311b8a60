// Colors of code: GitHub's, darkened in light and lightened in dark until each has a contrast of at least 4.5 on every ground that
// code stands on here (themes.test.mjs).
import dark from '@shikijs/themes/github-dark';
import light from '@shikijs/themes/github-light';

const changed = {
    light: { '#6a737d': '#586069', '#d73a49': '#b5202c', '#22863a': '#17692b', '#e36209': '#953800', '#005cc5': '#0054b4' },
    dark: { '#6a737d': '#a3abb5', '#c24e00': '#ffa46b', '#f97583': '#ff8a96' },
};
const name = (scope) => `--code-${[scope].flat()[0].replaceAll(/[. ]/g, '-')}`;

/// {"--code-keyword": ["#b5202c", "#ff8a96"]}: the colors of the names in light and in dark.
export const codeColors = {};
function variable(scope, ...colors) {
    const [inLight, inDark] = colors.map((color, i) => [changed.light, changed.dark][i][color.toLowerCase()] ?? color);
    const [same] = Object.entries(codeColors).find(([, [one, other]]) => one === inLight && other === inDark) ?? [];
    codeColors[same ?? name(scope)] = [inLight, inDark];
    return `var(${same ?? name(scope)})`;
}

/// For VitePress' markdown.theme. One theme, whose colors are variables, and not two: code is then read once, which takes most of the
/// time of a build. The two of GitHub have the same scopes in the same order.
export const theme = {
    name: 'warpwise',
    type: 'light',
    colors: {
        'editor.foreground': variable('text', light.colors['editor.foreground'], dark.colors['editor.foreground']),
        'editor.background': 'var(--vp-code-block-bg)',
    },
    tokenColors: light.tokenColors.map(({ scope, settings }, i) => {
        const other = dark.tokenColors[i];
        if (JSON.stringify(other.scope) !== JSON.stringify(scope)) throw new Error(`the themes differ at ${scope}`);
        const { fontStyle, foreground } = settings;
        return { scope, settings: { ...(fontStyle && { fontStyle }), ...(foreground && { foreground: variable(scope, foreground, other.settings.foreground) }) } };
    }),
};

/// The style sheet that says what the variables are.
export const codeColorsCss = [':root', '.dark']
    .map((where, i) => `${where} { ${Object.entries(codeColors).map(([variable, colors]) => `${variable}: ${colors[i]};`).join(' ')} }\n`)
    .join('');

const light1 = (channel) => (channel <= 0.03928 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
const luminance = (color) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => sum + part * light1(Number.parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16) / 255), 0);

/// The contrast of two colors "#rrggbb", as WCAG defines it.
export function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}
