/** Builds HTML from templates in which every value is escaped unless it is HTML built here. */

/** Markup that is safe to send. Only `html` and `jsonBlock` make it, so that a plain string can never pass for it. */
class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

export type { Html };

/** What a template takes. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/**
 * Template tag: escapes values for text and for quoted attributes (always quote them); nested Html and arrays are
 * kept, `null`, `undefined` and `false` are left out.
 */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(strings.reduce((markup, string, index) => markup + render(values[index - 1]) + string));
}

/**
 * A data block a script can read with `JSON.parse`. It is not executed, so a strict Content-Security-Policy allows
 * it; `<` is escaped, so no value can end the block.
 */
export function jsonBlock(id: string, data: unknown): Html {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return new Html(`<script type="application/json" id="${escape(id)}">${json}</script>`);
}

/** A whole document as text, with its doctype. */
export function renderDocument(root: Html): string {
  return `<!doctype html>\n${root}\n`;
}

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (Array.isArray(value)) return value.map(render).join('');
  return escape(String(value));
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
