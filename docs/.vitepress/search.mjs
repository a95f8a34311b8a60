// Words for the search: Latin ones as they are (identifiers whole and in parts), Chinese text in pairs of characters,
// since it has no spaces. VitePress sends this function to the browser as text, so it uses nothing from outside.
export function tokenize(text) {
    const words = [];
    for (const word of text.split(/[\s\p{P}\p{Z}\p{S}]+/u)) {
        for (const piece of word.match(/[\p{Script=Han}]+|[^\p{Script=Han}]+/gu) ?? []) {
            if (!/\p{Script=Han}/u.test(piece)) words.push(piece);
            else if (piece.length === 1) words.push(piece);
            else for (let i = 0; i + 1 < piece.length; ++i) words.push(piece.slice(i, i + 2));
        }
    }
    for (const identifier of text.match(/\w+_\w+/g) ?? []) words.push(identifier);
    return words;
}
