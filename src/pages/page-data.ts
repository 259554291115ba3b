/** What the server hands to a page's script. */
import type { Messages } from '../i18n/texts.ts';

/** The page is rendered from the same again. */
export interface PageData {
  /** The language of the messages. */
  readonly locale: string;
  readonly messages: Messages;
  readonly props: unknown;
}
