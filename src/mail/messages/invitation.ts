/** The mail that invites somebody to a workspace. */
import { type MailContent, noticeMail } from './notice.ts';

/** What somebody is invited to. */
export interface InvitationMail {
  readonly workspaceName: string;
  readonly role: string;
  /** Where they sign in. */
  readonly url: string;
}

/** Carries no token: whoever holds the address signs in as always. */
export function invitationMail({ workspaceName, role, url }: InvitationMail): MailContent {
  return noticeMail({
    locale: 'en',
    subject: `You were invited to ${workspaceName}`,
    heading: `You were invited to ${workspaceName}`,
    before: [`You are now a member, as ${role}. Sign in with this e-mail address:`, url],
    after: ['If you did not expect this, you can ignore it.'],
  });
}
