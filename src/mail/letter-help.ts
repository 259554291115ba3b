/** How a letter names the people who run the application, where it tells the reader to turn to them. */
import type { Letter } from './letter-parts.ts';

export interface Help {
  readonly label: string;
  readonly url: string;
  /** The address as people read it: a mailbox without `mailto:`. */
  readonly shown: string;
}

/** Returns null for letters that name nobody, and for applications without support. */
export function helpOf({ isHelpNamed = false, sender, text }: Letter): Help | null {
  const { name, support, supportEmail } = sender;
  if (!isHelpNamed || support === null) return null;
  const shown = support.startsWith('mailto:') ? (supportEmail ?? support) : support;
  return { label: text('signin.writeTo', { app: name }), url: support, shown };
}
