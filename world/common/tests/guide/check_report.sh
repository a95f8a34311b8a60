#!/usr/bin/env bash
# Opens a report in headless Chromium as a phone, a desktop and a printer would, in both color schemes, and fails when
# it loads anything, runs into an error, is wider than the window, lacks a part, holds an empty plot or one whose words
# overlap, or shows text that is hard to read (contrast below WCAG's level AA). Where it has views, they are opened and
# stepped. Without JavaScript it has to hold the numbers of its plots.
#
#     check_report.sh FILE.html [FOLDER]        FOLDER: keep pictures of it there, and the printed pages
#
# Needs chromium (CHROMIUM=PROGRAM names another one). Exit status: 0 all is well, 1 faults (named), 2 it could not be
# checked.
set -euo pipefail

cannot() {
    echo "check_report: $*" >&2
    exit 2
}

[[ $# -ge 1 ]] || cannot "which file? check_report.sh FILE.html [FOLDER]"
[[ -r "$1" ]] || cannot "cannot read $1"
page=$(realpath "$1")
pictures=${2:-}
chromium=${CHROMIUM:-chromium}
command -v "$chromium" >/dev/null || cannot "no $chromium here; on Debian: apt-get install chromium"

folder=$(mktemp -d)
browser=''
clean_up() {
    [[ -z "$browser" ]] || kill "$browser" 2>/dev/null || true
    [[ -z "$browser" ]] || wait "$browser" 2>/dev/null || true
    rm -rf "$folder" || true
}
trap clean_up EXIT
faults=0
fault() {
    echo "$page: $*"
    faults=$((faults + 1))
}

readonly flags=(--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-default-apps --disable-extensions --hide-scrollbars)

# ---- the text of the file -------------------------------------------------------------------------------------------

# Everything that an HTML or SVG file can load is named by an attribute or by the style sheet. (What its script asks for
# the browser tells, below.)
outside=$(sed '/^<script type="application\/json"/d; /^<script nonce=/,/^<\/script>/d' "$page" |
    grep -Eoi '(src|href|srcset|action|data|poster)="[^"#][^"]*"|url\([^)]*\)|@import[^;]*' |
    grep -v '^href="data:,"$' || true)
[[ -z "$outside" ]] || fault "refers to something outside of it: ${outside//$'\n'/, }"
bytes=$(stat -c %s "$page")
[[ $bytes -lt 3000000 ]] || fault "is $bytes bytes, more than 3 MB"

# One script, which the page itself names; plots and traces are data.
views=$(grep -c '^<details data-view=' "$page" || true)
nonce=$(sed -n "s/.*script-src 'nonce-\([0-9a-f]*\)'.*/\1/p" "$page")
scripts=$(grep -oi '<script[^>]*>' "$page" | grep -v '^<script type="application/json" id="[^"]*">$' || true)
[[ -n "$nonce" && "$scripts" == "<script nonce=\"$nonce\">" ]] || fault "holds other scripts than its own: $scripts"

# ---- a conversation with the browser --------------------------------------------------------------------------------

# Messages are JSON, each ended by a zero byte; the browser reads descriptor 3 and writes descriptor 4.
mkfifo "$folder/to" "$folder/from"
exec {to}<>"$folder/to" {from}<>"$folder/from"
"$chromium" "${flags[@]}" --user-data-dir="$folder/profile" --remote-debugging-pipe about:blank \
    3<"$folder/to" 4>"$folder/from" >"$folder/browser.log" 2>&1 &
browser=$!

number=0
session=''
answer=''
: >"$folder/events"
# next_message: into `answer`; events are kept as well.
next_message() {
    IFS= read -r -d '' -t 60 -u "$from" answer ||
        cannot "the browser does not answer: $(tail -n 3 "$folder/browser.log")"
    [[ "$answer" == '{"id":'* ]] || printf '%s\n' "$answer" >>"$folder/events"
}
# call METHOD PARAMETERS: the answer is in `answer`.
call() {
    number=$((number + 1))
    printf '{"id":%d,"method":"%s","params":%s%s}\0' \
        "$number" "$1" "$2" "${session:+,\"sessionId\":\"$session\"}" >&"$to"
    while :; do
        next_message
        [[ "$answer" == "{\"id\":$number,"* ]] || continue
        [[ "$answer" != *'"error":{'* ]] || cannot "$1: $answer"
        return 0
    done
}
# value_of NAME: the text of this member of the answer.
value_of() { sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p" <<<"$answer"; }

call Target.createTarget '{"url":"about:blank"}'
target=$(value_of targetId)
call Target.attachToTarget "{\"targetId\":\"$target\",\"flatten\":true}"
session=$(value_of sessionId)
for domain in Page Runtime Network Log; do call "$domain.enable" '{}'; done

# ---- what is wrong with the page as it is shown ---------------------------------------------------------------------

# Without double quotes and backslashes, so that it can stand in JSON as it is. Returns the faults in one line.
examine=$(tr '\n' ' ' <<'END'
((width, paper) => {
  const faults = [];
  const all = selector => [...document.querySelectorAll(selector)];
  const name = element => element.tagName + ' ' + (element.id || element.textContent.trim().slice(0, 40));

  if (document.scrollingElement.scrollWidth > width) {
    const wide = all('body *')
      .filter(e => !e.closest('.scroll,pre,svg') && e.getBoundingClientRect().right > width + 1);
    faults.push('wider than ' + width + ': ' + document.scrollingElement.scrollWidth +
                ' (' + wide.slice(0, 3).map(name) + ')');
  }

  for (const id of ['environment', 'summary', 'path', 'exercises']) {
    const heading = document.getElementById(id);
    if (!heading || heading.tagName != 'H2') faults.push('no part ' + id);
    else if (heading.closest('details,section').children.length < 2) faults.push('nothing in ' + id);
  }
  if (!all('h2[id^=chapter-]').length) faults.push('no chapter');

  let level = 0;
  for (const heading of all('h1,h2,h3,h4,h5,h6')) {
    const next = +heading.tagName[1];
    if (next > level + 1) faults.push('heading skips a level: ' + name(heading));
    level = next;
  }
  const ids = all('[id]').map(e => e.id);
  const twice = ids.filter((id, i) => ids.indexOf(id) != i);
  if (twice.length) faults.push('identifiers used twice: ' + twice.slice(0, 3));
  for (const link of all('a[href]')) {
    if (!document.getElementById(decodeURIComponent(link.hash.slice(1)))) faults.push('link to nowhere: ' + name(link));
  }
  for (const table of all('table').filter(e => !e.closest('.ww'))) {
    if (!table.caption || !table.caption.textContent.trim()) faults.push('table without caption: ' + name(table));
    for (const cell of table.querySelectorAll('th')) {
      if (!cell.scope) faults.push('header cell without scope: ' + name(cell));
    }
  }

  const parts = color => (color.match(/[0-9.]+/g) || [0, 0, 0, 0]).map(Number);
  const luminance = color => {
    const [r, g, b] = parts(color).slice(0, 3).map(c => c / 255)
      .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = element => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, alpha = 1] = parts(getComputedStyle(e).backgroundColor);
      layers.unshift([[r, g, b], alpha]);
      if (alpha == 1) break;
    }
    const mixed = layers.reduce((below, [color, alpha]) => color.map((c, i) => alpha * c + (1 - alpha) * below[i]),
                                [255, 255, 255]);
    return 'rgb(' + mixed.map(Math.round).join(', ') + ')';
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const faint = new Map();
  for (const element of all('body *')) {
    if (element.closest('desc,title,defs,.ww svg,script,noscript')) continue;
    if (![...element.childNodes].some(node => node.nodeType == 3 && node.data.trim())) continue;
    const style = getComputedStyle(element);
    if (!element.getClientRects().length || style.visibility == 'hidden') continue;
    const color = element.closest('svg') ? style.fill : style.color;
    const behind = background(element);
    const found = contrast(color, behind);
    if (found < 4.5) faint.set(color + ' on ' + behind, found.toFixed(2) + ': ' + name(element));
  }
  for (const [colors, text] of faint) faults.push('contrast of text ' + colors + ' is ' + text);

  for (const figure of all('figure')) {
    if (!figure.querySelector('svg')) faults.push('figure without a drawing: ' + name(figure));
  }
  if (!all('figure').length) faults.push('no plot at all');
  for (const svg of all('figure svg')) {
    const box = svg.getBoundingClientRect();
    /* In a view, a picture of one request may be one row high, and its lines of text tell what each color shows. */
    const isPlot = !svg.closest('[data-view]');
    const said = tag => (svg.querySelector(':scope > ' + tag) || {textContent: ''}).textContent.trim();
    const title = isPlot ? said('title') : svg.getAttribute('aria-label');
    if (!title || (isPlot && !said('desc'))) faults.push('plot without title or description');
    if (isPlot && (box.width < 180 || box.height < 90)) faults.push('plot too small: ' + title);
    const shapes = [...svg.querySelectorAll('path,polygon,use,circle,rect')].filter(e => !e.closest('defs'));
    const paint = e => [e.getAttribute('fill'), e.getAttribute('stroke'), e.getAttribute('color')].join(' ');
    const data = shapes.filter(e => /var|rgb|#/.test(paint(e)) &&
                                    !paint(e).includes('plot-grid') && !paint(e).includes('plot-text'));
    if (!data.length) faults.push('empty plot: ' + title);
    for (const shape of isPlot ? data : []) {
      const style = getComputedStyle(shape);
      const color = shape.tagName == 'use' ? style.color : shape.getAttribute('fill') ? style.fill : style.stroke;
      if (color == 'none' || contrast(color, background(svg)) < 3) {
        faults.push('faint shape, ' + color + ', in plot: ' + title);
        break;
      }
    }
    for (const text of svg.querySelectorAll('text')) {
      const place = text.getBoundingClientRect();
      if (place.left < box.left - 2 || place.right > box.right + 2 ||
          place.top < box.top - 3 || place.bottom > box.bottom + 3)
        faults.push('text cut off in plot ' + title + ': ' + text.textContent);
    }
    const words = [...svg.querySelectorAll('text')].map(text => ({text, place: text.getBoundingClientRect()}));
    words.forEach(({text, place}, i) => {
      const other = words.slice(0, i).find(word => word.place.left < place.right - 2 && place.left < word.place.right - 2 &&
                                                   word.place.top < place.bottom - 5 && place.top < word.place.bottom - 5);
      if (other) faults.push('words overlap in plot ' + title + ': ' + other.text.textContent + ', ' + text.textContent);
    });
    const smallest = Math.min(...[...svg.querySelectorAll('text')]
      .map(t => t.getBoundingClientRect().height));
    if (smallest < 9) faults.push('text of ' + smallest.toFixed(1) + ' pixels in plot: ' + title);
  }
  if (paper && luminance(background(document.body)) < 0.9) faults.push('dark paper');
  if (paper && all('.views').some(e => e.getClientRects().length)) faults.push('views on paper');
  return faults.slice(0, 12).map(text => text.replace(/["\s]+/g, ' ')).join(' | ');
})
END
)

# The page as it is opened: details are folded, and what is not fits a desktop's screen. Then opens them all.
unfold=$(tr '\n' ' ' <<'END'
(async (width, height) => {
  const tall = document.scrollingElement.scrollHeight;
  const folds = [...document.querySelectorAll('.fold')];
  const open = folds.filter(e => e.open).length;
  for (const fold of folds) fold.open = true;
  await new Promise(done => setTimeout(done, 500));  /* until the plots are drawn */
  if (!folds.length || open) return folds.length + ' folded parts, of which ' + open + ' are open';
  return width > 1000 && tall > height ? 'the front page has ' + tall + ' pixels, more than a screen' : '';
})
END
)

# Opens the first view of each kind, or every view, and steps it.
step_views=$(tr '\n' ' ' <<'END'
(async every => {
  const faults = [];
  const until = async isSo => {
    for (let i = 0; i < 200 && !isSo(); ++i) await new Promise(done => setTimeout(done, 25));
    return isSo();
  };
  const of = kind => [...document.querySelectorAll('[data-view=' + kind + ']')];
  const chosen = ['warp', 'block'].flatMap(kind => every ? of(kind) : of(kind).slice(0, 1));
  for (const details of chosen) {
    const name = details.dataset.view + ' view of ' + details.dataset.trace;
    details.firstChild.click();
    const view = () => details.querySelector('.ww-' + details.dataset.view + '-view');
    if (!await until(view)) {
      faults.push(name + ' is not shown: ' + details.textContent);
      continue;
    }
    const said = () => [...details.querySelectorAll('.ww-say')].map(e => e.textContent).join(' ');
    const press = label => details.querySelector('button[aria-label=' + CSS.escape(label) + ']').click();
    const before = said();
    press('Step forward');
    if (!await until(() => said() != before)) faults.push(name + ' cannot be stepped: ' + before);
    press('Step back');
    if (!await until(() => said() == before)) faults.push(name + ' cannot be stepped back: ' + said());
    if (!details.querySelector('svg rect')) faults.push(name + ' draws nothing');
    if (!details.querySelector('li[aria-current]')) faults.push(name + ' marks no line');
  }
  return faults.slice(0, 12).map(text => text.replace(/["\s]+/g, ' ')).join(' | ');
})
END
)
quoted() {
    local text=${1//\\/\\\\}
    printf '%s' "${text//\"/\\\"}"
}
without_script=$(tr '\n' ' ' <<'END'
(() => {
  const isShown = element => element && element.getClientRects().length > 0;
  const all = selector => [...document.querySelectorAll(selector)];
  for (const fold of all('.fold')) fold.open = true;
  if (all('.views').some(isShown)) return 'views are shown';
  if (!isShown(document.querySelector('header noscript p'))) return 'nothing says what is missing';
  const hasNumbers = figure =>
    isShown(figure.querySelector('table')) && /[0-9]/.test(figure.querySelector('tbody td').textContent);
  const bare = all('figure').find(figure => !hasNumbers(figure));
  return bare ? 'a plot without its numbers: ' + bare.querySelector('figcaption').textContent.slice(0, 60).replace(/\s+/g, ' ') : '';
})()
END
)
examine=$(quoted "$examine")
step_views=$(quoted "$step_views")

# evaluate NAME EXPRESSION: what it returns, if anything, is a fault.
evaluate() {
    call Runtime.evaluate "{\"expression\":\"$2\",\"returnByValue\":true,\"awaitPromise\":true}"
    [[ "$answer" != *'"exceptionDetails"'* ]] || cannot "the examination failed: $answer"
    local found
    found=$(value_of value)
    [[ -z "$found" ]] || fault "$1: $found"
}
# picture NAME WIDTH [SELECTOR]: the page from there on, as much of it as the browser can draw in one piece.
picture() {
    [[ -n "$pictures" ]] || return 0
    mkdir -p "$pictures"
    call Runtime.evaluate \
        "{\"expression\":\"document.querySelector('${3:-html}').getBoundingClientRect().top + scrollY | 0\"}"
    local top
    top=$(sed -n 's/.*"value":\([0-9]*\).*/\1/p' <<<"$answer")
    call Page.captureScreenshot "{\"format\":\"jpeg\",\"quality\":60,\"captureBeyondViewport\":true,
        \"clip\":{\"x\":0,\"y\":$top,\"width\":$2,\"height\":16000,\"scale\":1}}"
    value_of data | base64 -d >"$pictures/$1.jpg"
}

# wait_for_load: until the page has been loaded once more.
loads=0
wait_for_load() {
    local loaded
    loaded=$(grep -c '"method":"Page.loadEventFired"' "$folder/events" || true)
    while [[ $loaded -le $loads ]]; do
        next_message
        [[ "$answer" != *'"method":"Page.loadEventFired"'* ]] || loaded=$((loaded + 1))
    done
    loads=$loaded
}

# examine_as NAME WIDTH HEIGHT MEDIA SCHEME
examine_as() {
    local paper=false
    [[ $4 != print ]] || paper=true
    call Emulation.setDeviceMetricsOverride "{\"width\":$2,\"height\":$3,\"deviceScaleFactor\":1,\"mobile\":false}"
    call Emulation.setEmulatedMedia \
        "{\"media\":\"$4\",\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"$5\"}]}"
    call Page.navigate "{\"url\":\"file://$page\"}"
    [[ "$answer" != *'"errorText"'* ]] || cannot "the browser cannot open $page: $(value_of errorText)"
    wait_for_load
    evaluate "$1, front page" "$unfold($2, $3)"
    evaluate "$1" "$examine($2, $paper)"
    picture "$1" "$2"
    [[ $views != 0 && $paper == false ]] || return 0
    local every=false
    [[ $1 != desktop ]] || every=true
    evaluate "$1, views" "$step_views($every)"
    evaluate "$1, views open" "$examine($2, false)"
    [[ $every == true ]] || picture "$1_views" "$2" '[data-view]'
}

examine_as phone 390 844 screen light
examine_as phone_dark 390 844 screen dark
examine_as small_phone 360 740 screen light
examine_as narrow_phone 320 640 screen light
examine_as desktop 1280 900 screen light
examine_as desktop_dark 1280 900 screen dark
examine_as paper 794 1123 print dark

# Without JavaScript there are no views, which the page says, and tables in place of plots.
call Emulation.setScriptExecutionDisabled '{"value":true}'
call Page.reload '{}'
wait_for_load
evaluate "without JavaScript" "$(quoted "$without_script")"
call Emulation.setScriptExecutionDisabled '{"value":false}'

# What the page asked for, from the events so far: itself, once for each time that it was opened.
requests=$(grep '"method":"Network.requestWillBeSent"' "$folder/events" | grep -o '"request":{[^}]*"url":"[^"]*"' |
    sed 's/.*"url":"//; s/"$//' | grep -v -e '^data:' | grep -vF "$(basename "$page")" | sort -u || true)
[[ -z "$requests" ]] || fault "asks for ${requests//$'\n'/, }"
errors=$(grep -E '"method":"(Runtime.exceptionThrown|Log.entryAdded|Runtime.consoleAPICalled)"' "$folder/events" |
    grep -o '"text":"[^"]*"' | sort -u || true)
[[ -z "$errors" ]] || fault "the browser complains: ${errors//$'\n'/, }"

# ---- on paper -------------------------------------------------------------------------------------------------------

paper=$folder/report.pdf
"$chromium" "${flags[@]}" --user-data-dir="$folder/profile_of_printer" --no-pdf-header-footer --print-to-pdf="$paper" \
    "file://$page" >"$folder/printer.log" 2>&1 || true
if [[ ! -s "$paper" || "$(head -c 5 "$paper")" != '%PDF-' ]]; then
    fault "could not be printed: $(tail -n 2 "$folder/printer.log")"
elif [[ $(grep -ac '/Type /Page$\|/Type /Page[^s]' "$paper") -lt 2 ]]; then
    fault "is less than two pages on paper"
fi
[[ -z "$pictures" || ! -s "$paper" ]] || cp "$paper" "$pictures/paper.pdf"

[[ $faults == 0 ]] || exit 1
echo "$page: all is well ($bytes bytes)"
