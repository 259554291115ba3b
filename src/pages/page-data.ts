import type { Messages } from '../i18n/texts.ts';

export interface PageData {
  readonly locale: string;
  readonly messages: Messages;
  readonly props: unknown;
}
