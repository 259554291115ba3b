/** Draws the API reference from this server's description, without third-party requests, below text that can be read. */
import { startSearch } from './search-field.ts';

interface Scalar {
  createApiReference(selector: string, configuration: object): void;
}

declare global {
  interface Window {
    readonly Scalar: Scalar;
  }
}

/** Height of the bar, and of the space below it that a place keeps when it is scrolled to. */
const BAR_PX = 100;

startSearch();

// The renderer is a megabyte: the text is painted first.
requestAnimationFrame(() => setTimeout(loadRenderer));

function loadRenderer(): void {
  const target = document.querySelector<HTMLElement>('#reference');
  if (!target) return;
  const script = document.createElement('script');
  script.src = target.dataset['renderer'] ?? '';
  script.onload = () => draw(target);
  document.head.append(script);
}

/** Replaces the text once the operation that is being read has been drawn too. */
function draw(target: HTMLElement): void {
  const read = operationBeingRead();
  const place = read === null ? 'section[id*="/"]' : `section[id$="${CSS.escape(read)}"]`;
  const observer = new MutationObserver(() => {
    const drawn = target.querySelector(place);
    if (!drawn) return;
    observer.disconnect();
    document.querySelector('#outline')?.remove();
    document.querySelector('#title')?.classList.add('visually-hidden');
    if (read !== null) drawn.scrollIntoView();
  });
  observer.observe(target, { attributeFilter: ['id'], childList: true, subtree: true });
  window.Scalar.createApiReference('#reference', {
    url: '/openapi.json?part=all',
    // Styled by docs.css, which follows the system's colour scheme.
    theme: 'none',
    withDefaultFonts: false,
    hideDarkModeToggle: true,
    forceDarkModeState: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
    // The documentation's own search covers operations and guides.
    hideSearch: true,
    // Disables everything that contacts third parties.
    telemetry: false,
    proxyUrl: '',
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    documentDownloadType: 'none',
    persistAuth: false,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  });
}

/** Returns the operation in the address, or puts the one in view there, to which the renderer scrolls; null at the top. */
function operationBeingRead(): string | null {
  if (location.hash !== '') return document.querySelector('#outline article:target')?.id ?? null;
  if (scrollY === 0) return null;
  const read = [...document.querySelectorAll('#outline article')].find(
    (article) => article.getBoundingClientRect().bottom > BAR_PX,
  );
  if (read) history.replaceState(history.state, '', `#${read.id}`);
  return read?.id ?? null;
}
