/** Renders a guide's Markdown as HTML. The text is trusted: nothing is escaped beyond Markdown. */

export interface GuideHeading {
  readonly id: string;
  readonly title: string;
  readonly level: number;
}

export interface RenderedGuide {
  readonly html: string;
  readonly sections: readonly GuideHeading[];
}

/** A row of a table that begins with a name in code, after a status at most. */
const NAMED_ROW = /<tr>(?=<td>(?:\d{3}<\/td><td>)?<code>([\w.]+)<\/code>)/g;

/**
 * Sections and the named rows of tables, such as settings, can be linked to.
 *
 * @param text with its title, which the HTML leaves out because the page shows it itself.
 */
export function renderMarkdown(text: string): RenderedGuide {
  const sections: GuideHeading[] = [];
  const linked = new Set<string>();
  const html = Bun.markdown
    .html(text.replace(/^# .*\n/, ''), { headings: { ids: true, autolink: true } })
    // The files link to each other by file name, as readers of the repository need it.
    .replace(/(<a href="[\w-]+)\.md(?=[#"])/g, '$1')
    .replace(/<h([23]) id="([^"]+)">(.*?)<\/h\1>/g, (heading, level: string, id: string, content: string) => {
      sections.push({ id, title: plain(content), level: Number(level) });
      return heading;
    })
    .replace(NAMED_ROW, (row, name: string) => {
      if (sections.some(({ id }) => id === name) || linked.has(name)) return row;
      linked.add(name);
      return `<tr id="${name}">`;
    })
    .replaceAll('<table>', '<div class="table" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll('</table>', '</table></div>')
    .replace(
      /<pre><code(?: class="language-(\w+)")?>(.*?)<\/code><\/pre>/gs,
      (_, language: string | undefined, code: string) =>
        `<div class="code"><pre tabindex="0"><code>${highlight(code, language ?? '')}</code></pre></div>`,
    );
  return { html, sections };
}

/** Returns the text of HTML. */
export function plain(html: string): string {
  return html
    .replace(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

const SLASHES = String.raw`(?<![:\w])\/\/[^\n]*|\/\*.*?\*\/`;
const HASH = String.raw`(?<=^|\s)#[^\n]*`;
/** Comment syntax by language; other languages are not highlighted. */
const COMMENTS: Readonly<Record<string, string>> = {
  js: SLASHES,
  ts: SLASHES,
  go: SLASHES,
  php: SLASHES,
  json: '(?!)',
  sh: HASH,
  python: HASH,
  nginx: HASH,
  yaml: HASH,
};
/** In a shell, text in single quotes may have several lines. */
const stringsOf = (language: string) =>
  String.raw`&quot;(?:(?!&quot;|\n).)*&quot;|'[^'${language === 'sh' ? '' : String.raw`\n`}]*'|${'`'}[^${'`'}]*${'`'}`;
const WORDS =
  'import|export|from|const|let|function|async|await|return|if|else|for|of|in|throw|try|catch|except|new|class|def|with|as|raise|package|func|var|type|struct|defer|range|nil|None|True|False|true|false|null';

/** Marks comments, strings and keywords by regular expression, without parsing. @param code already escaped. */
function highlight(code: string, language: string): string {
  const comment = COMMENTS[language];
  if (comment === undefined) return code;
  const words = language === 'sh' || language === 'nginx' ? '(?!)' : String.raw`\b(?:${WORDS})\b`;
  const pattern = new RegExp(`(?<comment>${comment})|(?<string>${stringsOf(language)})|(?<word>${words})`, 'gms');
  return code.replace(pattern, (...given) => {
    const groups = given.at(-1) as Record<string, string | undefined>;
    const [kind = '', text = ''] = Object.entries(groups).find(([, found]) => found !== undefined) ?? [];
    return `<span class="code-${kind}">${text}</span>`;
  });
}
