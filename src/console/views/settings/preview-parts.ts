/** Build time only, as a macro of the bundler: what the preview of the sign-in page takes from the server's side, and no more of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messagesFor } from '../../../i18n/catalogue.ts';
import type { Messages } from '../../../i18n/texts.ts';

const STYLE = join(import.meta.dir, '../../../pages/style');
const SHEETS = ['tokens', 'base', 'frame', 'controls', 'steps'];

/** The style of the hosted pages, in the order in which they have it. */
export function pageStyle(): string {
  const sheets = SHEETS.map((name) => readFileSync(join(STYLE, `${name}.css`), 'utf8'));
  return sheets
    .join('\n')
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s+/g, ' ');
}

/** The English words of the sign-in page. */
export function signInMessages(): Messages {
  return messagesFor('en', ['signin']);
}
