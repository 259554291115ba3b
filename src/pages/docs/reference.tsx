/** Page of the API reference, rendered from this instance's own description. */
import type { GuideEntry } from './docs.ts';
import { renderReferenceFrame } from './frame.tsx';

export function renderReference(guides: readonly GuideEntry[]): string {
  return renderReferenceFrame('API reference', {
    guides,
    here: '/docs/reference',
    children: (
      <main id="content">
        <h1 class="visually-hidden">API reference</h1>
        <div id="reference" />
        <noscript>
          <p class="note">
            The reference needs JavaScript. The same is in <a href="/openapi.yaml">openapi.yaml</a>.
          </p>
        </noscript>
      </main>
    ),
  });
}
