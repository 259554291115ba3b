/** Renders a hosted page as a complete HTML document, which its script hydrates in the browser. */
import { type ComponentChildren, options } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Locale } from '../core/locale.ts';
import { messagesFor, textsFor } from '../i18n/catalogue.ts';
import type { Service } from '../i18n/texts.ts';
import { accentPath } from './accent.ts';
import { assetUrl } from './assets.ts';
import { TextsProvider } from './components/texts.tsx';
import type { PageData } from './page-data.ts';

/** Delays the first paint until the script has run: only the browser knows some steps, such as a pending code. */
const BEFORE_PAINT = { blocking: 'render' };

/** Writes `translate="no"` in HTML: the property is a boolean in browsers, but false would omit the attribute. */
const { vnode: next } = options;
options.vnode = (vnode) => {
  const props = vnode.props as { translate?: unknown };
  if (typeof vnode.type === 'string' && props.translate === false) props.translate = 'no';
  next?.(vnode);
};

export interface PageDocument {
  readonly locale: Locale;
  readonly title: string;
  readonly body: ComponentChildren;
  /** Script that hydrates the page, with its props; a page without one works without JavaScript. */
  readonly script?: { readonly asset: string; readonly props: unknown; readonly services: readonly Service[] };
  readonly accentColor?: string | null;
  /** Style sheet other than that of the hosted pages. */
  readonly style?: string;
  /** Script that renders the body from scratch, without props. */
  readonly module?: string;
  /** Classic script loaded before a module of ours starts. */
  readonly library?: { readonly asset: string; readonly module: string };
}

/** Renders without inline script or style; every resource comes from this server. */
export function renderPage(page: PageDocument): string {
  const { locale, title, body, script, accentColor, style = 'style.css', module, library } = page;
  const texts = textsFor(locale);
  const accent = accentColor ? accentPath(accentColor) : null;
  const data: PageData | undefined = script && {
    locale: texts.locale,
    messages: messagesFor(locale, script.services),
    props: script.props,
  };
  const document = renderToString(
    <html lang={texts.locale}>
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href={assetUrl('favicon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={assetUrl(style)} />
        {accent && <link rel="stylesheet" href={accent} />}
        {script && <script type="module" src={assetUrl(script.asset)} {...BEFORE_PAINT} />}
        {module && <script type="module" src={assetUrl(module)} />}
        {library && <script defer src={assetUrl(library.asset)} />}
        {library && <script type="module" src={assetUrl(library.module)} />}
      </head>
      <body>
        <div id="page">
          <TextsProvider texts={texts}>{body}</TextsProvider>
        </div>
        {data && (
          <script type="application/json" id="page-data" dangerouslySetInnerHTML={{ __html: dataBlock(data) }} />
        )}
      </body>
    </html>,
  );
  return `<!doctype html>\n${document}\n`;
}

/** Returns JSON for a non-executed script block, which a strict CSP allows. No value can end the block. */
function dataBlock(data: unknown): string {
  return JSON.stringify(data).replaceAll('<', '\\u003c');
}
