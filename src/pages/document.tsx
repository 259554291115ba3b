/** A hosted page as a complete document: rendered here, and taken up by its script in the browser. */
import { type ComponentChildren, options } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Locale } from '../core/locale.ts';
import { messagesFor, textsFor } from '../i18n/catalogue.ts';
import type { Service } from '../i18n/texts.ts';
import { accentPath } from './accent.ts';
import { assetUrl } from './assets.ts';
import { TextsProvider } from './components/texts.tsx';
import type { PageData } from './page-data.ts';

/** Steps that only the browser knows, such as a code under way, are there with the first paint. */
const BEFORE_PAINT = { blocking: 'render' };

/** In a browser `translate` is a property that is true or false; in HTML it is a word, and false would leave it out. */
const { vnode: next } = options;
options.vnode = (vnode) => {
  const props = vnode.props as { translate?: unknown };
  if (typeof vnode.type === 'string' && props.translate === false) props.translate = 'no';
  next?.(vnode);
};

/** What a page puts into the document. */
export interface PageDocument {
  readonly locale: Locale;
  readonly title: string;
  readonly body: ComponentChildren;
  /** The script that takes the page up, and what it renders it from; a page without one works without JavaScript. */
  readonly script?: { readonly asset: string; readonly props: unknown; readonly services: readonly Service[] };
  readonly accentColor?: string | null;
  /** Another than the hosted pages' look. */
  readonly style?: string;
  /** A script that begins anew in the place of the body, without anything it renders from. */
  readonly module?: string;
  /** A script by its address that is there before another module of ours begins. */
  readonly library?: { readonly path: string; readonly module: string };
}

/** Without inline script or style; everything it loads comes from this server. */
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
        {library && <script defer src={library.path} />}
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

/** It is not executed, so that a strict Content-Security-Policy allows it; no value can end the block. */
function dataBlock(data: unknown): string {
  return JSON.stringify(data).replaceAll('<', '\\u003c');
}
