/** The shell of every hosted page: document head, the card, the foot. What is in the card is the page's own affair. */

import type { Locale } from '../core/locale.ts';
import { assetUrl } from './assets.ts';
import { html, jsonBlock, renderDocument, type Html } from '../core/html.ts';

/** What a page puts into the shell. */
export interface PageShell {
  locale: Locale;
  title: string;
  /** What stands at the top of the card. */
  brand: Html;
  body: Html;
  /** The page's script and what it reads; a page without one works without JavaScript. */
  script?: { asset: string; data: unknown; neededText: string };
  accentColor?: string | null;
  /** A card with room for code samples. */
  isWide?: boolean;
}

const HEX_COLOR = /^#(?:[0-9a-f]{3}){1,2}$/i;

/** Renders a complete document without inline script or style; everything it loads comes from this server. */
export function renderPage(page: PageShell): string {
  const accent = page.accentColor && HEX_COLOR.test(page.accentColor) ? page.accentColor : null;
  return renderDocument(html`<html lang="${page.locale}"${accent && html` data-accent="${accent}"`}>
<head>
<meta charset="utf-8">
<title>${page.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${assetUrl('favicon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetUrl('style.css')}">
${page.script && html`<script type="module" src="${assetUrl(page.script.asset)}" blocking="render"></script>`}
</head>
<body>
<main${page.isWide && html` class="wide"`}>
<div class="card">
<div class="brand">${page.brand}</div>
${page.script && html`<noscript><p class="message">${page.script.neededText}</p></noscript>`}
${page.body}
</div>
</main>
<footer>${gateMark}<span translate="no">Gatehouse</span></footer>
${page.script && jsonBlock('page-data', page.script.data)}
</body>
</html>`);
}

/** The product's own mark, in the colour of the text around it. */
export const gateMark: Html = html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
  <path
    fill="currentColor"
    d="M3 21V5.5A1.5 1.5 0 0 1 4.5 4H6a1 1 0 0 1 1 1v1.5h3V5a1 1 0 0 1 1-1h2a1 1 0 0 1 1 1v1.5h3V5a1 1 0 0 1 1-1h1.5A1.5 1.5 0 0 1 21 5.5V21h-5.25v-5.25a3.75 3.75 0 0 0-7.5 0V21z"
  />
</svg>`;
