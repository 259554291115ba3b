/** Single-use setup links for the operator: they create the first owner, or restore an owner's access. */
import { type Actor, SYSTEM_ACTOR } from '../../core/actor.ts';
import { type Clock, HOUR, isoTime } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { canonicalTimeZone } from '../../core/language.ts';
import { preferredLocale } from '../../core/locale.ts';
import type { Random } from '../../core/random.ts';
import { required } from '../../core/required.ts';
import { hashSecret, isSecret, mintSecret } from '../../core/secret.ts';
import type { Database } from '../../db/database.ts';
import { requireConsole } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { addSetupLink, consumeSetupLink, isSetupLinkOpen, replaceSetupLinks } from '../../store/setup-links.ts';
import { findFirstWorkspaceId } from '../../store/workspaces.ts';
import type { Sessions } from '../sessions/service.ts';
import { completeSignIn } from '../sign-in/complete.ts';
import type { Workspaces } from '../workspace/service.ts';
import type { SetupDone, SetupInput } from './model.ts';

export const LINK_LIFETIME_MS = 24 * HOUR;

export interface SetupDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly workspaces: Workspaces;
  readonly sessions: Sessions;
}

export type Setup = ReturnType<typeof setupService>;

/** Using one link ends all others. Possession is enough to use a link, so links are never logged. */
export function setupService({ db, clock, random, workspaces, sessions }: SetupDependencies) {
  return {
    /** Keeps earlier links valid: a restart must not end them. */
    createLink: () => createSetupToken(db, random, addSetupLink),

    /** Returns whether a token would be accepted; tells a stranger nothing, because a made-up token never is. */
    async isValid(token: string): Promise<boolean> {
      return isSecret('setup', token) && isSetupLinkOpen(db.reader, { tokenHash: hashSecret(token), now: clock.now() });
    },

    /** Signs in an owner. @throws {AppError} not_found for a spent link; invalid_request leaves it unused. */
    async complete(
      actor: Actor,
      { token, email: text, timezone: zone = '' }: SetupInput,
      headers: Headers,
    ): Promise<SetupDone> {
      const email = normalizeEmail(text);
      if (!isSecret('setup', token)) throw linkGone();
      if (email === null) throw invalidField('email', 'Give an e-mail address, such as ada@example.com.');
      const hash = hashSecret(token);
      return db.write(actor, async (unit) => {
        if (!(await consumeSetupLink(unit, hash))) throw linkGone();
        const workspaceId = required(await findFirstWorkspaceId(unit), 'the first workspace');
        const { userId } = await workspaces.ensureOwner(unit, workspaceId, email);
        const application = await requireConsole(unit);
        const outcome = await completeSignIn(unit, sessions, application, {
          person: { email, isEmailProven: false },
          method: 'setup',
          userAgent: headers.get('user-agent'),
          browserLocale: { locale: preferredLocale(headers.get('accept-language')), timezone: canonicalTimeZone(zone) },
        });
        if (!outcome.ok) throw new AppError(outcome.refusal);
        await recordAudit(unit, { kind: 'setup.completed', workspaceId, userId, email });
        const { token: session, expiresAt, applicationId } = outcome;
        return { token: session, expiresAt: isoTime(expiresAt), userId, applicationId, workspaceId };
      });
    },
  };
}

/** Valid for 24 hours and one use. @param add stores the token; the default revokes earlier ones. */
export async function createSetupToken(
  db: Database,
  random: Random,
  add: typeof addSetupLink = replaceSetupLinks,
): Promise<string> {
  const token = mintSecret('setup', random);
  const hash = hashSecret(token);
  await db.write(SYSTEM_ACTOR, async (unit) => {
    await add(unit, hash, unit.now + LINK_LIFETIME_MS);
    await recordAudit(unit, { kind: 'setup.link_created' });
  });
  return token;
}

function linkGone(): AppError {
  return new AppError('not_found', { hint: 'setup_link_spent' });
}
