/** Invites a user who has never signed in, by a mail with a link to the sign-in page. */
import { isInService } from '../../core/application-state.ts';
import { DAY, HOUR, isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { localeToWriteIn } from '../../core/locale.ts';
import type { Unit } from '../../db/database.ts';
import { applicationSender } from '../../mail/application-sender.ts';
import { userInvitationMail } from '../../mail/messages/user-invitation.ts';
import { signInLink } from '../../mail/page-links.ts';
import type { WorkspaceMail } from '../../mail/workspace-mail.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { findMailLine } from '../../store/mail-lines.ts';
import { fromApplication } from '../../store/mails.ts';
import type { MemberWithUser } from '../../store/members.ts';
import { addToRateCounter, findRateCount } from '../../store/rate-counters.ts';
import { NEVER } from '../../store/reservations.ts';
import { isOnAllowlist } from '../../store/waitlist.ts';
import type { InviteInput, UserInvited } from './model.ts';

/** Stored value; do not rename. */
const BUCKET = 'user-invitation';
const MAIL_LIFETIME_MS = 3 * DAY;

export interface InviteDependencies {
  readonly mails: WorkspaceMail;
  /** This server's public URL, without a trailing slash. */
  readonly baseUrl: () => string;
}

/**
 * Queues at most one invitation per user and clock hour, so that a repeated call mails nobody twice.
 *
 * @throws {AppError} invalid_state for people who could not sign in, or have; rate_limited past the workspace's limit.
 */
export async function inviteUser(
  unit: Unit,
  { mails, baseUrl }: InviteDependencies,
  application: Application,
  { member, user }: MemberWithUser,
  { locale: requested }: InviteInput,
): Promise<UserInvited> {
  await refuseUninvitable(unit, application, { member, user });
  const { id: applicationId, workspaceId, clientId } = application;
  const { id: userId, email } = user;
  const windowStartedAt = unit.now - (unit.now % HOUR);
  const key = { bucket: BUCKET, subject: member.id, windowStartedAt, windowEndsAt: windowStartedAt + HOUR };
  const resendAt = isoTime(key.windowEndsAt);
  if ((await findRateCount(unit, key)) > 0) return { sent: false, resendAt };

  const locale = localeToWriteIn(requested, user.locale);
  const mail = userInvitationMail({
    locale,
    application: applicationSender(application, baseUrl()),
    signInUrl: signInLink(baseUrl(), clientId, email),
    line: (await findMailLine(unit, { applicationId, mail: 'invitation', locale })) ?? null,
  });
  const expiresAt = unit.now + MAIL_LIFETIME_MS;
  const origin = fromApplication(application);
  await mails.queue(unit, workspaceId, [{ to: email, ...mail, code: null, expiresAt, lane: 'notice', origin }]);
  await addToRateCounter(unit, { ...key, count: 1 });
  await recordAudit(unit, { kind: 'user.invited', applicationId, userId, email, detail: { locale } });
  return { sent: true, resendAt };
}

/** An invitation must not lead to a refusal. */
async function refuseUninvitable(
  unit: Unit,
  application: Application,
  { member, user }: MemberWithUser,
): Promise<void> {
  const { id, signinGate } = application;
  if (user.kind !== 'person') throw new AppError('invalid_state', { hint: 'user_is_key' });
  if (member.status !== 'active')
    throw new AppError('invalid_state', { hint: 'user_status', values: { status: member.status, action: 'invite' } });
  if (member.lastSeenAt !== NEVER) throw new AppError('invalid_state', { hint: 'user_signed_in' });
  if (!isInService(application)) throw new AppError('invalid_state', { hint: 'invite_not_in_service' });
  if (signinGate === 'private_beta' && !(await isOnAllowlist(unit, id, user.email)))
    throw new AppError('invalid_state', { hint: 'invite_not_allowed_in' });
}
