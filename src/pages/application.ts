/** How an application shows itself on a hosted page. */

import { html, type Html } from '../core/html.ts';

/** What a page shows of an application. */
export interface ShownApplication {
  name: string;
  clientId: string;
  logoUrl: string | null;
  accentColor: string | null;
}

/** The logo, with the name's first letter behind it for when there is none or it does not load. */
export function applicationMark({ name, logoUrl }: ShownApplication): Html {
  const [initial = ''] = name.trim().toUpperCase();
  const canShow = logoUrl !== null && /^(?:https:\/\/|data:image\/|\/(?!\/))/i.test(logoUrl);
  return html`<span class="tile" aria-hidden="true"
    >${initial}${canShow && html`<img id="logo" src="${logoUrl}" alt="" />`}</span
  >`;
}
