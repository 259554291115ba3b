/** Mail with which an application invites somebody who was added to it and has never signed in. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, type Sender } from '../letter.tsx';

export interface UserInvitationMail {
  readonly locale: Locale;
  readonly application: Sender;
  readonly signInUrl: string;
  /** The application's own. */
  readonly line: string | null;
}

/** Contains no token: the holder of the address signs in as usual. */
export function userInvitationMail({ locale, application, signInUrl, line }: UserInvitationMail): MailContent {
  const text = textsFor(locale);
  const app = application.name;
  const title = text('email.invited.title', { app });
  return letterMail({
    text,
    sender: application,
    subject: title,
    heading: title,
    lead: [text('email.invited.lead')],
    link: { label: text('email.signInAction', { app }), url: signInUrl },
    line,
    small: [text('email.invited.reason', { app })],
  });
}
