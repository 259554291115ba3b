/** Shows the application's look: its colour, and its logo as long as it loads. */

import { applyAccent } from './accent.ts';

/** To be called once the document is there. */
export function showApplicationLook(): void {
  applyAccent();
  const logo = document.getElementById('logo');
  logo?.addEventListener('error', () => logo.remove());
  if (logo instanceof HTMLImageElement && logo.complete && logo.naturalWidth === 0) logo.remove();
}
