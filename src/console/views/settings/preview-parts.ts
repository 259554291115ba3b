/** Build-time macro: provides the sign-in preview with only the server-side parts it needs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messagesFor } from '../../../i18n/catalogue.ts';
import type { Messages } from '../../../i18n/texts.ts';

const STYLE = join(import.meta.dir, '../../../pages/style');
const SHEETS = ['tokens', 'base', 'frame', 'controls', 'steps'];

/** Style sheets of the hosted pages, in their order. */
export function pageStyle(): string {
  const sheets = SHEETS.map((name) => readFileSync(join(STYLE, `${name}.css`), 'utf8'));
  return sheets
    .join('\n')
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s+/g, ' ');
}

export function signInMessages(): Messages {
  return messagesFor('en', ['signin']);
}
