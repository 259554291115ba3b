import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, PRODUCT } from '../letter.tsx';

export interface InvitationMail {
  readonly locale: Locale;
  readonly workspaceName: string;
  readonly role: 'owner' | 'admin' | 'member';
  /** The sign-in page. */
  readonly url: string;
}

/** Contains no token: the holder of the address signs in as usual. */
export function invitationMail({ locale, workspaceName: workspace, role, url }: InvitationMail): MailContent {
  const text = textsFor(locale);
  const title = text('email.invitation.title', { workspace });
  return letterMail({
    text,
    sender: PRODUCT,
    subject: title,
    heading: title,
    lead: [text(`email.invitation.${role}`)],
    link: { label: text('email.invitation.action'), url },
    small: [text('email.invitation.ignore', { workspace })],
  });
}
