/** Renders a hosted page as a complete HTML document, which its script hydrates in the browser. */
import { type ComponentChildren, options } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Locale } from '../core/locale.ts';
import { messagesFor, textsFor } from '../i18n/catalogue.ts';
import type { Service } from '../i18n/texts.ts';
import { accentPath } from './accent.ts';
import type { Brand } from './application-brand.ts';
import { assetUrl } from './assets.ts';
import { TextsProvider } from './components/texts.tsx';
import type { PageData } from './page-data.ts';

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
  /** Gatehouse's own by default. */
  readonly brand?: Brand | null;
  /** Style sheet other than that of the hosted pages. */
  readonly style?: string;
  /** Script that renders the body from scratch. */
  readonly module?: string;
  /** Data that a `module` shows first. */
  readonly data?: unknown;
  /** The first step stays hidden until the script shows a later one, or for six seconds. */
  readonly isContinued?: boolean;
}

/** Renders without inline script or style; every resource comes from this server. */
export function renderPage(page: PageDocument): string {
  const { locale, title, body, script, brand, style = 'style.css', module, isContinued } = page;
  const texts = textsFor(locale);
  const accent = brand?.accentColor ? accentPath(brand.accentColor) : null;
  const icon = brand?.iconUrl ?? null;
  const props: PageData | undefined = script && {
    locale: texts.locale,
    messages: messagesFor(locale, script.services),
    props: script.props,
  };
  const data = props ?? page.data;
  const document = renderToString(
    <html lang={texts.locale} data-continued={isContinued ? '' : undefined} data-ready={script ? undefined : ''}>
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="color-scheme" content="light dark" />
        {accent && <meta name="theme-color" content={brand?.accentColor ?? ''} />}
        {icon === null ? (
          <link rel="icon" href={assetUrl('favicon.svg')} type="image/svg+xml" />
        ) : (
          <>
            <link rel="icon" href={icon} />
            <link rel="apple-touch-icon" href={icon} />
          </>
        )}
        <link rel="stylesheet" href={assetUrl(style)} />
        {accent && <link rel="stylesheet" href={accent} />}
        {script && <script type="module" src={assetUrl(script.asset)} />}
        {module && <script type="module" src={assetUrl(module)} />}
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
